#!/bin/sh
# test: when="release gcc|clang linux"
# Stack frames are short where malloc and free may come: some threads have 2 KiB in all (musl's
# PTHREAD_STACK_MIN), and a compiler that inlines what needs more takes it from each caller. The
# compiler tells what each function of the library needs.
set -eu
: "${MI_BUILD_DIR:?}"
# What needs more, each a function of its own that is called now and then.
exceptions="page_add_holes page_sort_free row_shed_many purge_excess purge_split"
most=640

find "$MI_BUILD_DIR/CMakeFiles" -path '*mimalloc-static.dir*' -name '*.su' | head -n 1 | xargs cat |
  awk -F '\t' -v most="$most" -v exceptions="$exceptions" '
    BEGIN { n = split(exceptions, list, " "); for (i = 1; i <= n; i++) allowed[list[i]] = 1 }
    $1 !~ /src\/(alloc|heap|memory|page)\// || $1 ~ /\/(guard_report|verify|process)\.c/ { next }
    { functions++; name = $1; sub(/.*:/, "", name); sub(/\..*/, "", name) }
    $2 > longest && !(name in allowed) { longest = $2; which = name }
    $2 > most && !(name in allowed) { print name " needs " $2 " bytes of stack; at most " most; bad = 1 }
    END {
      if (functions < 100) { print "the compiler tells of " functions + 0 " functions only"; exit 1 }
      print functions " functions; the longest frame, of " which ", has " longest " bytes"
      exit bad
    }'
