#!/bin/sh
# test: timeout=900 label=long
# packages: python3 libpython3.11-testsuite
# Python's own tests of lists, dictionaries, JSON, threads, processes and more. What fails with the
# system's allocator too does not count.
# shellcheck disable=SC2317  # called by run_on
. "$(dirname "$0")/lib/common.sh"
need python3 python3

# The first python3 of the PATH, or the system's, that has its tests.
python=
for candidate in python3 /usr/bin/python3; do
  "$candidate" -c 'import test.test_list' >/dev/null 2>&1 || continue
  python=$("$candidate" -c 'import sys; print(sys.executable)')
  break
done
[ -n "$python" ] || {
  echo "skipped: Python is here without its tests (Debian package libpython3.11-testsuite)"
  exit 77
}
export PYTHONDONTWRITEBYTECODE=1

tests='test_list test_dict test_set test_json test_bytes test_threading test_thread test_gc
  test_multiprocessing_fork test_concurrent_futures test_pickle test_array test_mmap test_zlib
  test_sys test_fork1'

# A name that this version does not have is left out.
known=
for name in $tests; do
  "$python" -c "import importlib.util as u, sys; sys.exit(not u.find_spec('test.$name'))" &&
    known="$known $name"
done

# Prints the verdict on each file of tests, and which of its tests fail.
work_tests() {
  for name in $known; do
    if timeout 300 "$python" -m test -v "$name" >log 2>&1; then
      echo "$name passes"
    else
      echo "$name fails"
      grep -E '^(FAIL|ERROR): ' log | sort -u
      tail -n 60 log >&2
    fi
    if grep '^mimalloc: ' log; then return 1; fi
  done
}

is_preloaded "$python" -c 'print(1)'
both work_tests
grep -v passes "$work/system.out" | sed 's/^/with either allocator: /'
echo "$(grep -c passes "$work/ours.out") files of tests of $("$python" -V) pass"
