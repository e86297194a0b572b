#!/bin/sh
# test: timeout=600 label=long
# packages: chromium
# Chromium, which has a malloc of its own: loads a page that builds and draws things, without a
# screen.
# shellcheck disable=SC2317  # called by both
. "$(dirname "$0")/lib/common.sh"
need chromium chromium

cat >"$work/page.html" <<'END'
<!doctype html><title>page</title>
<body><p id=result>not run</p><canvas id=canvas width=200 height=200></canvas><script>
let seed = 1;
const next = () => (seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff) >>> 8;
const words = [];
for (let i = 0; i < 100000; i++) {
  words.push(String.fromCharCode(97 + next() % 26).repeat(next() % 40) + i);
}
words.sort();
const table = document.createElement('table');
for (let i = 0; i < 500; i++) { table.insertRow().insertCell().textContent = words[i * 200]; }
document.body.appendChild(table);
const pen = document.getElementById('canvas').getContext('2d');
for (let i = 0; i < 2000; i++) {
  pen.fillStyle = `rgb(${next() % 256}, ${next() % 256}, ${next() % 256})`;
  pen.fillRect(next() % 200, next() % 200, 20, 20);
}
let sum = 0;
for (const b of pen.getImageData(0, 0, 200, 200).data) { sum = (sum * 31 + b) % 1000003; }
document.getElementById('result').textContent = `${words.length} words, ${sum}`;
</script></body>
END

work_chromium() {
  chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
    --disable-background-networking --disable-component-update --disable-sync \
    --user-data-dir="$work/run/profile" --dump-dom "file://$work/page.html" >page 2>errors || {
    tail -n 20 errors
    return 1
  }
  grep -q '100000 words' page
  cat page
}

both work_chromium
