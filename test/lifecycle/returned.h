/* Idle memory goes back to the system: at most ten seconds after a burst is freed, with no further
   call, nine tenths of what the burst added to the resident size are gone, or the system's to take:
   the latter if the process has had what it gave back again a moment before. */
#ifndef TEST_RETURNED_H
#define TEST_RETURNED_H

#include "../check.h"
#include "process.h"
#include "workout.h"

enum { BURST_MIB = 256, PATIENCE_MS = 10000 };

/* Waits, without allocating, until it is so. */
static inline bool returned_in_time(size_t before_kib, size_t full_kib) {
  const long start = now_ms();
  const size_t goal = before_kib + (full_kib - before_kib) / 10;
  for (;;) {
    const size_t now = held_kib();
    const long waited = now_ms() - start;
    if (now <= goal || waited > PATIENCE_MS) {
      printf("%zu KiB before, %zu KiB full, %zu KiB after %ld ms\n", before_kib, full_kib, now,
             waited);
      return now <= goal;
    }
    sleep_ms(20);
  }
}

/* A burst: BURST_MIB in blocks of one size, written to, then freed. Returns the resident size when
   all are there. */
static inline size_t burst(size_t size) {
  typedef struct link_s {
    struct link_s* next;
  } link_t;
  link_t* list = NULL;
  const size_t count = ((size_t)BURST_MIB << 20) / size;
  for (size_t i = 0; i < count; i++) {
    link_t* b = (link_t*)malloc(size);
    memset(b, 1, size);
    b->next = list;
    list = b;
  }
  const size_t full = held_kib();
  while (list != NULL) {
    link_t* next = list->next;
    free(list);
    list = next;
  }
  return full;
}

#endif
