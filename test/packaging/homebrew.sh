#!/bin/sh
# test: label=long when="release gcc glibc"
# packages: ruby pkg-config
# The formula for Homebrew: its steps and its test, by a few lines that stand in for Homebrew.
set -u
# shellcheck source=lib/package
. "$(dirname "$0")/lib/package"
need ruby

formula=$dist/packaging/homebrew/mimalloc.rb
logged ruby -w -c "$formula"
tar -xzf "$archive"
cd "mimalloc-$version" || exit 2
logged ruby "$source/test/packaging/lib/formula.rb" "$formula" "$work/prefix"
tail -n 1 "$work/log" | grep -qx "$version $(sha256sum "$archive" | cut -d ' ' -f 1)" || fail "another version or checksum"
cd "$work" || exit 2
consume "$work/prefix"
echo "homebrew: $version"
