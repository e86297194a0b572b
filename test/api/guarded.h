/* What the tests of sampled guards share: how many blocks have been sampled, and which. */
#ifndef TEST_API_GUARDED_H
#define TEST_API_GUARDED_H

#include "api.h"

static inline size_t guarded_count(void) {
  mi_stats_t stats;
  memset(&stats, 0, sizeof(stats));
  stats.size = sizeof(stats), stats.version = MI_STAT_VERSION;
  CHECK(mi_stats_get(&stats));
  return (size_t)stats.malloc_guarded_count.total;
}

static inline size_t os_page(void) { return (size_t)sysconf(_SC_PAGESIZE); }

/* Its neighbourhood tells: the pages before and behind it are inaccessible. A page of other blocks
   may lie like that too, between two that are guarded; but they are longer than what was asked for,
   unless `size` is a multiple of 16. */
static inline bool is_guarded(const void* p, size_t size) {
  int ends[2];
  if (mi_usable_size(p) != size) { return false; }
  CHECK(pipe(ends) == 0);
  const uintptr_t page = os_page();
  const uintptr_t inner = address_of(p) - (size == 0 ? page : 0); /* of none: p is the guard */
  const uintptr_t before = (inner & ~(page - 1)) - 1;
  const uintptr_t behind = (address_of(p) + size + page - 1) & ~(page - 1);
  const bool guarded = write(ends[1], (const void*)before, 1) < 0 && errno == EFAULT &&
                       write(ends[1], (const void*)behind, 1) < 0 && errno == EFAULT;
  close(ends[0]), close(ends[1]);
  return guarded;
}

static inline bool is_near(size_t count, size_t expected) { /* five deviations */
  size_t spread = 5;
  while (spread * spread < 25 * expected) { spread++; }
  const size_t most = expected + spread;
  return count <= most && count + spread >= expected;
}

#endif
