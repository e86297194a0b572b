# Sourced by the scripts beside it: `expect MISUSE SIZE REGEX` runs one misuse and looks for the tool's
# words; REGEX `-`: the tool says nothing at all.
: "${MI_LIB_SHARED:?path of the library}" "${MI_LIB_STATIC:?path of the library}"
: "${MI_SOURCE_DIR:?}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
passed=0 failed=0

compile() {  # output compiler-options...
  output=$1
  shift
  ${CC:-cc} -g -O1 -fno-builtin -w -I"$MI_SOURCE_DIR/include" "$MI_SOURCE_DIR/test/tools/misuse.c" \
    -o "$dir/$output" "$@" -pthread || exit 1
}

check() {  # name regex file
  if [ "$2" = - ]; then
    [ ! -s "$3" ]
  else
    grep -q -E -e "$2" "$3"
  fi
  if [ $? = 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $1: expected $2, got:"
    head -n 20 "$3"
  fi
}

finish() {
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
}
