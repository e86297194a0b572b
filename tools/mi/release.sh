#   ./mi release X.Y.Z [--url FOLDER] [--output FOLDER] [--as-is]
#       Packs the sources, the same bit by bit whoever does it, with checksums and the filled in
#       files of packaging/, into build/dist. --url: where the archive will lie.

release_version() {  # prints what mimalloc.h says, as X.Y.Z
  local number
  number=$(sed -n 's/^#define MI_MALLOC_VERSION \([0-9]*\)$/\1/p' "$root/include/mimalloc.h")
  echo "$((number / 10000)).$((number / 100 % 100)).$((number % 100))"
}

# Everything that may hang on who packs is set: order, times, owners, rights, language.
release_pack() {  # revision epoch name file
  local work
  work=$(mktemp -d) || exit 1
  (cd "$root" && git archive --prefix="$3/" "$1") | tar -x -C "$work" || die "nothing to pack"
  (cd "$work" && umask 022 && LC_ALL=C tar -c --format=gnu --sort=name --mtime="@$2" --owner=0 \
    --group=0 --numeric-owner --mode=u+rw,go=rX "$3" | gzip -9 -n) >"$4" || die "$4: not packed"
  rm -rf "$work"
}

# Files that end in .in lose that ending, and words between @ are replaced.
release_fill_in() {  # target version archive url epoch
  local sha256 sha512 file
  sha256=$(sha256sum "$3" | cut -d ' ' -f 1)
  sha512=$(sha512sum "$3" | cut -d ' ' -f 1)
  mkdir -p "$1"
  (cd "$root/packaging" && git ls-files) | while IFS= read -r file; do
    mkdir -p "$1/$(dirname "$file")"
    cp -p "$root/packaging/$file" "$1/$file"
    [ "$file" != "${file%.in}" ] || continue
    sed -e "s|@VERSION@|$2|g" -e "s|@URL@|$4|g" -e "s|@SHA256@|$sha256|g" \
      -e "s|@SHA512@|$sha512|g" -e "s|@DATE@|$(LC_ALL=C date -u -R -d "@$5")|g" \
      "$1/$file" >"$1/${file%.in}"
    rm "$1/$file"
  done
}

mi_release() {
  local version='' output=$root/build/dist url='' as_is=no revision=HEAD epoch name archive
  while [ $# -gt 0 ]; do
    case $1 in
      --output) output=${2:-}; [ $# = 1 ] || shift ;;
      --url) url=${2:-}; [ $# = 1 ] || shift ;;
      --as-is) as_is=yes ;;
      -*) die "release has no option $1; see ./mi help" 2 ;;
      *) version=$1 ;;
    esac
    shift
  done
  [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || die "which version? ./mi release X.Y.Z" 2
  [ "$version" = "$(release_version)" ] ||
    die "include/mimalloc.h says $(release_version): set MI_MALLOC_VERSION there first"
  grep -q "^## $version\( \|\$\)" "$root/CHANGELOG.md" || die "CHANGELOG.md has no section $version"
  have git && git -C "$root" rev-parse -q --verify HEAD >/dev/null || die "a release needs the git repository"
  if [ -n "$(git -C "$root" status --porcelain)" ]; then
    [ $as_is = yes ] || die "there are changes that are not committed (--as-is takes tracked files as they are)"
    revision=$(git -C "$root" stash create)
  fi
  mkdir -p "$output" && output=$(cd "$output" && pwd) || exit 1
  epoch=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct)}
  name=mimalloc-$version archive=$output/$name.tar.gz
  release_pack "${revision:-HEAD}" "$epoch" "$name" "$archive"
  rm -rf "$output/packaging"
  release_fill_in "$output/packaging" "$version" "$archive" "${url:-file://$output}/$name.tar.gz" "$epoch"
  (cd "$output" && sha256sum "$name.tar.gz" >SHA256SUMS && sha512sum "$name.tar.gz" >SHA512SUMS)
  say "mi: $archive, its checksums, and packaging/ beside it"
}
