#!/bin/sh
# test: when="release gcc"
# Documents are in their form:
#   - prose in Markdown files but the tables of results: no line above 100 columns; what is fenced,
#     tables, and lines of one word, such as an address, may be longer;
#   - code in fences: nothing that is code only by its indent, which a reflow would take for prose;
#   - decisions: a title with the number; Status, Context, Decision and Consequences, once each and in
#     this order; at most 40 lines; one that is superseded names the decision that did it;
#   - the glossary of src/README.md: in the order of the alphabet, and each word is one that the source
#     uses;
#   - measurements: their decision is there, and links to them.
#   documents.sh [anything]   prints each offence; exit status 1 if there is one
source=${MI_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$source" || exit 2
bad=0
fail() { echo "documents: $*"; bad=1; }

# In bytes, as some awks count, a character of several is counted by its first.
offences=$(find ./*.md bench docs packaging rust src -name '*.md' ! -path '*/results/*' | sort | LC_ALL=C xargs awk '
  FNR == 1 { fenced = 0 }
  /^ *```/ { fenced = !fenced }
  fenced || /^ *\|/ || /^<!-- / { next }
  { text = $0; gsub(/[\200-\277]/, "", text) }
  length(text) > 100 && text ~ /^ *([-*] |[0-9]+\. )?[^ ]+ [^ ]/ {
    print FILENAME ":" FNR " has " length(text) " columns"
  }')
[ -z "$offences" ] || fail "$offences"

# Four columns more than the text around make code of a paragraph: of a list item, its own text.
offences=$(find ./*.md bench docs packaging rust src -name '*.md' ! -path '*/results/*' | sort | xargs awk '
  FNR == 1 { fenced = 0; base = 0; blank = 1 }
  /^ *```/ { fenced = !fenced; blank = 0; next }
  fenced { next }
  /^ *$/ { blank = 1; next }
  { match($0, /^ */); indent = RLENGTH }
  blank && indent < base { base = 0 }
  match($0, /^ *([-*+]|[0-9]+[.)]) +/) && indent < base + 4 { base = RLENGTH; blank = 0; next }
  blank && indent >= base + 4 { print FILENAME ":" FNR " is code without a fence" }
  { blank = 0 }')
[ -z "$offences" ] || fail "$offences"

for file in docs/decisions/*.md; do
  number=$(basename "$file" | cut -c 1-3)
  head -n 1 "$file" | grep -q "^# $number [A-Za-z]" || fail "$file does not begin with its number and title"
  [ "$(sed -n 's/^\*\*\(Status\|Context\|Decision\|Consequences\)\.\*\*.*/\1/p' "$file" | tr '\n' ' ')" = \
    "Status Context Decision Consequences " ] || fail "$file has not Status, Context, Decision, Consequences"
  [ "$(wc -l <"$file")" -le 40 ] || fail "$file has more than 40 lines"
  ! grep -q '^\*\*Status\.\*\* Superseded' "$file" ||
    grep -q '^\*\*Status\.\*\* Superseded by decision [0-9][0-9][0-9]' "$file" || fail "$file: superseded by which?"
done
for file in docs/measurements/*.md; do
  number=$(basename "$file" .md)
  grep -q -F "../measurements/$number.md" docs/decisions/"$number"-*.md ||
    fail "no decision links to $file"
done
words=$(sed -n '/^## Glossary/,$s/^| \*\*\(.*\)\*\* | .*/\1/p' src/README.md)
[ "$(echo "$words" | wc -l)" -ge 20 ] || fail "src/README.md has no glossary"
[ "$(echo "$words" | LC_ALL=C sort -u)" = "$words" ] || fail "the glossary is not in order"
for word in $(echo "$words" | tr -d ','); do
  grep -q -r -i -E "(^|[^a-z])$word(s|ed|d)?([^a-z]|$)" src --include='*.[ch]' || fail "the glossary has $word, src has not"
done
[ $bad = 1 ] || echo "documents: $(find docs/decisions -name '*.md' | wc -l) decisions"
exit $bad
