#!/bin/sh
# test: when="release gcc"
# C and C++ files are laid out as clang-format 19 does by .clang-format (other versions differ), but
# those of .clang-format-ignore; and no line is longer than 100 columns, comments included, but
# directives of tests.
#   format.sh [anything]      prints what differs; `clang-format -i FILE` mends it
source=${MI_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$source" || exit 2
files=$(find src include test bench tools \( -name '*.[ch]' -o -name '*.cpp' \) -print | sort)
ignored=$(cat .clang-format-ignore)

bad=0
for file in $files; do
  case " $ignored " in *" $file "*) continue ;; esac
  long=$(LC_ALL=C awk '/test:/ { next } { gsub(/[\200-\277]/, "") } length > 100 { print FNR }' "$file")
  for line in $long; do echo "format: $file:$line is longer than 100 columns"; bad=1; done
done

for clang_format in clang-format-19 clang-format; do
  "$clang_format" --version 2>/dev/null | grep -q 'version 19\.' && break
  clang_format=''
done
if [ -z "$clang_format" ]; then
  [ $bad = 0 ] || exit 1
  echo "format: skipped: no clang-format 19 here"
  exit 77
fi
# shellcheck disable=SC2086  # a list of files
"$clang_format" --dry-run --Werror $files || bad=1
exit $bad
