#!/bin/sh
# test: timeout=120 label=programs
# packages: python3
# Python: JSON, sorting, threads, processes by fork and by spawn, compression, long integers,
# and the same with its own small-object allocator off, so that every object is a malloc.
# shellcheck disable=SC2317  # called by both
. "$(dirname "$0")/lib/common.sh"
need python3 python3
python=$(python3 -c 'import sys; print(sys.executable)')  # python3 may be a wrapper script
export PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1

cat >"$work/work.py" <<'END'
import bz2, collections, concurrent.futures, hashlib, io, itertools, json, lzma
import multiprocessing, pickle, re, threading, zlib

def numbers(seed):
    while True:
        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
        yield seed >> 8

def document(seed, n):
    g = numbers(seed)
    return [{"id": i, "name": "x" * (next(g) % 80),
             "tags": [str(next(g)) for _ in range(next(g) % 6)],
             "nested": {"f": next(g) / 7.0, "none": None, "text": "\u00e4\u4e2d" * (next(g) % 9)}}
            for i in range(n)]

def digest(seed, n=400):
    text = json.dumps(document(seed, n), sort_keys=True)
    assert json.dumps(json.loads(text), sort_keys=True) == text
    return hashlib.sha256(text.encode()).hexdigest()

def in_thread(seed, out):
    for i in range(6):
        out[(seed, i)] = digest(seed + i, 120)
        b = bytearray()
        for j in range(2000): b += bytes([j & 255]) * (j % 90)
        out[(seed, i, "b")] = zlib.crc32(b)

def main():
    print(digest(1, 6000))
    out = {}
    threads = [threading.Thread(target=in_thread, args=(100 * t, out)) for t in range(8)]
    for t in threads: t.start()
    for t in threads: t.join()
    print(sorted(out.items(), key=str))
    for method in "fork", "spawn":
        with multiprocessing.get_context(method).Pool(3) as pool:
            print(method, pool.map(digest, range(12)))
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        print(list(pool.map(lambda s: len(pickle.dumps(document(s, 150))), range(24))))
    raw = json.dumps(document(7, 3000)).encode()
    for module in bz2, lzma, zlib:
        packed = module.compress(raw)
        assert module.decompress(packed) == raw
        print(module.__name__, len(packed), hashlib.md5(packed).hexdigest())
    words = re.findall(r"[a-z0-9]{3,}", raw.decode())
    print(len(words), collections.Counter(words).most_common(5), sorted(set(words))[-5:])
    print(sum(1 for _ in itertools.permutations(range(8))), hash(tuple(range(1000))))
    s = io.StringIO()
    for i in range(100000): s.write(str(i))
    print(len(s.getvalue()), 3 ** 40000 % 10 ** 30)

if __name__ == "__main__": main()
END

work_python() { "$python" "$work/work.py"; }
work_python_malloc() { PYTHONMALLOC=malloc "$python" "$work/work.py"; }

is_preloaded "$python" -c 'print(1)'
both work_python
both work_python_malloc
