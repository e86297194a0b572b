#!/bin/sh
# test: label=long timeout=2400 when="release gcc"
# Breaks the protocols one step at a time and expects a model to notice: each memory order is weakened, each step dropped or
# changed, in a copy of the sources. Prints a table; exit status 1 if a mutant survives, 2 if one no longer applies.
#   mutate.sh [anything]        MUTATE_ONLY=pattern: only the mutants whose line matches
set -u
source=${MI_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
cc=${CC:-cc}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

mkdir -p "$work/test" && cp -r "$source/include" "$source/src" "$work" && cp -r "$source/test/model" "$work/test" &&
  cp -r "$work/src" "$work/original" || exit 2
case $(uname -m) in i?86 | arm*) echo "no -fsanitize=thread here"; exit 77 ;; esac

# file below src/ ; models that may notice, in the order to try, with a colon and one of their cases where the others are
# long ; what is done ; sed script. A leading = says that the mutant changes nothing that a model can see
# (docs/memory-model.md says why).
mutants() {
  grep -v '^#' <<'END'
page/remote.h;remote;R1 out: relaxed push;s/cas_acq_rel(remote/cas_acquire(remote/
page/remote.h;remote;R2 in: freer claims relaxed;s/cas_acq_rel(remote/cas_release(remote/
page/remote.h;remote;R1 in: relaxed take;s/exchange_acquire(remote/exchange_relaxed(remote/
page/remote.h;remote;R2 out: left, relaxed;s/cas_release(remote, &old, remote_word/cas_relaxed(remote, \&old, remote_word/
page/remote.h;remote abandon;R2 in: allocator claims relaxed;s/cas_acquire(remote, &old, REMOTE_OWNED)/cas_relaxed(remote, \&old, REMOTE_OWNED)/
page/remote.h;remote;push does not link to the list;/chain->last->next = remote_head/d
page/remote.h;remote;push reads the list once only;s/chain->last->next = remote_head(old, start);/if (chain->last->next == NULL) { chain->last->next = remote_head(old, start); }/
page/remote.h;remote;push counts one too few;s/owned ? chain.count : 0/owned ? chain.count - 1 : 0/
page/remote.h;remote;free into an abandoned page adds;s/: 0 - chain.count/: chain.count/
page/remote.h;remote;any free claims an abandoned page;s/remote_count(old) <= chain.count/remote_count(old) >= chain.count/
page/remote.h;remote;the last free does not claim;s/return last;/return last \&\& remote_state(old) == REMOTE_FULL;/
page/remote.h;remote;a free into a full page only pushes;s/last = !owned/last = remote_state(old) == REMOTE_ABANDONED/
page/remote.h;remote;the last free pushes and claims;s/if (!last) {/if (remote_state(old) != REMOTE_FULL || !last) {/
page/remote.h;remote;take leaves the list;s/exchange_acquire(remote, REMOTE_OWNED)/load_acquire(remote)/
page/remote.h;remote;leaving overwrites a push;/if (old != REMOTE_OWNED) { return false; }  /d
page/remote.h;remote;leaving counts one too many;s/remote_word(state, count)/remote_word(state, count + 1)/
page/remote.h;remote;the claim keeps the list;s/cas_acquire(remote, &old, REMOTE_OWNED)/cas_acquire(remote, \&old, old - state)/
page/remote.h;remote abandon;any state can be claimed;s/while (remote_state(old) == state)/while (state != REMOTE_OWNED)/
port/unix_slots.h;slots;S1: relaxed in;s/cas_acquire(&slot\[i\].id/cas_relaxed(\&slot[i].id/
port/unix_slots.h;slots;S1: relaxed out;s/store_release(&slot->id/store_relaxed(\&slot->id/
port/unix_slots.h;slots;S2: relaxed out;s/cas_release(&slot_levels/cas_relaxed(\&slot_levels/
port/unix_slots.h;slots;S2: relaxed in;s/load_acquire(&slot_levels/load_relaxed(\&slot_levels/
port/unix_slots.h;slots;who ends keeps its slot;/store_release(&slot->id/d
port/unix_slots.h;slots;there is one level only;s/slots = slot_add_level(level)/slots = NULL/
port/unix_slots.h;slots;a slot is taken each time;s/if (slot == NULL \&\& value/if (value/
port/unix_slots.h;slots;a slot is looked for in the first level only;s/found == NULL \&\& level < SLOT_LEVELS/found == NULL \&\& level < 1/
port/unix_slots.h;slots;a level that lost is used;s/(void)port_release(fresh, bytes);/return (thread_slot_t*)fresh;/
port/unix_slots.h;slots;a thread has the number of the one before;/slot->number = 0;/d
page/blocks.c;neighbours;never-used blocks get no end;/^  set_canaries(page, count);/d
port/lock.h;lock;L1: relaxed at once;s/!cas_acquire(&lock->state/!cas_relaxed(\&lock->state/
port/lock.h;lock;L1: relaxed after spinning;s/is_free \&\& cas_acquire/is_free \&\& cas_relaxed/
port/lock.h;lock;L1: relaxed after sleeping;s/exchange_acquire(/exchange_relaxed(/
port/lock.h;lock;L2: relaxed release;s/exchange_release(/exchange_relaxed(/
port/lock.h;lock;no wake-up;s/port_wake_one(&lock->state);//
port/lock.h;lock;wakes nobody who sleeps;s/LOCK_FREE) == LOCK_CONTENDED/LOCK_FREE) == LOCK_HELD/
port/lock.h;lock;sleeper does not say so;s/exchange_acquire(&lock->state, LOCK_CONTENDED)/exchange_acquire(\&lock->state, LOCK_HELD)/
port/lock.h;lock;takes the lock without a look;s/while (exchange_acquire(&lock->state, LOCK_CONTENDED) != LOCK_FREE)/if (exchange_acquire(\&lock->state, LOCK_CONTENDED) != LOCK_FREE)/
port/lock.h;lock;release leaves it held;s/exchange_release(&lock->state, LOCK_FREE)/exchange_release(\&lock->state, LOCK_HELD)/
heap/pool.c;abandon;abandons without the lock;/heap_abandon(heap_t/,/^}/{/lock_/d}
heap/pool.c;abandon;takes a page out of the pool without the lock;/heap_unpool(heap_t/,/^}/{/lock_/d}
heap/pool.c;abandon;looks for a page without the lock;/claim_from(pool_t/,/^}/{/lock_/d}
heap/pool.c;abandon;the pool keeps a page that was claimed;/^  if (page != NULL) { unpool_locked/d
heap/pool.c;abandon;abandons without taking what was returned;/^    page_take_remote(page);$/d
heap/pool.c;abandon;abandons an empty page;/heap_abandon(heap_t/,/^}/{/if (page->used == 0 && /,/^    }/d}
heap/pool.c;abandon;lists a page before it is abandoned;/if (!page_leave(/d;s/^  return ABANDON_DONE;$/  return page_leave(page, REMOTE_ABANDONED, page->used) ? ABANDON_DONE : ABANDON_RETRY;/
heap/pool.c;heaps;abandons in a heap that is being deleted;/return ABANDON_MOVED/d
heap/heap.c;heaps;the pools do not see that their heap is deleted;/^  pools_see_state(heap);$/d
heap/theap.c;abandon;keeps the owner of a full page;/theap_page_to_full(theap_t/,/^}/{/theap_disown/d}
heap/theap.c;abandon;disowns a full page when it is nobody's;/theap_page_to_full(theap_t/,/^}/{/theap_disown/d;s/{ return true; }/{ theap_disown(theap, page); return true; }/}
heap/theap.c;abandon;a page is let go without a count;s/page->used = theap_count(theap, bin, page)/page->used -= PAGE_HELD/
heap/pool.c;abandon;restores nothing from an abandoned page;/^  if (page != NULL) { page_restore/d
heap/thread.c;recycled;a recycled record is taken without the lock;/recycled_pop(void)/,/^}/{/lock_/d}
heap/thread.c;recycled;a record is left without the lock;/recycled_put(thread_t/,/^}/{/lock_/d}
heap/thread.c;recycled;records that were taken over still count;/recycled_pop(void)/,/^}/{/registry.recycled_count--/d}
heap/thread.c;recycled;who takes a record over does not own its pages;/recycled_take(uintptr_t/,/^}/{/theap_own_all/d}
heap/thread.c;recycled;pages keep the owner that has ended;/recycled_put(thread_t/,/^}/{/theap_own_all/d}
heap/thread.c;recycled;a record is left before its pages are nobody's;/recycled_put(thread_t/,/^}/{/theap_own_all/d;s/^  return has_room;$/  if (has_room) { theap_own_all(thread->theaps); } return has_room;/}
heap/thread.c;recycled;a record that goes keeps its pages;/thread_disband(thread_t/,/^}/{/theap_abandon/d}
heap/return.c;abandon;leaves the claimed page in the pool;/heap_unpool(/d
heap/return.c;abandon;who comes to own a full page loses what others freed;s/page_remote_list(page, word));/NULL);/
heap/return.c;abandon;who comes to own a full page does not count it;s/page->used += remote_count(word) - chain.count/page->used -= chain.count/
heap/return.c;abandon;a page stays full for ever;s/page->used - used)/page->used)/
heap/return.c;abandon;keeps a page without blocks;s/page->used == 0 \&\& page_may_go(page)/false/
heap/return.c;abandon;loses the block that claimed;s/page_add_returned(page, chain.first)/page_add_returned(page, page_remote_list(page, word))/
heap/row.c;rows;a parcel counts its first block only;s/^  chain->count++;/  chain->count = 1;/
heap/row.c;rows;a parcel loses all but its last block;/block_set_next(page, block, chain->first);/d
heap/row.c;rows;what is shed stays on the row;/theap->row\[bin\].top -= count;/d
page/page.h;rows;a page of open rows is nobody's;s/return OPEN_ROWS ? owner \& ~(uintptr_t)OWNER_ROW : owner;/return owner;/
heap/ration.c;rations;what is left of a ration is lost;s/page_add_list(theap->first.bin., rations->list.bin..free)/0/
heap/ration.c;rations;a ration returns, and is still given out;/ration_return(theap_t/,/^}/{/free = NULL/d}
alloc/malloc.c;rations;a page is full though a ration is out;/^  thread_return_rations(thread);/d
page/blocks.c;rations;what is cut stays on the page;/page_cut_list(page_t/,/^}/{/page_set_free_list/d}
page/blocks.c;abandon;does not count what was returned;/page->used -= remote_count(word);/d
page/blocks.c;abandon;loses what was returned;/page_add_returned(page, page_remote_list(page, word/d
page/page.h;abandon;who stays the owner has counted what it did not leave;/if (!left) { page->used += count; }/d
page/record.c;abandon;gives the record before its last use;/record_give(page);$/d;s/^  const span_t span = page_span(page);/  record_give(page); const span_t span = page_span(page);/
page/page.c;map abandon;gives the memory before the map forgets;/^  page_map(page, NULL);/d;s/page_end(page, page_unguard(page));/const span_t span = page_span(page); page_end(page, page_unguard(page)); map_enter(span.start, span.slices, NULL);/
page/page.c;map;a new page is not in the map;/^  page_map(page, page);/d
page/record.c;publish:records_visited;P1: relaxed out;s/store_release(&records.chunks/store_relaxed(\&records.chunks/
page/record.c;publish:records_visited;P1: relaxed in;s/load_acquire(&records.chunks/load_relaxed(\&records.chunks/
page/record.c;publish;records are taken without the lock;/record_take(void)/,/^}/{/lock_/d}
page/record.c;abandon;records are given without the lock;/void records_push(/,/^}/{/lock_/d}
heap/process.c;publish;ready: relaxed out;s/store_release(&process.ready/store_relaxed(\&process.ready/
heap/process.c;publish;ready: relaxed in;s/(likely(load_acquire(&process.ready/(likely(load_relaxed(\&process.ready/
heap/process.c;publish;no second look under the lock;s/if (!load_relaxed(&process.ready))/if (true)/
alloc/malloc.c;publish:deferred_free;D1: relaxed out;s/store_release(&deferred_free/store_relaxed(\&deferred_free/
alloc/malloc.c;publish:deferred_free;D1: relaxed in;s/load_acquire(&deferred_free/load_relaxed(\&deferred_free/
service/message.c;hooks;M1: function relaxed out;s/store_release(&hook->fun/store_relaxed(\&hook->fun/
service/message.c;hooks;M1: argument relaxed out;s/store_release(&hook->arg/store_relaxed(\&hook->arg/
service/message.c;hooks;M1: function relaxed in;s/load_acquire(&hook->fun/load_relaxed(\&hook->fun/
service/message.c;hooks;M1: argument relaxed in;s/load_acquire(&hook->arg/load_relaxed(\&hook->arg/
service/message.c;hooks;M2: version relaxed out;s/store_release(&hook->version/store_relaxed(\&hook->version/
service/message.c;hooks;M2: version relaxed in;s/load_acquire(&hook->version/load_relaxed(\&hook->version/
service/message.c;hooks;version never odd;s/cas_acquire(&hook->version, &version, version + 1)/cas_acquire(\&hook->version, \&version, version)/
service/message.c;hooks;no second look at the version;s/version == load_relaxed(&hook->version)/true/
service/message.c;hooks;odd versions are read;s/(version \& 1) == 0 \&\& version/version/
=service/message.c;hooks;writer locks relaxed;s/cas_acquire(&hook->version/cas_relaxed(\&hook->version/
heap/heap.c;heaps;a page does not hold its heap;s/heap->pages != NULL || heap->theaps/heap->theaps/
heap/heap.c;heaps;deletion does not hold the heap;/heap_end(heap_t/,/^}/{/heap_hold/d;/heap_let_go/d}
heap/heap.c;heaps;a record goes that a visitor holds;/heap_leave_retired(heap_t/,/^}/s/= heap_is_named(heap)/= false/
heap/heap.c;heaps;two let a record go;/if (is_last) { heap->holders++; }/d;/heap_leave_retired(heap_t/,/^}/{/holders--/d}
heap/heap.c;heaps;a main heap goes while others look at it;/heap_uncount_record(subproc_t/,/^}/{/lock_/d}
heap/heap.c;heaps;a record goes before it was uncounted;s/^  const bool is_last = heap_uncount_record(subproc);/  meta_free(heap, sizeof(heap_t));\n&/;/heap_uncount_record(subproc);$/{n;d}
heap/heap.c;heaps;deletion does not tell the others;/add_relaxed(&heap_epoch/d
heap/heap.c;heaps;deletion leaves the abandoned pages;/^  move_abandoned(heap);/d
heap/heap.c;heaps;pages are listed without the lock;/heap_add_page(heap_t/,/^}/{/lock_/d}
heap/heap.c;heaps;pages are unlisted without the lock;/heap_remove_page(heap_t/,/^}/{/lock_/d}
heap/heap.c;heaps;destruction does not wait for walks;/heap_end(heap_t/,/^}/{/walk/d}
heap/heap.c;heaps;a freed block stays with the deleted heap;s/return heap->subproc->main;/return heap;/
heap/heap.c;heaps;H1: relaxed out;/heap_add_page(heap_t/,/^}/{s/store_release(/store_relaxed(/}
heap/heap.c;heaps;H1: relaxed out, a page moves;/^static void heap_remove_page(heap_t/,/^}/{s/store_release(/store_relaxed(/}
heap/heap.c;heaps;H1: relaxed in;s/load_acquire(&page->heap)/load_relaxed(\&page->heap)/
heap/heap.c;heaps;looks at a page's heap without the lock;/heap_of_page(const/,/^}/{/retired_/d}
heap/heap.c;heaps;a page names its heap after it let go;/heap_remove_page(heap_t/,/^}/{/store_release/d}
heap/thread.c;heaps;collects without the walk lock;/theap_walk(theap_t/,/^}/{/lock_/d}
heap/thread.c;heaps;catches up without the walk lock;/theap_catch_up(theap_t/,/^}/{/lock_/d}
heap/thread.c;publish;the registry is changed without its lock;/registry_add(thread_t/,/^}/{/lock_/d}
memory/meta.c;heaps publish;records are handed out without the lock;/meta_alloc(size_t/,/^}/{/lock_/d}
END
}

compile() {  # model: 0 if it builds
  (cd "$work/test/model" && $cc -std=gnu11 -O1 -g -w -fno-builtin -fsanitize=thread -c "$1.c" -o "$1.o" && $cc -o "$1" "$1.o")
}

killed=0 survived=0 equivalent=0 broken=0
mutants | grep -e "${MUTATE_ONLY:-.}" >"$work/list"
while IFS=';' read -r file models what script; do
  expected=killed
  case $file in =*) expected=equivalent file=${file#=} ;; esac
  sed -e "$script" "$work/original/$file" >"$work/src/$file"
  verdict=SURVIVED
  if cmp -s "$work/original/$file" "$work/src/$file"; then
    verdict="DOES NOT APPLY"
  else
    for choice in $models; do
      model=${choice%%:*} instance=${choice#"$model"}
      if ! compile "$model"; then
        verdict="DOES NOT COMPILE"
        break
      fi
      (cd "$work/test/model" && timeout 240 "./$model" ${instance#:} >out 2>&1)
      status=$?
      if [ $status = 124 ]; then  # the limit of the test
        verdict="killed by $model: does not end"
        break
      elif [ $status != 0 ]; then
        by=$(sed -n 's/.*: model \([a-z0-9_]*\): T[0-9]*: failed: \(.*\)/\1: \2/p' "$work/test/model/out" | head -n 1)
        verdict="killed by $model ${by:-(crash)}"
        break
      fi
    done
  fi
  cp "$work/original/$file" "$work/src/$file"
  case $verdict in
    killed*) killed=$((killed + 1)) ;;
    SURVIVED) if [ $expected = equivalent ]; then verdict=equivalent equivalent=$((equivalent + 1)); else survived=$((survived + 1)); fi ;;
    *) broken=$((broken + 1)) ;;
  esac
  printf '| %-18s | %-46s | %s |\n' "$file" "$what" "$verdict"
done <"$work/list"
echo "$killed mutants killed, $survived survived, $equivalent equivalent, $broken broken"
[ $broken = 0 ] || exit 2
[ $survived = 0 ]
