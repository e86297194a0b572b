// What the files of this folder share: the first of each, and the theap that malloc uses.
#include "heap.h"

#include "row.h"

SHARED_DATA_DEF(heap_t, heap_main_static);
SHARED_DATA_DEF(subproc_t, subproc_main_static);
SHARED_DATA_DEF(_Atomic(uint32_t), heap_epoch);
SLOT_DEF(theap_t*, tls_theap, THEAP_EMPTY);
SHARED_DATA_DEF(_Atomic(size_t), thread_count);
SHARED_DATA_DEF(_Atomic(size_t), collect_requests);

// Every entry leads to the page that nobody owns and that has no block: the slow path does the
// rest.
#define NONE_1      ((page_t*)(void*)&map)
#define NONE_8      NONE_1, NONE_1, NONE_1, NONE_1, NONE_1, NONE_1, NONE_1, NONE_1
#define NONE_64     NONE_8, NONE_8, NONE_8, NONE_8, NONE_8, NONE_8, NONE_8, NONE_8
#define NONE_DIRECT NONE_64, NONE_1
#define NONE_40     NONE_8, NONE_8, NONE_8, NONE_8, NONE_8

_Static_assert(BIN_COUNT - ACTIVE_LEAST == 40 && DIRECT_COUNT == 64 + 1,
               "theap_empty lists that many pages");

// Its heap is none: not NULL, which is that of a page that was released just now.
SHARED_DATA_DEF(const theap_t, theap_empty) = {.direct = {NONE_DIRECT},
                                               .active = {NONE_40},
                                               .special = SPECIAL_NO_THREAD,
                                               .heap = (heap_t*)(uintptr_t)&theap_empty,
                                               .open_serial = ROWS_CLOSED};
SHARED_DATA_DEF(theap_t, theap_gone);  // as theap_empty, once a thread needs it: see theap_of_gone
