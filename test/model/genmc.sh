#!/bin/sh
# test: label=long timeout=2400 when="release gcc"
# The lock-free parts under GenMC (https://plv.mpi-sws.org/genmc), which explores every execution that RC11 and IMM allow, where
# the scheduler of the models runs one statement after the other: races of plain accesses, assertions and, for the lock,
# sleepers that nobody wakes. Then each order is weakened in a copy of the sources, and GenMC has to find an error. A line each;
# exit status 1 if one is not as it should be, 2 if a weakening no longer applies.
#   genmc.sh [anything]         GENMC_ONLY=pattern: only the lines that match
# GENMC names the program, GENMC_INCLUDE its include directory (beside it if not given); without GENMC the test is skipped.
# CLANG: clang-19. GENMC_SECONDS: the limit of one check (600).
# GenMC 0.11.0 needs some options because its own passes fail without them: --disable-loop-jump-threading for the hooks,
# --disable-confirmation-annotation for the lock.
set -u
source=${MI_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
[ -n "${GENMC-}" ] || { echo "GENMC does not name the program: docs/testing.md says how to get it"; exit 77; }
command -v "$GENMC" >/dev/null || { echo "GENMC: there is no $GENMC"; exit 2; }
include=${GENMC_INCLUDE:-$(dirname "$(command -v "$GENMC")")/include}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$source/test/model/genmc" || exit 2
: >"$work/wrong"

# A harness or a model of a tree: what is passed to clang.
harness="-w -DMI_DEBUG=0 -DMI_SECURE=0" model="-w -include shim.h"

# As GenMC compiles, but without names of what is in globals: it takes minutes over a table of 2^18 entries.
bitcode() {  # file tree: prints the file to pass
  # shellcheck disable=SC2086  # options are words
  ${CLANG:-clang-19} -O0 -Xclang -disable-O0-optnone -fno-exceptions -U_FORTIFY_SOURCE -g -S -emit-llvm \
    -D__CONFIG_GENMC_INODE_DATA_SIZE=64 -isystem "$include" $harness "-I$2" "$1" -o "$work/code.ll" &&
    sed -i -E '/^@/ s/, !dbg ![0-9]+$//' "$work/code.ll" && echo "$work/code.ll"
}

# `expected` is what GenMC's output has to say.
check() {  # expected label, genmc's options and clang's -- file
  expected=$1 label=$2
  shift 2
  case $label in *${GENMC_ONLY-}*) ;; *) return ;; esac
  timeout "${GENMC_SECONDS:-600}" "$GENMC" --disable-estimation "$@" >"$work/out" 2>&1
  status=$? verdict=right
  grep -q "$expected" "$work/out" || { verdict=WRONG; echo "$label" >>"$work/wrong"; }
  printf '%-44s %-5s %3s, %s complete, %s\n' "$label" $verdict $status \
    "$(sed -n 's/.*complete executions explored: //p' "$work/out")" \
    "$(grep -m1 -E 'No errors|Error|ERROR' "$work/out")"
}
holds() { check "No errors" "$@"; }
breaks() {
  what=$1
  shift
  check "Error" "mutant: $what" "$@"
}

harnesses() {  # memory model, its option
  for i in 0 1 2; do holds "$1 payload start=$i" $2 -- $harness "-I$source" -DSTART=$i page_payload.c; done
  for i in 2 3; do holds "$1 full_claim freers=$i" $2 -- $harness "-I$source" -DFREERS=$i full_claim.c; done
  holds "$1 chunk takers=2" $2 -- $harness "-I$source" -DTAKERS=2 chunk.c
  holds "$1 start callers=3" $2 -- $harness "-I$source" -DCALLERS=3 start.c
  for i in 0 1; do holds "$1 heap_of moves=$i" $2 -- $harness "-I$source" -DMOVES=$i heap_of.c; done
  for i in map deferred; do holds "$1 $i" $2 --input-from-bitcode-file "$(bitcode $i.c "$source")"; done
}

models() {  # memory model, its option
  for i in 0 1 2 3 4; do
    holds "$1 hooks $i" $2 --unroll=4 --disable-loop-jump-threading -- $model "-I$source" -DINSTANCE=$i ../hooks.c
  done
  for i in 0 1 2 4; do
    holds "$1 lock $i, woken" $2 --disable-confirmation-annotation --disable-spin-assume --check-liveness \
      -- $model "-I$source" -DWAIT_QUEUE -DINSTANCE=$i ../lock.c
  done
  holds "$1 lock 3" $2 --unroll=12 -- $model "-I$source" -DINSTANCE=3 ../lock.c
  for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do
    for file in remote remote_apart; do
      holds "$1 $file $i" $2 -- $model "-I$source" -DINSTANCE=$i ../$file.c
    done
  done
}

