#!/bin/sh
# test: when="release gcc"
# The tables in docs/misuse.md are those of test/misuse/expected.txt, and each misuse is in it.
# With --print: writes them, to be put into docs/misuse.md between its two marks.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
table=$root/test/misuse/expected.txt

# A line of expected.txt each: its `## heading`, or a row, whose text after # is what the misuse does.
tables() {
  awk '
    function words(cell) {
      gsub(/:[^\/;]*/, "", cell)
      sub(/^-/, "not run", cell)
      gsub(/\//, " or ", cell); gsub(/,/, ", ", cell)
      while (match(cell, /;[^=;]*=/)) {
        cell = substr(cell, 1, RSTART - 1) "; " substr(cell, RSTART + 1, RLENGTH - 2) ": " \
               substr(cell, RSTART + RLENGTH)
      }
      return cell
    }
    function row(cells, n,  i, line) {
      for (i = 1; i <= n; i++) { line = line "| " cells[i] " " }
      print line "|"
    }
    /^## / { print ""; print "#" $0; print ""; in_head = 1; next }
    /^#/ || /^$/ { next }
    $1 == "case" { columns = NF; for (i = 1; i < NF; i++) { head[i] = $i }; next }
    in_head {
      in_head = 0
      for (i = 1; i < columns; i++) { cells[i] = head[i] }
      row(cells, columns - 1)
      for (i = 1; i < columns; i++) { cells[i] = "---" }
      row(cells, columns - 1)
    }
    {
      what = ""
      if ((at = index($0, "#")) > 0) { what = substr($0, at + 1); sub(/^ */, "", what) }
      cells[1] = "`" $1 "`" (what == "" ? "" : " " what)
      gsub(/,/, ", ", $2); gsub(/,/, ", ", $3)
      cells[2] = $2; cells[3] = $3
      for (i = 4; i < columns; i++) { cells[i] = words($i) }
      row(cells, columns - 1)
    }' "$table"
}

# A cell that allows everything tests nothing.
without_promise() { awk '!/^#/ { sub(/#.*/, "") } /[ =\/]any[ ;\/]/' "$table" | grep -v '^#'; }
in_docs() { sed -n '/^<!-- expected -->$/,/^<!-- end -->$/p' "$root/docs/misuse.md" | sed '1d;$d'; }
in_sources() { sed -n 's/^    {"\([a-z0-9_]*\)", [a-z0-9_]*},$/\1/p' "$root"/test/misuse/*.c*; }
in_table() { awk '!/^#/ && !/^$/ && $1 != "case" { print $1 }' "$table"; }

if [ "${1-}" = --print ]; then tables; exit 0; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

in_sources | grep -v '^print_' | sort -u >"$work/sources"
in_table | sort -u >"$work/table"
[ "$(wc -l <"$work/sources")" -gt 60 ] || { echo "misuse: the sources are not understood"; exit 1; }
if ! diff "$work/sources" "$work/table"; then
  echo "misuse: the misuses (<) and expected.txt (>) disagree"
  exit 1
fi

if without_promise; then
  echo "misuse: expected.txt promises nothing here"
  exit 1
fi

tables >"$work/tables"
in_docs >"$work/docs"
if ! diff "$work/tables" "$work/docs"; then
  echo "misuse: expected.txt (<) and docs/misuse.md (>) disagree; see --print"
  exit 1
fi
echo "misuses: $(wc -l <"$work/sources")"
