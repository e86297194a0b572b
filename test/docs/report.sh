#!/bin/sh
# test: label=long serial when="release gcc glibc"
# packages: python3-venv graphviz chromium poppler-utils
# The technical report can be printed, and has each of its headings.
source=${MI_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
failed=0
fail() { echo "report: $*"; failed=1; }

rm -f "$source/build/site/report.pdf"
"$source/mi" docs --pdf >"$work/log" 2>&1
case $? in
  0) ;;
  3) echo "report: skipped: $(tail -n 1 "$work/log")"; exit 77 ;;
  *) cat "$work/log"; exit 1 ;;
esac
head -c 5 "$source/build/site/report.pdf" | grep -q '^%PDF-' || fail "report.pdf is no PDF"
if command -v pdfinfo >/dev/null; then
  pdfinfo -url "$source/build/site/report.pdf" >"$work/links" 2>&1
  ! grep 'file:' "$work/links" || fail "report.pdf leads to files of this machine"
fi
if command -v pdftotext >/dev/null; then
  pdftotext -layout "$source/build/site/report.pdf" "$work/report"
  sed -n 's/^## //p' "$source/docs/report.md" >"$work/headings"
  while IFS= read -r heading; do
    grep -q -F "$heading" "$work/report" || fail "report.pdf has no heading $heading"
  done <"$work/headings"
else
  echo "report: no pdftotext here: its headings are not looked at"
fi
exit $failed
