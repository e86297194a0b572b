#!/bin/sh
# test: when="release gcc"
# What comments and documents name is there:
#   - files, by path or by name: in comments of C files and in documents;
#   - words with an underscore in comments of C files, and those between backticks in documents, that
#     is functions, types, options and fields: as a word of code somewhere in the tree;
#   - functions, in cmake/near.txt: as a word of src;
#   - decisions by number, and the targets of links, in documents.
# A document may say `<!-- of others: NAME NAME -->`: these names, in it, are not of this tree. Pages
# api/NAME.md are made of include/NAME.h when the site is built.
# Tags of memory orders, such as [R1]: each has a row in docs/memory-model.md, each row is used, and
# each operation of src/ with an order has one, in its line or in a comment in the three above.
# Invariants by name, such as "P1" in heap/verify.c: a comment of src/ says what each is.
#   references.sh [anything]  prints each offence; exit status 1 if there is one
source=${MI_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$source" || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

# Names of files that are not in this tree: of examples, of other software, of what may come.
elsewhere='job.py main.c server.c functions.c templates.cpp cpu.svg rss.svg threads.svg sweep.svg corpus/NAME.txt
  mimalloc/types.h mimalloc/internal.h
  valgrind/memcheck.h etw.h src/base/etw.h'
# Words that are no code here: of other software, of formats.
foreign='MADV_GUARD_INSTALL PTHREAD_STACK_MIN MIMALLOC_NAME seq_cst maxrss_kib exit_status
  lifecycle.returned'

find . \( -name .git -o -path ./build -o -name .cache -o -name __pycache__ \) -prune -o -type f -print |
  sed 's|^\./||' | sort >"$work/files"
grep -E '\.([ch]|cpp|def)$' "$work/files" >"$work/sources"
grep '\.md$' "$work/files" >"$work/documents"
grep -vE '\.(md|svg|csv)$|^test/fuzz/corpus/|^test/static/references\.sh$' "$work/files" >"$work/code"

# ---- comments and code apart ---------------------------------------------------------------------

# shellcheck disable=SC2046  # no file name of ours has a space
awk -v comments="$work/comments" -v words="$work/words" '
  FNR == 1 { block = 0; is_c = FILENAME ~ /\.([ch]|cpp|def)$/ }
  {
    code = $0; text = ""
    if (is_c) { code = ""; split_line($0) }
    if (text != "") { print FILENAME ":" FNR ": " text >comments }
    gsub(/[^A-Za-z0-9_]+/, "\n", code)
    if (code ~ /_/) { print code >words }
  }
  function split_line(line,  end) {
    while (line != "") {
      if (block) {
        end = index(line, "*/")
        if (end == 0) { text = text " " line; return }
        text = text " " substr(line, 1, end - 1)
        line = substr(line, end + 2)
        block = 0
      } else if (!match(line, /"([^"\\]|\\.)*"|\/\/|\/\*/)) {
        code = code " " line
        return
      } else {
        code = code " " substr(line, 1, RSTART - 1)
        if (RLENGTH > 2 || substr(line, RSTART, 1) == "\"") {
          code = code " " substr(line, RSTART, RLENGTH)
          line = substr(line, RSTART + RLENGTH)
        } else if (substr(line, RSTART, 2) == "//") {
          text = text " " substr(line, RSTART + 2)
          return
        } else {
          line = substr(line, RSTART + 2)
          block = 1
        }
      }
    }
  }' $(cat "$work/code")
sed 's|.*/||; s|\..*||' "$work/files" >>"$work/words"

# ---- files and words -----------------------------------------------------------------------------

