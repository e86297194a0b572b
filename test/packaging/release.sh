#!/bin/sh
# test: when="release gcc glibc" timeout=120
# ./mi release packs the same bytes each time, for anyone, with checksums that are right and files in
# which nothing is left to fill in; and it refuses what is no release.
set -u
source=${MI_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
command -v git >/dev/null && git -C "$source" rev-parse -q --verify HEAD >/dev/null ||
  { echo "skipped: no git repository here"; exit 77; }
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
fail() { echo "release: $*"; exit 1; }
set -- $(sed -n 's/^#define MI_MALLOC_VERSION \([0-9]\)\([0-9][0-9]\)\([0-9][0-9]\)$/\1 \2 \3/p' "$source/include/mimalloc.h")
version=$1.${2#0}.${3#0}

# in a repository of its own, which is clean
"$source/mi" release "$version" --as-is --output first >said 2>&1 || fail "$(cat said)"
mkdir tree && tar -xzf "first/mimalloc-$version.tar.gz" -C tree --strip-components=1
cd tree || exit 2
git init -q . && git add -A -f &&
  GIT_AUTHOR_DATE='2001-01-01 00:00 +0000' GIT_COMMITTER_DATE='2001-01-01 00:00 +0000' \
    git -c user.name=a -c user.email=a@example.org -c commit.gpgsign=false commit -q -m all || fail "no commit"
(umask 077; TZ=Asia/Tokyo ./mi release "$version" --output ../one --url https://example.org/files) >../said 2>&1 || fail "$(cat ../said)"
git clone -q . ../clone && touch -d '1 hour ago' ../clone/README.md
(umask 002; LC_ALL=C.UTF-8 ../clone/mi release "$version" --output ../two --url https://example.org/files) >../said 2>&1 || fail "$(cat ../said)"
cd ..
diff -r one two || fail "two releases of one commit differ"
for sums in SHA256SUMS SHA512SUMS; do
  (cd one && "$(echo ${sums%SUMS} | tr SHA sha)sum" -c --quiet $sums) || fail "$sums are not right"
done
tar -tvzf "one/mimalloc-$version.tar.gz" | awk '$2 != "0/0" || $4 != "2001-01-01" { print; bad = 1 } END { exit bad }' ||
  fail "an owner or a time of the packer's is in the archive"
if grep -rnE '@(VERSION|URL|SHA256|SHA512|DATE)@' one/packaging; then fail "this is not filled in"; fi
grep -rq "https://example.org/files/mimalloc-$version.tar.gz" one/packaging || fail "the URL is nowhere"

refuses() {  # pattern arguments...
  pattern=$1
  shift
  if tree/mi release "$@" >said 2>&1; then fail "accepted: $*"; fi
  grep -q -e "$pattern" said || fail "no \"$pattern\": $(cat said)"
}
refuses "which version" 
refuses "which version" 3.6
refuses "MI_MALLOC_VERSION" 99.1.2
echo >>tree/README.md
refuses "not committed" "$version"
git -C tree checkout -q README.md
sed -i "s/^## $version.*//" tree/CHANGELOG.md
refuses "no section" "$version"
echo "release: $version"
