#!/bin/sh
# test: when="release gcc linux"

# What was just written in parts is not read as a whole. A processor cannot forward that from its
# writes: the read waits until all writes before it are in the cache, those of the program's blocks
# too. Instruction counts do not show it. Compilers write and read so where a struct is passed on by
# value; here it is passed by address, or in registers (x86-64, gcc). See docs/decisions/041.
set -eu
: "${MI_LIB_SHARED:?path of the library}"
[ "$(uname -m)" = x86_64 ] || { echo "the code is x86-64's"; exit 77; }
command -v objdump >/dev/null || { echo "objdump is missing"; exit 77; }
# Functions that are called now and then.
exceptions="chacha_block complete expired json_stats leak_add malloc_due purge_split random_reseed"

# Vector moves of 16 bytes, and moves of fewer, of memory at a distance from a register: LOOK_BACK
# instructions back, in the same function.
objdump -d --no-show-raw-insn "$MI_LIB_SHARED" | awk -v exceptions="$exceptions" '
  function number(hex,   i, n, sign) {
    sign = sub(/^-/, "", hex) ? -1 : 1
    sub(/^0x/, "", hex)
    for (i = 1; i <= length(hex); i++) n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
    return sign * n
  }
  function width(op, source) {
    if (op == "movb" || source ~ /^%([abcd]l|sil|dil|bpl|r[0-9]+b)$/) return 1
    if (op == "movw" || source ~ /^%([abcd]x|si|di|bp|r[0-9]+w)$/) return 2
    if (op == "movl" || source ~ /^%(e[a-z]+|r[0-9]+d)$/) return 4
    return op ~ /^mov(q|hps|lps)?$/ ? 8 : 16
  }
  BEGIN { LOOK_BACK = 40; split(exceptions, list, " "); for (i in list) allowed[list[i]] = 1 }
  /^[0-9a-f]+ <.*>:$/ {
    name = $2; gsub(/[<>:]/, "", name); sub(/\..*/, "", name)
    functions++; first = count; next
  }
  $2 !~ /^v?mov/ { if ($2 != "") count++; next }
  {
    count++; op = $2; line = $3
    if (!match(line, /-?(0x[0-9a-f]+)?\(%[a-z0-9]+\)/)) next
    at = substr(line, RSTART, RLENGTH); stores = RSTART > 1
    offset = number(substr(at, 1, index(at, "(") - 1)); base = substr(at, index(at, "("))
    if (stores) {
      bytes = width(op, substr(line, 1, index(line, ",") - 1))
      if (bytes < 16) { where[count] = base; from[count] = offset; to[count] = offset + bytes }
      next
    }
    if (line !~ /,%xmm/ || op !~ /^v?mov(aps|ups|dqa|dqu)$/ || name in allowed) next
    for (i = count - 1; i > first && i > count - LOOK_BACK; i--) {
      if (where[i] == base && from[i] < offset + 16 && to[i] > offset) {
        print name " reads 16 bytes at " at " of which it has just written " to[i] - from[i]
        bad = 1; break
      }
    }
  }
  END {
    if (functions < 500) { print "the code is not understood: " functions + 0 " functions"; exit 1 }
    print functions " functions, " count " instructions"
    exit bad
  }'
