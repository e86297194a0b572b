#!/bin/sh
# test: when="release gcc"
# Every public declaration in include/ has a comment: in its line, or at the head of the group of
# lines, without an empty one between, that it is in. A comment that opens a section is the comment
# of the first group in it, if it is more than a title. The body of a type or of C++ code counts as
# one declaration; macros that only adapt to compilers are no declarations. In the headers of the C
# interface each function has a comment of its own right above it.
#   declarations.sh [anything]  prints each declaration without a comment
source=${MI_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$source" || exit 2
awk '
  function offence() {
    printf "declarations: %s:%d has no comment: %s\n", FILENAME, FNR, $0
    bad = 1
  }
  FNR == 1 { commented = section = depth = block = 0 }
  { above = last; last = $0 }
  /^mi_decl_/ && !/inline/ && FILENAME ~ /mimalloc(-stats|-profile)?[.]h/ && above !~ /\*\/$/ { offence() }
  block { if (/\*\//) { block = 0 } next }
  /^$/ { if (!depth) { commented = section; section = 0 } next }
  /^\/\*/ {
    block = !/\*\//
    section = /^\/\* ----/ && (block || /: /)
    commented = !/^\/\* ----/ || section
    next
  }
  /^#if|^#el|^#endif|^#include|^#undef|^extern "C"/ { next }
  /^}$/ && !depth { next }
  /^#define (MIMALLOC|mi_attr|mi_decl|mi_cdecl)/ { next }
  {
    if (!depth && !/^ / && !/^[})]/ && !continued) {
      seen++
      if (!commented && !/\/\*/) { offence() }
    }
    continued = /\\$|,$/
    depth += gsub(/\{/, "{") - gsub(/\}/, "}")
  }
  END {
    if (seen < 200) { print "declarations: the headers are not understood: " seen; exit 1 }
    print "declarations: " seen
    exit bad
  }' include/*.h
