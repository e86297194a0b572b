# Counting what tests came to. A part of ./mi.

passed=0 failed=0 skipped=0
# Counts what ctest says: `NN% tests passed, F tests failed out of N`, and its list of skipped ones.
count_results() {  # output ctest-status
  local line f n s
  if ! line=$(grep -E 'tests passed, [0-9]+ tests? failed out of [0-9]+' "$1"); then
    [ "$2" = 0 ] || failed=$((failed + 1))  # no line: there was no test, or ctest broke
    return
  fi
  f=$(sed -E 's/.*passed, ([0-9]+) .*/\1/' <<<"$line")
  n=$(sed -E 's/.*out of ([0-9]+).*/\1/' <<<"$line")
  s=$(grep -c '(Skipped)$' "$1")
  passed=$((passed + n - f - s)) failed=$((failed + f)) skipped=$((skipped + s))
}
