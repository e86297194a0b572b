#!/bin/sh
# test: when="release gcc" timeout=600
# cppcheck finds nothing in src/, in release, FULL and debug builds. A finding that is none has a
# line `// cppcheck-suppress NAME ; REASON` above it.
source=${MI_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$source" || exit 2
command -v cppcheck >/dev/null || { echo "cppcheck: skipped: it is not installed"; exit 77; }

# Not asked: about conditions that are known and values that are the same, as build modes are
# constants, tested by plain `if`; about parameters that could be const, as the types of callbacks
# and public functions are not for one function to choose.
check() {  # modes...
  cppcheck --quiet --std=c11 --library=gnu,posix --inline-suppr --error-exitcode=1 \
    --enable=warning,style,performance,portability --inconclusive --suppress=unmatchedSuppression \
    --suppress=knownConditionTrueFalse --suppress=unsignedPositive --suppress=duplicateValueTernary \
    --suppress=constParameter --suppress=constParameterCallback --suppress=constParameterPointer \
    -D__GNUC__ -D__linux__ -D__x86_64__ -DMI_SPLIT -DMI_MALLOC_OVERRIDE=1 "$@" src
}

check && check -DMI_SECURE=5 && check -DMI_DEBUG=3
