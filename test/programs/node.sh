#!/bin/sh
# test: timeout=120 label=programs
# packages: nodejs
# Node.js: buffers, workers with transferred memory, compression, hashes, JSON, streams.
# shellcheck disable=SC2317  # called by both
. "$(dirname "$0")/lib/common.sh"
need node nodejs

cat >"$work/work.js" <<'END'
const {Worker, isMainThread, parentPort, workerData} = require('worker_threads');
const crypto = require('crypto'), zlib = require('zlib'), fs = require('fs'),
      {pipeline} = require('stream/promises');

function* numbers(seed) {
  for (;;) {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    yield seed >>> 8;
  }
}
const digest = (data) => crypto.createHash('sha256').update(data).digest('hex');

function churn(seed) {
  const g = numbers(seed), next = () => g.next().value, kept = [];
  const hash = crypto.createHash('sha256');
  for (let i = 0; i < 6000; i++) {
    const b = Buffer.allocUnsafeSlow(next() % (i % 100 === 0 ? 300000 : 5000)).fill(i & 255);
    kept[next() % 300] = b;
    if (i % 50 === 0) { hash.update(kept[next() % 300] || 'none'); }
  }
  const object = {};
  for (let i = 0; i < 5000; i++) {
    object['key' + next() % 2000] = {n: i, s: 'x'.repeat(next() % 60), a: [i, next()]};
  }
  hash.update(JSON.stringify(JSON.parse(JSON.stringify(object))));
  return hash.digest('hex');
}

if (!isMainThread) {
  const shared = new Int32Array(workerData.shared);
  for (let i = 0; i < 1000; i++) { Atomics.add(shared, 0, 1); }
  const bytes = new Uint8Array(1 << 20).fill(workerData.seed);
  parentPort.postMessage(
      {seed: workerData.seed, digest: churn(workerData.seed), bytes}, [bytes.buffer]);
} else {
  (async () => {
    console.log(churn(1));
    const shared = new SharedArrayBuffer(64), results = [];
    for (let round = 0; round < 2; round++) {
      const made = [2, 3, 4].map(
          (seed) => new Promise((done, wrong) => {
            const w = new Worker(__filename, {workerData: {seed: seed + 10 * round, shared}});
            w.on('message', (m) => results.push([m.seed, m.digest, digest(m.bytes)]));
            w.on('error', wrong).on('exit', done);
          }));
      await Promise.all(made);
    }
    console.log(results.sort((a, b) => a[0] - b[0]), new Int32Array(shared)[0]);
    const raw = Buffer.from(Array.from({length: 300000}, (_, i) => (i * 7919) % 251));
    const packed = await Promise.all([
      zlib.gzipSync(raw),
      zlib.brotliCompressSync(raw, {params: {[zlib.constants.BROTLI_PARAM_QUALITY]: 5}}),
      ...Array.from({length: 8}, () => new Promise((ok) => zlib.deflate(raw, (e, b) => ok(b))))
    ]);
    console.log(packed.map((b) => b.length + ' ' + digest(b)));
    fs.writeFileSync('in', raw);
    await pipeline(
        fs.createReadStream('in'), zlib.createGzip(), zlib.createGunzip(),
        fs.createWriteStream('out'));
    console.log(digest(fs.readFileSync('out')) === digest(raw));
    const keys = await Promise.all(Array.from(
        {length: 8},
        (_, i) => new Promise(
            (ok) => crypto.pbkdf2(
                'p' + i, 'salt', 2000, 64, 'sha512', (e, k) => ok(k.toString('hex'))))));
    console.log(keys.join('\n'));
    const sorted = Array.from({length: 200000}, (_, i) => 'k' + (i * 7919) % 200003).sort();
    console.log(
        sorted[0], sorted[100000], digest(sorted.join()),
        new Intl.NumberFormat('de').format(1234567.891), 2n ** 3000n % 1000000007n);
  })();
}
END

work_node() { node --max-old-space-size=512 "$work/work.js"; }

is_preloaded node -e 1
both work_node
