#!/bin/sh
# test: when="release gcc"
# The rows of src/service/options.def, the enum in include/mimalloc.h, the table in docs/options.md, the list in
# docs/man/mimalloc-options.7 and the macros in src/base/defaults.h agree. An option that no code reads says that it has no
# effect, and no other says so.
# With --print: writes the rows of the table, to be put into docs/options.md; with --print-man: the
# list, to be put into the manual page.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)

# OPTION(name, default, unit, "older", "help"): one line of the table each
table() {
  sed -n 's/^OPTION(\([a-z_]*\), \(.*\), \([A-Z]*\), \("[a-z_]*"\), "\(.*\)")$/\1|\2|\3|\4|\5/p' \
      "$root/src/service/options.def" |
    awk -F'|' '
      function amount(s) { sub(/ \* GIB/, " GiB", s); sub(/ \* MIB/, " MiB", s); return s }
      function words(s,  p) {
        gsub(/^IN_BYTES\(|\)$/, "", s)
        if (sub(/^IF_DEBUG\(/, "", s))   { split(s, p, ", "); return p[2] " (" p[1] " in debug)" }
        if (sub(/^IF_CHECKED\(/, "", s)) { split(s, p, ", "); return p[2] " (" p[1] " in secure and debug builds)" }
        if (sub(/^IF_GUARDED\(/, "", s)) { split(s, p, ", "); return p[2] " (" p[1] " in a guarded build)" }
        if (sub(/^IF_64_BIT\(/, "", s))  { split(s, p, ", "); return amount(p[1]) " (" amount(p[2]) " on 32-bit)" }
        return amount(s)
      }
      BEGIN { kind["BOOL"] = "on/off"; kind["INT"] = "number"; kind["MSEC"] = "ms"
              kind["KIB"] = "size"; kind["BYTE"] = "size, bytes" }
      $3 == "NONE" { next }
      { older = $4; gsub(/"/, "", older)
        printf "| `%s` | %s | %s | %s%s |\n", $1, words($2), kind[$3], $5, older == "" ? "" : " (older name: `" older "`)" }'
}

# The same as items of a list in mdoc(7).
manual_list() {
  table | awk -F' [|] ' '
    function escaped(s) { gsub(/\\/, "\\e", s); gsub(/-/, "\\-", s); return s }
    {
      name = substr($1, 4, length($1) - 4); sub(/ [|]$/, "", $4)
      gsub(/`/, "", $4)
      printf ".It Ev MIMALLOC_%s\n%s: %s.\nDefault: %s.\n", toupper(name), escaped($3), escaped($4), escaped($2)
    }'
}
manual_page_list() { sed -n '/^\.It Ev MIMALLOC_/,/^\.El/{ /^\.El/q; p; }' "$root/docs/man/mimalloc-options.7"; }

names() { sed -n 's/^OPTION(\([a-z_]*\),.*/\1/p' "$root/src/service/options.def"; }
enum_names() { sed -n 's/^ *mi_option_\([a-z_]*\)\( = [0-9]*\)\{0,1\},.*/\1/p' "$root/include/mimalloc.h"; }
in_effect() { sed -n '/, NONE, /!s/^OPTION(\([a-z_]*\),.*/\1/p' "$root/src/service/options.def"; }
build_names() {
  sed -n '/^#ifdef MI_DEFAULT_/{ s/^#ifdef //; h; n; s/^#define CHOSEN_\([a-z_]*\) 0, /\1 /; G; s/\n/ /; p; }' \
      "$root/src/base/defaults.h" | awk '$2 == $3 && $3 == "MI_DEFAULT_" toupper($1) { print $1 }'
}
doc_table() { grep '^| `' "$root/docs/options.md"; }
is_same() { [ "$2" = "$3" ] || { echo "options: $1 and options.def disagree (<: options.def)"; show "$2" "$3"; exit 1; }; }
show() {
  printf '%s\n' "$1" > "$work/a"
  printf '%s\n' "$2" > "$work/b"
  diff "$work/a" "$work/b" || true
}

case ${1-} in
  --print) table; exit 0 ;;
  --print-man) manual_list; exit 0 ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ "$(names | wc -l)" -gt 40 ] || { echo "options: options.def is not understood"; exit 1; }
[ "$(grep -c '^OPTION(' "$root/src/service/options.def")" = "$(names | wc -l)" ]
[ "$(table | wc -l)" = "$(grep -c '^OPTION(.*, [BIMK][A-Z]*, ' "$root/src/service/options.def")" ]
is_same include/mimalloc.h "$(names)" "$(enum_names)"
is_same src/base/defaults.h "$(in_effect)" "$(build_names)"
is_same docs/options.md "$(table)" "$(doc_table)"
is_same docs/man/mimalloc-options.7 "$(manual_list)" "$(manual_page_list)"

# What an option claims has code, and what has none claims nothing, here and in the header.
without_effect() { sed -n 's/^OPTION(\([a-z_]*\),.*"no effect: .*/\1/p' "$root/src/service/options.def" | sort; }
without_code() {
  names | while read -r name; do
    grep -rqE "mi_option_$name([^a-z_]|\$)" "$root/src" --include='*.c' --include='*.h' || echo "$name"
  done | sort
}
header_without_effect() {
  sed -n 's/^ *mi_option_\([a-z_]*\) = [0-9]*,.*\(no effect\|does nothing\).*/\1/p' "$root/include/mimalloc.h" | sort
}
is_same "the code of src" "$(without_effect)" "$(without_code)"
is_same include/mimalloc.h "$(without_effect)" "$(header_without_effect)"
echo "options agree: $(names | wc -l)"
