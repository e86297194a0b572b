#   ./mi docs [--pdf]
#       Builds the documentation site, build/site; its tools come from PyPI, once. --pdf: also the
#       technical report as build/site/report.pdf, printed by chromium.

# The tools, of the versions in docs/requirements.txt, go into build/docs-tools; drawings are made by
# graphviz. Exit status 3: they cannot be had here.

docs_tools() {  # folder
  local tools=$1
  have dot || apt_install graphviz || die "docs needs graphviz" 3
  cmp -s "$root/docs/requirements.txt" "$tools/requirements.txt" && return
  have python3 || apt_install python3 || die "docs needs python3" 3
  python3 -c 'import ensurepip' 2>/dev/null || apt_install python3-venv ||
    die "docs needs Python's venv. On Debian: apt-get install python3-venv" 3
  say "mi: installing the site's tools into build/docs-tools"
  rm -rf "$tools" && mkdir -p "$tools" || exit 1
  : >"$tools/log"
  logged "$tools/log" python3 -m venv "$tools" || die "no virtual environment can be made" 3
  logged "$tools/log" "$tools/bin/pip" install -q -r "$root/docs/requirements.txt" ||
    die "the site's tools cannot be installed" 3
  cp "$root/docs/requirements.txt" "$tools/requirements.txt"
}

# As root chromium has no sandbox; it reads nothing but the page. On paper links to other pages of
# the site would lead to files of this machine.
docs_pdf() {
  local chromium log=$root/build/docs-tools/log page=$root/build/site/report-print.html sandbox=()
  chromium=$(first_of chromium chromium-browser google-chrome) || {
    apt_install chromium && chromium=chromium || die "--pdf needs chromium" 3
  }
  [ "$(id -u)" != 0 ] || sandbox=(--no-sandbox)
  sed 's/<a href="[^"#:][^":]*"/<a/g' "$root/build/site/report.html" >"$page"
  logged "$log" "$chromium" --headless "${sandbox[@]}" --disable-gpu --no-pdf-header-footer \
    --print-to-pdf="$root/build/site/report.pdf" "file://$page" || die "the report cannot be printed"
  rm "$page"
  say "mi: build/site/report.pdf"
}

mi_docs() {
  local tools=$root/build/docs-tools pdf=no
  if [ "${1:-}" = --pdf ]; then pdf=yes; shift; fi
  [ $# = 0 ] || die "docs has no option $1; see ./mi help" 2
  docs_tools "$tools"
  PYTHONDONTWRITEBYTECODE=1 python3 "$root/tools/docs/site.py" "$root" "$root/build/docs" || exit 1
  : >"$tools/log"  # not with -q, which lets warnings pass
  (cd "$root/build/docs" && logged "$tools/log" env NO_MKDOCS_2_WARNING=1 "$tools/bin/mkdocs" build --strict --clean) ||
    die "the site is not sound"
  say "mi: build/site/index.html"
  [ $pdf = no ] || docs_pdf
}
