#   ./mi docs               builds the documentation site, build/site; its tools come from PyPI, once

# The tools, of the versions in docs/requirements.txt, go into build/docs-tools. Exit status 3: they
# cannot be had here.

docs_tools() {  # folder
  local tools=$1
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

mi_docs() {
  local tools=$root/build/docs-tools
  [ $# = 0 ] || die "docs has no option $1; see ./mi help" 2
  docs_tools "$tools"
  PYTHONDONTWRITEBYTECODE=1 python3 "$root/tools/docs/site.py" "$root" "$root/build/docs" || exit 1
  : >"$tools/log"  # not with -q, which lets warnings pass
  (cd "$root/build/docs" && logged "$tools/log" env NO_MKDOCS_2_WARNING=1 "$tools/bin/mkdocs" build --strict --clean) ||
    die "the site is not sound"
  say "mi: build/site/index.html"
}
