// Walks that look whether the invariants of page.h, heap.h and map.h hold, for debug builds and
// tests; those of arena.h are in memory/verify.h. What is broken is reported as corrupted memory,
// by its number: "invariant P3 is broken at …: …".
//
// What debug builds do with them: MI_DEBUG=2 looks at a page when malloc's slow path has found it,
// MI_DEBUG=3 also at a theap and the arenas now and then. It looks at everything as long as the
// system knows that no other thread was started, and none was lost by a fork.
// Tests: test/unit/verify.c breaks each on purpose.
#ifndef MI_HEAP_VERIFY_H
#define MI_HEAP_VERIFY_H

#include "../memory/verify.h"
#include "heap.h"

// P1 to P3 of one page: its lists and numbers. Its owner; anybody while no thread runs.
PRIVATE bool verify_page(const page_t* page);
// P2, H1: the queues of a theap, and all pages in them. Its thread; anybody while no thread runs.
PRIVATE bool verify_theap(const theap_t* theap);
// All of that, pools, lists and references of heaps (H1 to H4), the memory that was never used
// (P4), the map (M1), and arenas. While no other thread is in the allocator.
UNUSED PRIVATE bool verify_all(void);
// What a slow path does in a debug build; `calls` counts them.
UNUSED PRIVATE void verify_now_and_then(const theap_t* theap, size_t calls);

#endif
