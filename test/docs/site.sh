#!/bin/sh
# test: serial when="release gcc glibc" timeout=300
# packages: python3-venv graphviz
# The documentation site can be built, strictly; its links lead somewhere, and pages fetch nothing
# from elsewhere; the reference has each function that the library exports, and since when; the
# examples of the reference (docs/examples) compile and end with status 0, and those of the pages do
# what these say. Skipped where the site's tools are not: report.sh gets them, and so does `./mi docs`.
# A line above an example says how it is run:
#   <!-- run [VARIABLE=VALUE…] | TEXT -->             it ends well, and TEXT is on standard error
#   <!-- misuse [debug] [VARIABLE=VALUE…] | TEXT -->  it ends by a signal; debug: in the debug build
source=${MI_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
: "${MI_LIB_SHARED:=$source/build/release/libmimalloc.so.3}"
: "${CC:=cc}" "${CXX:=c++}"
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
failed=0
fail() { echo "site: $*"; failed=1; }

if [ "${CI:-}" != true ] && ! cmp -s "$source/docs/requirements.txt" "$source/build/docs-tools/requirements.txt"; then
  echo "site: skipped: the site's tools are not here; ./mi docs installs them"
  exit 77
fi
"$source/mi" docs >"$work/log" 2>&1
case $? in
  0) ;;
  3) echo "site: skipped: $(tail -n 1 "$work/log")"; exit 77 ;;
  *) cat "$work/log"; exit 1 ;;
esac

python3 "$source/test/docs/links.py" "$source/build/site" || failed=1

nm -D --defined-only "$MI_LIB_SHARED" | sed -n 's/.* T \(mi_[a-z0-9_]*\).*/\1/p' | sort -u >"$work/functions"
[ "$(wc -l <"$work/functions")" -gt 200 ] || fail "the library exports too few functions"
while read -r function; do
  grep -q "id=\"$function\"" "$source"/build/site/api/*.html || fail "the reference has no $function"
done <"$work/functions"
# Names above a piece of code are those that it declares; what says since when is between.
cat "$source"/build/site/api/*.html | awk '
  { rest = $0
    while (match(rest, / id="mi_[a-z0-9_]*"/)) {
      names[substr(rest, RSTART + 5, RLENGTH - 6)] = 1
      rest = substr(rest, RSTART + RLENGTH)
    } }
  /class="since">since [0-9]/ { for (name in names) print name; split("", names) }
  /<pre>/ { split("", names) }' | sort >"$work/dated"
comm -23 "$work/functions" "$work/dated" >"$work/undated"
[ ! -s "$work/undated" ] || fail "the reference does not say since when these are there: $(tr '\n' ' ' <"$work/undated")"

grep -q '<svg' "$source/build/site/tuning.html" || fail "tuning.html has no drawing"

# ---- examples ------------------------------------------------------------------------------------

# Writes N.c or N.cpp, and N.how, for each example; N counts them.
awk -v work="$work" '
  /^<!-- (run|misuse) .*-->$/ { how = $0; gsub(/^<!-- | -->$/, "", how); next }
  how != "" && /^```c(pp)?( |$)/ {
    at++
    name = work "/" at
    print how >(name ".how"); close(name ".how")
    name = name ($0 ~ /^```cpp/ ? ".cpp" : ".c")
    inside = 1; how = ""
    next
  }
  /^```$/ && inside { inside = 0; close(name) }
  inside { print >name }
  END { print at + 0 >(work "/count") }' "$source"/docs/*.md
count=$(cat "$work/count")
[ "$count" -ge 5 ] || fail "there are only $count examples"

compile() {  # number kind library
  case $2 in run) set -- "$1" "$3" -Wall -Wextra -Werror ;; *) set -- "$1" "$3" -w ;; esac
  number=$1 library=$2
  shift 2
  set -- "$@" -I "$source/include" -o "$work/$number" -Wl,--no-as-needed -Wl,-rpath,"$(dirname "$library")"
  if [ -e "$work/$number.c" ]; then
    "$CC" -std=gnu11 -g -fno-builtin "$@" "$work/$number.c" "$library" -pthread
  else
    "$CXX" -std=c++17 -g "$@" "$work/$number.cpp" "$library" -pthread
  fi
}

run_example() {  # number kind words... | text
  number=$1 kind=$2 library=$MI_LIB_SHARED
  shift 2
  if [ "$1" = debug ]; then
    library=$work/debug.o
    [ -e "$library" ] || "$CC" -O1 -DMI_DEBUG=3 -DMI_MALLOC_OVERRIDE=1 -I "$source/include" -c \
      "$source/src/static.c" -o "$library" || return
    shift
  fi
  compile "$number" "$kind" "$library" >"$work/log" 2>&1 || { cat "$work/log"; fail "example $number does not compile"; return; }
  { (exec env "$@" "$work/$number" >"$work/out" 2>"$work/err"); } 2>/dev/null
  status=$?
  case $kind in
    run) [ $status = 0 ] || fail "example $number ends with status $status" ;;
    *) [ $status -gt 128 ] || fail "example $number ends with status $status, not by a signal" ;;
  esac
}

number=0
while [ "$number" -lt "$count" ]; do
  number=$((number + 1))
  how=$(cat "$work/$number.how")
  : >"$work/err"
  # shellcheck disable=SC2086  # a list of words
  run_example "$number" ${how%% |*}
  grep -qF -e "${how#*| }" "$work/err" || { cat "$work/err"; fail "example $number ($how) does not say that"; }
done
for example in "$source"/docs/examples/*.c; do
  number=$((number + 1))
  cp "$example" "$work/$number.c"
  run_example "$number" run
done
echo "site: $(wc -l <"$work/functions") functions, $number examples"
exit $failed
