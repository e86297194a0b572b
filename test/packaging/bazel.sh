#!/bin/sh
# test: label=long when="release gcc glibc"
# packages: bazel-bootstrap bazel-rules-java bazel-rules-proto
# The Bazel module, laid over the sources, built by Debian's bazel, without a network: the consumer is
# linked with it. Debian's package of rules_cc is too new for it: bazel's own rules take their place.
set -u
# shellcheck source=lib/package
. "$(dirname "$0")/lib/package"
need bazel
rules=/usr/share/bazel/rules
[ -e $rules/java/WORKSPACE ] && [ -e $rules/proto/WORKSPACE ] || skip "not all of Debian's packages of rules are here"

mkdir -p rules_cc/cc consumer
echo 'workspace(name = "rules_cc")' >rules_cc/WORKSPACE
: >rules_cc/BUILD
: >rules_cc/cc/BUILD
for rule in cc_library cc_binary cc_test cc_import cc_toolchain cc_toolchain_suite; do
  echo "$rule = native.$rule"
done >rules_cc/cc/defs.bzl
tar -xzf "$archive"
cp "$dist"/packaging/bazel/* "mimalloc-$version/"
grep -q "version = \"$version\"" "mimalloc-$version/MODULE.bazel" || fail "another version"

cp "$source/test/consumer/use.c" "$source/test/consumer/new.cpp" consumer/
cat >consumer/WORKSPACE <<END
workspace(name = "consumer")
local_repository(name = "mimalloc", path = "$work/mimalloc-$version")
END
cat >consumer/BUILD.bazel <<'END'
cc_binary(name = "use", srcs = ["use.c"], deps = ["@mimalloc//:mimalloc"])
cc_binary(name = "use_secure", srcs = ["use.c"], deps = ["@mimalloc//:mimalloc_secure"])
cc_binary(name = "use_by_name", srcs = ["use.c"], deps = ["@mimalloc//:mimalloc_by_name"], copts = ["-DNO_OVERRIDE"])
cc_binary(name = "use_as_malloc", srcs = ["use.c"], malloc = "@mimalloc//:mimalloc", deps = ["@mimalloc//:mimalloc"])
END
cd consumer || exit 2
bazel() { command bazel --batch --output_user_root="$work/bazel" "$@"; }
options=--override_repository=rules_cc=$work/rules_cc
for each in java proto; do options="$options --override_repository=rules_$each=$rules/$each"; done
# shellcheck disable=SC2086  # options
logged bazel build -c opt $options //...
for program in use use_secure use_by_name use_as_malloc; do
  logged bazel-bin/$program
done
echo "bazel: $(dpkg-query -W -f '${Version}' bazel-bootstrap 2>/dev/null)"