# file below src ; what ; sed script ; what notices it: H a harness, U one with loops, L one that is compiled first, M a model,
# W the model of the lock with a queue of sleepers ; its file, and options
mutants() {
  cat <<'END'
page/remote.h;R1 out;s/cas_acq_rel(remote/cas_acquire(remote/;H;page_payload.c
page/remote.h;R2 in, free;s/cas_acq_rel(remote/cas_release(remote/;H;page_payload.c
page/remote.h;R1 in;s/exchange_acquire(remote/exchange_relaxed(remote/;H;page_payload.c
page/remote.h;R2 out;s/cas_release(remote, &old, remote_word/cas_relaxed(remote, \&old, remote_word/;H;page_payload.c
page/remote.h;R2 in, claim;s/cas_acquire(remote, &old, REMOTE_OWNED)/cas_relaxed(remote, \&old, REMOTE_OWNED)/;M;remote.c -DINSTANCE=9
port/lock.h;L1 at once;s/!cas_acquire(&lock->state/!cas_relaxed(\&lock->state/;M;lock.c
port/lock.h;L1 spinning;s/is_free \&\& cas_acquire/is_free \&\& cas_relaxed/;M;lock.c
port/lock.h;L1 sleeping;s/exchange_acquire(/exchange_relaxed(/;M;lock.c
port/lock.h;L2;s/exchange_release(/exchange_relaxed(/;M;lock.c
port/lock.h;no wake-up;s/port_wake_one(&lock->state)/(void)0/;W;lock.c
port/lock.h;wakes nobody who sleeps;s/LOCK_FREE) == LOCK_CONTENDED/LOCK_FREE) == LOCK_HELD/;W;lock.c
service/message.c;M1 function out;s/store_release(&hook->fun/store_relaxed(\&hook->fun/;U;hook.c
service/message.c;M1 argument out;s/store_release(&hook->arg/store_relaxed(\&hook->arg/;U;hook.c -DWRITERS=2
service/message.c;M1 function in;s/load_acquire(&hook->fun/load_relaxed(\&hook->fun/;U;hook.c
service/message.c;M1 argument in;s/load_acquire(&hook->arg/load_relaxed(\&hook->arg/;U;hook.c -DWRITERS=2
service/message.c;M2 out;s/store_release(&hook->version/store_relaxed(\&hook->version/;U;hook.c
service/message.c;M2 in, reader;s/load_acquire(&hook->version/load_relaxed(\&hook->version/;U;hook.c
service/message.c;M2 in, writer;s/cas_acquire(&hook->version/cas_relaxed(\&hook->version/;U;hook.c -DWRITERS=2
page/record.c;P1 out;s/store_release(&records.chunks/store_relaxed(\&records.chunks/;H;chunk.c
page/record.c;P1 in;s/load_acquire(&records.chunks/load_relaxed(\&records.chunks/;H;chunk.c
heap/process.c;I1 out;s/store_release(&process.ready/store_relaxed(\&process.ready/;H;start.c
heap/process.c;I1 in;s/(likely(load_acquire(&process.ready/(likely(load_relaxed(\&process.ready/;H;start.c
heap/heap.c;H1 out, added;/heap_add_page(heap_t/,/^}/{s/store_release(/store_relaxed(/};H;heap_of.c
heap/heap.c;H1 out, moved;/^static void heap_remove_page(heap_t/,/^}/{s/store_release(/store_relaxed(/};H;heap_of.c -DMOVES=1
heap/heap.c;H1 in;s/load_acquire(&page->heap)/load_relaxed(\&page->heap)/;H;heap_of.c
alloc/malloc.c;D1 out;s/store_release(&deferred_free/store_relaxed(\&deferred_free/;L;deferred.c
alloc/malloc.c;D1 in;s/load_acquire(&deferred_free/load_relaxed(\&deferred_free/;L;deferred.c
END
}

mutate() {  # file script: a copy of the tree with this change; false if it changes nothing
  rm -rf "$work/copy"
  mkdir -p "$work/copy/test" && cp -r "$source/src" "$source/include" "$work/copy" &&
    cp -r "$source/test/model" "$work/copy/test" && sed -i -e "$2" "$work/copy/src/$1"
  ! cmp -s "$source/src/$1" "$work/copy/src/$1"
}

notice() {  # what way file [options]
  name=$1 way=$2 file=$3 copy=$work/copy
  shift 3
  case $way in
    H) breaks "$name" -- $harness "-I$copy" "$@" "$file" ;;
    U) breaks "$name" --unroll=4 -- $harness "-I$copy" "$@" "$file" ;;
    L) breaks "$name" --input-from-bitcode-file "$(bitcode "$file" "$copy")" ;;
    M) breaks "$name" -- $model "-I$copy" "$@" "$copy/test/model/$file" ;;
    W) breaks "$name" --disable-confirmation-annotation --disable-spin-assume --check-liveness \
        -- $model "-I$copy" -DWAIT_QUEUE "$copy/test/model/$file" ;;
  esac
}

# shellcheck disable=SC2086  # options are words
run_all() {
  harnesses rc11 "" && harnesses imm --imm && models rc11 "" && models imm --imm
  mutants >"$work/mutants"
  while IFS=';' read -r file what script way options; do
    if mutate "$file" "$script"; then notice "$what" "$way" $options; else echo "$what" >>"$work/stale"; fi
  done <"$work/mutants"
}
run_all
[ ! -e "$work/stale" ] || { echo "no longer apply:"; cat "$work/stale"; exit 2; }
echo "$(wc -l <"$work/wrong") not as they should be"
[ ! -s "$work/wrong" ]
