/* Fill memory to the last block and come back: shared by the tests that bring the limit about in
   different ways. */
#ifndef TEST_OOM_H
#define TEST_OOM_H

#include "../check.h"
#include "process.h"
#include "workout.h"

/* No system has so much memory; with 4 GiB of addresses, no process so many. */
#define OOM_HUGE ((size_t)1 << (sizeof(size_t) == 8 ? 40 : 31))

enum { OOM_SIZES = 5, OOM_MOST = 4000000 };
static const size_t oom_size[OOM_SIZES] = {48, 1000, 20000, 300000, 3000000};

typedef struct oom_block_s {
  struct oom_block_s* next;
  size_t size;
} oom_block_t;

/* One block, by one of four functions in turn; NULL must come with ENOMEM. */
static inline void* oom_allocate(size_t size, int way) {
  void* p = NULL;
  errno = 0;
  switch (way % 4) {
    case 0: p = malloc(size); break;
    case 1: p = calloc(1, size); break;
    case 2: p = realloc(NULL, size); break;
    default: {
      const int error = posix_memalign(&p, 64, size);
      if (error != 0) {
        p = NULL;
        errno = error;
      }
    }
  }
  if (p == NULL) { CHECK(errno == ENOMEM); }
  return p;
}

/* Mark both ends, link it in. */
static inline oom_block_t* oom_keep(oom_block_t* list, void* p, size_t size) {
  oom_block_t* b = (oom_block_t*)p;
  ((unsigned char*)p)[size - 1] = (unsigned char)size;
  b->next = list;
  b->size = size;
  return b;
}

/* Blocks of one size until none is left, at most most_bytes. Once full, every way of asking fails
   alike and the last block stands unchanged by a realloc that is refused. */
static inline oom_block_t* oom_fill(oom_block_t* list, size_t size, size_t most_bytes) {
  size_t bytes = 0;
  for (int i = 0; bytes < most_bytes; i++) {
    void* p = oom_allocate(size, i);
    if (p == NULL) { break; }
    list = oom_keep(list, p, size);
    bytes += size;
  }
  for (int way = 0; way < 4; way++) {
    void* p = oom_allocate(size, way);
    if (p != NULL) { list = oom_keep(list, p, size); }
  }
  if (list != NULL && bytes < most_bytes) {
    errno = 0;
    void* p = realloc(list, OOM_HUGE);
    CHECK(p == NULL && errno == ENOMEM);
  }
  return list;
}

static inline void oom_release(oom_block_t* list) {
  while (list != NULL) {
    oom_block_t* next = list->next;
    CHECK(((unsigned char*)list)[list->size - 1] == (unsigned char)list->size);
    free(list);
    list = next;
  }
}

/* For each size: fill, then top up with all smaller sizes, see all contents, free all, and have
   everything usable again. */
static inline void oom_cycle(size_t limit_bytes) {
  for (int s = OOM_SIZES - 1; s >= 0; s--) {
    oom_block_t* list = NULL;
    for (int t = s; t >= 0; t--) { list = oom_fill(list, oom_size[t], limit_bytes * 4); }
    CHECK(list != NULL);
    oom_release(list);
    for (int t = 0; t < OOM_SIZES; t++) {
      void* p = malloc(oom_size[t]);
      CHECK(p != NULL);
      free(p);
    }
    CHECK(workout());
  }
}

#endif
