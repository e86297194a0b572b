#!/bin/sh
# test: timeout=120 label=programs
# packages: bash xz-utils zstd bzip2
# Shell and its tools: bash, sort, tar, xz, find, grep, sed, awk, join, in pipelines.
# shellcheck disable=SC2317  # called by both
. "$(dirname "$0")/lib/common.sh"
need bash bash
need xz xz-utils

cat >"$work/work.bash" <<'END'
set -eu -o pipefail
declare -A seen=()
list=()
for ((i = 0; i < 20000; i++)); do
  key="k$(( (i * 7919) % 4001 ))"
  seen[$key]=$(( ${seen[$key]:-0} + i ))
  list+=("$key:$i")
done
echo "${#seen[@]} ${seen[k17]} ${list[*]: -3}"
long=''
for ((i = 0; i < 3000; i++)); do long+=${list[i]//k/key }; done
echo "${#long} ${long:1000:40} ${long//[0-9]/}" | cksum
f() { local n=$1; ((n < 2)) && echo 1 || echo $(( n * $(f $((n - 1))) )); }
f 12
readarray -t lines < <(printf '%s\n' "${list[@]}" | sort -t: -k2,2nr | head -n 5000)
printf '%s\n' "${lines[@]:4990}"
END

make_numbers() {
  awk -v n="$1" 'BEGIN {
    s = 1
    for (i = 0; i < n; i++) { s = (s * 1103 + 12345) % 2147483; print s, "word" s % 977, i }
  }'
}

work_shell() { bash "$work/work.bash"; }

work_text() {
  make_numbers 150000 >numbers
  sort --parallel=4 -S 2M -k2,2 -k1,1nr numbers >sorted
  sort -u -k2,2 numbers | sort -k2,2 >once
  join -1 2 -2 2 sorted once | cksum
  grep -c -E '(12|34).*word[0-9]*7 ' numbers
  grep -F -f /dev/stdin numbers <<END | cksum
word12
word345
word9
END
  sed -E 's/^([0-9]+) (word)([0-9]+)/\3 \2 \1/; s/(.)\1/<\1\1>/g' numbers | cksum
  awk '{ count[$2] += $1; text[$2] = text[$2] "," $3 }
    END { for (k in count) print k, count[k], length(text[k]) }' numbers | sort | cksum
  tac sorted | cut -d ' ' -f 2 | uniq -c | sort -n -r | head -n 20
  comm -12 sorted once | cksum
  split -l 9000 numbers part.
  paste part.a? | cksum
  expand numbers | fold -w 30 | cksum
}

work_archive() {
  mkdir -p tree
  for d in 1 2 3 4 5 6 7 8 9 10; do
    mkdir -p "tree/$d/deep/er"
    make_numbers $((d * 700)) >"tree/$d/deep/numbers"
    ln -s ../numbers "tree/$d/deep/er/link"
    split -l 70 -a 3 "tree/$d/deep/numbers" "tree/$d/part."
  done
  find tree -type f -name 'part.*[ad]' -size -3k -print0 | sort -z | xargs -0 -n 50 cksum | cksum
  find tree \( -name '*a' -o -type l \) -printf '%P %y %l\n' | sort | cksum
  tar --sort=name --mtime=@0 --owner=0 --group=0 -cf tree.tar tree
  cksum <tree.tar
  xz -T2 -6 -k tree.tar
  xz -dc tree.tar.xz | cmp - tree.tar
  gzip -n -9 <tree.tar | tee tree.tar.gz | cksum
  for tool in zstd bzip2; do
    command -v $tool >/dev/null || continue
    # shellcheck disable=SC2094  # both only read it
    $tool -q -c <tree.tar | $tool -q -d -c | cmp - tree.tar
  done
  mkdir out
  tar -C out -xzf tree.tar.gz
  diff -r tree out/tree && echo same
}

is_preloaded bash -c :
is_preloaded sort --version
is_preloaded xz --version
both work_shell
both work_text
both work_archive