# shellcheck disable=SC2046
awk -v elsewhere="$elsewhere" -v foreign="$foreign" '
  function offence(what) { print "references: " what; bad = 1 }
  function know_file(path,  n, parts, i, name) {
    n = split(path, parts, "/")
    name = parts[n]; is_file[name] = 1
    for (i = n - 1; i >= 1; i--) { name = parts[i] "/" name; is_file[name] = 1 }
    sub(/\.[a-z]+$/, "", path); is_path[path] = 1  # a test is named without its suffix
    while (sub(/\/[^\/]*$/, "", path)) { is_path[path] = 1 }
  }
  function check_files(text, place,  token) {
    gsub(/<[^>]*>|https?:[^ )]*/, "", text)
    while (match(text, /(^|[^A-Za-z0-9_.\/%$}+-])[A-Za-z0-9_.][A-Za-z0-9_.\/+-]*/)) {
      token = substr(text, RSTART, RLENGTH)
      text = substr(text, RSTART + RLENGTH)
      sub(/^[^A-Za-z0-9_.\/]/, "", token)
      gsub(/^(\.\.?\/)+|[.\/]+$/, "", token)
      if (token in is_elsewhere || token in is_file || token in is_path) { continue }
      if ((FILENAME, token) in is_of_others) { continue }
      if (token ~ /^api\/.*\.md$/ && ("include" substr(token, 4, length(token) - 6) ".h") in is_file) { continue }
      if (token ~ /[^\/*]\.(c|h|cpp|md|sh|py|txt|def|cmake|json|svg)$/) {
        offence(place " names the file " token ", which is not there")
      } else if (token ~ /^(src|test|docs|bench|tools|cmake|include)\/[A-Za-z0-9_\/-]+$/) {
        offence(place " names " token ", which is not there")
      }
    }
  }
  function check_words(text, place,  word) {
    while (match(text, /[A-Za-z_][A-Za-z0-9]*_[A-Za-z0-9_]*/)) {
      word = substr(text, RSTART, RLENGTH)
      text = substr(text, RSTART + RLENGTH)
      if (word !~ /_$/ && !(word in is_word) && !(word in is_elsewhere) && !known_word(word) &&
          !((FILENAME, word) in is_of_others)) {
        offence(place " names " word ", which no code has")
      }
    }
  }
  # A definition on the command line; the environment variable of an option.
  function known_word(word) {
    sub(/^D/, "", word)
    if (word in is_word) { return 1 }
    return sub(/^MIMALLOC_/, "", word) && tolower(word) in is_word
  }
  function check_document(place,  parts, n, i) {
    if (sub(/^<!-- of others: /, "") && sub(/ -->$/, "")) {
      n = split($0, parts, " ")
      for (i = 1; i <= n; i++) { is_of_others[FILENAME, parts[i]] = 1 }
      return
    }
    check_files($0, place)
    n = split($0, parts, "`")
    for (i = 2; i <= n; i += 2) { check_words(parts[i], place) }
  }
  function check_decisions(text, place,  number) {
    while (match(text, /[Dd]ecision [0-9]+/)) {
      number = substr(text, RSTART + 9, RLENGTH - 9)
      text = substr(text, RSTART + RLENGTH)
      if (!(number in is_decision)) { offence(place " names decision " number ", which is not there") }
    }
  }
  BEGIN {
    n = split(elsewhere, a, " "); for (i = 1; i <= n; i++) { is_elsewhere[a[i]] = 1 }
    n = split(foreign, a, " "); for (i = 1; i <= n; i++) { is_word[a[i]] = 1 }
  }
  FNR == 1 { kind++ }
  kind == 1 {
    know_file($0)
    if (match($0, /decisions\/[0-9]+/)) {
      is_decision[substr($0, RSTART + 10, RLENGTH - 10)] = 1
      is_path[substr($0, 1, RSTART + RLENGTH - 1)] = 1
    }
  }
  kind == 2 { is_word[$0] = 1 }
  kind == 3 {
    place = $1; sub(/:$/, "", place)
    text = substr($0, length($1) + 2)
    check_files(text, place); check_words(text, place); check_decisions(text, place)
  }
  kind > 3 { check_document(FILENAME ":" FNR); check_decisions($0, FILENAME ":" FNR) }
  END { exit bad }' "$work/files" "$work/words" "$work/comments" $(cat "$work/documents") || bad=1

grep -v '^_Z' cmake/near.txt | sort >"$work/near"
grep -ohwF -f "$work/near" -r src | sort -u | comm -23 "$work/near" - |
  sed 's/.*/references: cmake\/near.txt names &, which src does not have/' >"$work/missing"
[ ! -s "$work/missing" ] || { cat "$work/missing"; bad=1; }

# ---- links ---------------------------------------------------------------------------------------

while read -r document; do
  grep -oE '\]\([^)#]+' "$document" | sed 's/^](//' | grep -v '^https\{0,1\}:' | while read -r link; do
    case $link in api/*.md) [ ! -e "include/$(basename "$link" .md).h" ] || continue ;; esac
    [ -e "$(dirname "$document")/$link" ] || echo "references: $document links to $link, which is not there"
  done
done <"$work/documents" >"$work/links"
[ ! -s "$work/links" ] || { cat "$work/links"; bad=1; }

# ---- tags of memory orders, and invariants -------------------------------------------------------

tags() { grep -oE '\[[A-Z][0-9]\]' | sort -u; }
grep '^src/' "$work/comments" | tags >"$work/used"
grep '^|' docs/memory-model.md | sed 's/^| *\([^|]*\)|.*/\1/' | tags >"$work/rows"
comm -23 "$work/used" "$work/rows" | sed 's/.*/references: the tag & has no row in docs\/memory-model.md/' >"$work/tags"
comm -13 "$work/used" "$work/rows" | sed 's/.*/references: docs\/memory-model.md has a row for &, which src does not use/' >>"$work/tags"

# shellcheck disable=SC2046
awk '
  FNR == 1 { tagged = -9 }
  /\[[A-Z][0-9]\]/ { tagged = FNR }
  /^#define/ { next }
  /(load|store|exchange|cas|add|sub)_(acquire|release|acq_rel)\(/ && FNR - tagged > 3 {
    print "references: " FILENAME ":" FNR " has a memory order without a tag such as [R1]"
  }' $(grep '^src/.*\.[ch]$' "$work/files") >>"$work/tags"

grep -ohE '"[A-HJ-Z][0-9]"' src/*/*.c | tr -d '"' | sort -u | while read -r name; do
  grep '^src/' "$work/comments" | grep -qE "(^|[ /])$name( |\$)" ||
    echo "references: no comment of src says what the invariant $name is"
done >>"$work/tags"
[ ! -s "$work/tags" ] || { cat "$work/tags"; bad=1; }

[ -n "${bad-}" ] || echo "references: $(wc -l <"$work/comments") lines of comment, $(wc -l <"$work/documents") documents"
exit "${bad:-0}"
