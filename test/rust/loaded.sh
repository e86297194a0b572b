#!/bin/sh
# test: timeout=600 when="release gcc glibc"
# A library with our allocator and 3 KiB of thread-local variables, as a wheel of python or an addon
# of node may be, is opened by both; and two copies of it in one process keep their blocks apart.
. "$(dirname "$0")/lib/common.sh"

step "library" cargo build $offline -p mimalloc --example loaded --features local_dynamic_tls
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cp "$CARGO_TARGET_DIR/debug/examples/libloaded.so" "$work/one.node" || exit 2
cp "$work/one.node" "$work/two.node" || exit 2
opened=0

cat >"$work/open.py" <<'END'
import ctypes, sys, threading
copies = [ctypes.CDLL(path) for path in sys.argv[1:]]
for copy in copies:
    copy.loaded_works.restype = ctypes.c_bool
    copy.loaded_owns.restype = ctypes.c_bool
    copy.loaded_owns.argtypes = [ctypes.c_void_p]
    copy.loaded_block.restype = ctypes.c_void_p
    copy.loaded_block.argtypes = [ctypes.c_size_t]
results = []
threads = [threading.Thread(target=lambda c=copy: results.append(c.loaded_works()))
           for copy in copies for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert results == [True] * 8, results
for size in (10, 1000, 100_000, 10_000_000):
    for one, other in (copies, copies[::-1]):
        block = one.loaded_block(size)
        assert one.loaded_owns(block) and not other.loaded_owns(block), size
END
if python3 --version >/dev/null 2>&1; then
  step "python" python3 "$work/open.py" "$work/one.node" "$work/two.node"
  opened=$((opened + 1))
fi

if node --version >/dev/null 2>&1; then
  step "node" node -e 'for (const path of process.argv.slice(1)) require(path)' \
    "$work/one.node" "$work/two.node"
  grep -q '^works, beside another$' "$CARGO_TARGET_DIR/step.log" || {
    cat "$CARGO_TARGET_DIR/step.log"
    echo "FAILED: node did not run the addon"
    exit 1
  }
  opened=$((opened + 1))
fi

[ $opened -gt 0 ] || {
  echo "skipped: neither python3 nor node is here"
  exit 77
}
