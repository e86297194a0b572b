// Sampled guards: one request in so many gets memory of its own between inaccessible OS pages, and
// stays inaccessible for a while once freed, so that overflow, underflow and use after free fault
// where they happen, and are reported with stacks. In every build; without samples it costs
// nothing.
//
// Two ways to choose, each by itself, and a request that either chooses is sampled: of requests
// each has the same chance (`rate`); of bytes each has (`bytes`), so that a request of twice as
// many has about twice the chance, 1 - (1 - 1/bytes)^size. Neither remembers what came before.
//
//   span:  | guard | inner: canary, block, canary | guard … |
//     the block ends where the inner part ends (or starts where it starts, by a coin or by option),
//     as far as alignment lets it; what is left of the inner part is checked when the block is
//     freed. A block of no bytes is where the guard behind begins, so that none can be read or
//     written.
//
//   guard_take --> LIVE --guard_retire--> FREED, in quarantine: all of the span is inaccessible
//     --guard_drop--> gone: the span and the record serve others
//
// G1 page->guard is the record from before the block is handed out until the page goes.
// G2 every slice of the span leads to the page, so any address in it finds the record.
// G3 a FREED page belongs to no heap.
// G4 `freed` and the quarantine belong to the guard lock; all else in a record is written by who
//    takes or frees the block.
// Reports read what is there: of a block that is misused by two threads at once, a stack may be
// half written.
// Tests: test/api/guarded*.c, test/misuse.
#ifndef MI_HEAP_GUARD_H
#define MI_HEAP_GUARD_H

#include "../service/trace.h"
#include "heap.h"

typedef struct guard {
  page_t* page;
  uint8_t* block;
  size_t bytes;  // asked for
  uint8_t *inner, *inner_end;
  bool freed;
  uint8_t away;  // a bit for each part of the span: it is inaccessible
  trace_t taken, given;
} guard_t;

typedef struct guard_request {
  size_t size, align, offset;
  bool zero;
} guard_request_t;

FAST bool page_is_guarded(const page_t* page) {
  return !SMALL && page->bin == BIN_LARGE && page->guard != NULL;
}

// Is this a request that may be sampled?
PRIVATE bool guard_suits(const theap_t* theap, const guard_request_t* request);
// May a plain request of the class? Of large ones, some.
PRIVATE bool guard_suits_class(const theap_t* theap, unsigned bin);
// NULL: no memory, or no guard to be had.
PRIVATE void* guard_take(theap_t* theap, const guard_request_t* request);
// A free of `p`, which lies in a guarded page.
PRIVATE void guard_free(void* p, page_t* page);
// The page has just left its heap: into quarantine.
PRIVATE void guard_retire(page_t* page);
// Empties the quarantine.
PRIVATE void guard_flush(void);

SHARED_DATA(_Atomic(uint32_t), guard_versions);  // grows with each change of a setting
// Requests until the next sample, at least 1.
PRIVATE uint32_t guard_gap(theap_t* theap);
// Bytes before the next one that is sampled, at most PTRDIFF_MAX.
PRIVATE size_t guard_gap_bytes(theap_t* theap);
// The owner: takes over the settings of its heap, or of the options, if they are newer.
PRIVATE void guard_catch_up(theap_t* theap);
PRIVATE void guard_option_changed(mi_option_t option);
PRIVATE void guard_set_rate_of_theap(theap_t* theap, size_t rate, size_t seed);
PRIVATE void guard_set_sizes_of_theap(theap_t* theap, size_t least, size_t most);
PRIVATE void guard_set_rate_of_heap(heap_t* heap, size_t rate, size_t seed);
PRIVATE void guard_set_sizes_of_heap(heap_t* heap, size_t least, size_t most);
// If the options want samples: prepares for stacks, and for faults. Not under a lock.
PRIVATE void guard_start_by_options(void);

PRIVATE void guard_lock_for_fork(void);
PRIVATE void guard_unlock_after_fork(bool child);
PRIVATE void guard_rescue(void);

// ---- guard_report.c ----
typedef enum { GUARD_DOUBLE_FREE, GUARD_INSIDE, GUARD_OVERFLOW, GUARD_UNDERFLOW } guard_misuse_t;
// Noticed by the allocator; `p` is the pointer or the byte.
PRIVATE COLD void guard_report(const guard_t* guard, guard_misuse_t misuse, const void* p);
PRIVATE void guard_see_fault(const port_fault_t* fault);

#endif
