# shellcheck shell=bash
# What the scripts of this folder share: a line for each test. One that fails sets `failed`.
# shellcheck disable=SC2034

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
