# shellcheck shell=bash
# What the scripts of this folder share: a line for each test. One that fails sets `failed`.
# shellcheck disable=SC2034,SC2154

# Tests of modules include what they test, and have names of their own.
test_name() {  # FOLDER/NAME
  case $1 in unit/*) echo "unit-${1##*/}" ;; *) echo "${1##*/}" ;; esac
}

test_object() {  # FOLDER/NAME object
  case $1 in unit/*) ;; *) echo "$2" ;; esac
}

have_all() {  # commands
  local each
  for each in "$@"; do command -v "$each" >/dev/null || return; done
}

outcome() {  # toolchain name status
  if [ "$3" = 0 ]; then echo "pass $1 $2"; else echo "FAIL $1 $2 (status $3)"; failed=1; fi
}

expect() {  # toolchain name expected-status command...
  local toolchain=$1 name=$2 expected=$3 status
  shift 3
  timeout "${patience:-120}" "$@" >"$toolchain-$name.log" 2>&1 </dev/null
  status=$?
  [ $status != 77 ] || { echo "skip $toolchain $name"; return; }
  [ $status = "$expected" ] || head -n 5 "$toolchain-$name.log"
  outcome "$toolchain" "$name" $((status == expected ? 0 : status == 0 ? 1 : status))
}

build() {  # toolchain name command...: says nothing if it is well
  local toolchain=$1 name=$2
  shift 2
  "$@" >build.log 2>&1 && return
  head -n 5 build.log
  outcome "$toolchain" "$name" 1
  return 1
}

# ./minject as it is called: what it prints, writes, and leaves as it was, and its exit status.
minject_use() {  # program: one without mimalloc.dll
  local old=$1 as_it_was status
  rm -rf use && mkdir use && cp "$old" use/a.exe && cp "$old" use/b.exe || return 1
  as_it_was=$(cksum <use/a.exe)
  says() {  # status words arguments...
    ./minject "${@:3}" >use/out 2>&1
    status=$?
    [ $status = "$1" ] && { [ -z "$2" ] || grep -qiF -- "$2" use/out; } && return
    echo "minject ${*:3}: status $status"
    cat use/out
    return 1
  }
  says 0 KERNEL32.dll --list use/a.exe && ! grep -qi mimalloc use/out &&
    says 0 '' use/a.exe && says 0 mimalloc.dll --list use/a-mi.exe &&
    [ "$(head -n 1 use/out)" = mimalloc.dll ] &&
    says 1 'see --force' use/a.exe && says 0 '' -f use/a.exe && says 0 '' --force use/a.exe &&
    says 0 '' -o use/c.exe use/a.exe && cmp use/c.exe use/a-mi.exe &&
    says 1 'see --force' --output use/c.exe use/a.exe &&
    [ "$(cksum <use/a.exe)" = "$as_it_was" ] &&
    says 0 '' -i use/b.exe && cmp use/b.exe use/a-mi.exe &&
    says 1 'first already' --in-place use/b.exe &&
    says 0 '' --dll other.dll --function f -o use/d.exe use/a.exe &&
    says 0 other.dll -l use/d.exe &&
    says 1 '' use/none.exe && says 1 '' use/out &&
    says 2 'minject --list PROGRAM' && says 2 '' --list && says 2 '' -x use/a.exe &&
    says 2 '' use/a.exe use/b.exe && says 2 '' -i -o use/e.exe use/a.exe && says 2 '' -o &&
    says 2 '' use/a.exe --dll && [ "$(cksum <use/a.exe)" = "$as_it_was" ] && ! [ -e use/e.exe ] &&
    ! compgen -G 'use/*.minject' >/dev/null
}

# _o_NAME is the same function for who imports it from a private set of names; what it calls is
# caught by the filters.
known_name() {  # name
  grep -qF "{\"$1\"," "$root/src/entry/windows_redirect.c" ||
    grep -q "^${1#_o_} " "$here/runtime_names.txt" ||
    grep -qF "{\"${1#_o_}\"," "$root/src/entry/windows_redirect.c"
}

exports_known() {  # toolchain
  local unknown
  if [ -z "$GENUINE" ] || ! command -v llvm-objdump-19 >/dev/null; then
    echo "skip $1 exports: it needs llvm-19 and a genuine ucrtbase.dll"
    return
  fi
  llvm-objdump-19 -p "$GENUINE/ucrtbase.dll" |
    awk '/Export Table/ { on = 1 } on && NF >= 3 { print $3 }' |
    grep -iE 'alloc|free|msize|expand|dup|heap|newh|new_' >exports.txt
  unknown=$(while read -r name; do known_name "$name" || echo "$name"; done <exports.txt)
  [ -z "$unknown" ] || echo "ucrtbase.dll exports, and nothing here knows: $unknown"
  [ -s exports.txt ] && [ -z "$unknown" ]
  outcome "$1" exports $?
}
