#!/bin/sh
# test: when="release gcc"
# All files of src/ are one translation unit, so a function's name stands for one function on each
# system. A file for one system has its name in its own; two ports, and the pairs below, are never
# compiled together. The compiler here sees one system only.
#   names.sh  prints each name that two files define which some system compiles both
source=${MI_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$source/src" || exit 2
awk '
  BEGIN {
    apart["base/etw.h base/track.h"]
    apart["entry/windows_redirect.c entry/windows_static.c"]
  }
  function system_of(file) {
    if (match(file, /windows|darwin|wasm|bsd|linux|elf|glibc/)) {
      return substr(file, RSTART, RLENGTH)
    }
    return ""
  }
  function meet(a, b) {
    if ((a " " b) in apart || (a ~ /^port/ && b ~ /^port/)) { return 0 }
    return system_of(a) == "" || system_of(b) == "" || system_of(a) == system_of(b)
  }
  /^([A-Z]+ )*(static|PRIVATE|FAST|API|UNUSED|COLD|NOINLINE|RACY|AT_LOAD|AT_UNLOAD) .*\) \{/ {
    name = $0
    sub(/\(.*/, "", name)
    sub(/.*[ *]/, "", name)
    if (name ~ /[a-z]/ && !((name, FILENAME) in seen)) {
      seen[name, FILENAME]
      files[name] = files[name] " " FILENAME
      count++
    }
  }
  END {
    for (name in files) {
      most = split(files[name], in_file, " ")
      for (i = 1; i < most; i++) {
        for (j = i + 1; j <= most; j++) {
          if (meet(in_file[i], in_file[j])) {
            print "names: " name " is defined in " in_file[i] " and " in_file[j]
            bad = 1
          }
        }
      }
    }
    if (count < 1500) { print "names: the sources are not understood: " count; exit 1 }
    print "names: " count
    exit bad
  }' */*.[ch]
