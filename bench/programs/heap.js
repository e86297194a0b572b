// Buffers outside the engine's own heap, maps, strings, typed arrays, compression.
const zlib = require('zlib');
let seed = 5;
const random = (n) => {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
  return (seed >> 8) % n;
};
const buffers = new Array(2000).fill(null);
let total = 0;
for (let i = 0; i < 60000; i++) {
  const buffer = Buffer.alloc(4096 + random(20000), i & 255);
  buffers[random(buffers.length)] = buffer;
  total += buffer.length;
}
const rows = new Map();
for (let i = 0; i < 120000; i++) rows.set(`row ${random(90000)}`, { i, text: String(i).repeat(3) });
const text = JSON.stringify([...rows]);
for (let level = 1; level < 7; level += 2) total += zlib.deflateSync(text, { level }).length > 0;
console.log(rows.size, JSON.parse(text).length, total);
