/* test: timeout=60
   With disallow_os_alloc memory comes only from arenas that the program reserved: when they are
   full, NULL. */
#define _GNU_SOURCE 1
#include "api.h"

static size_t fill_up(size_t size) {
  void* first = NULL;
  size_t total = 0;
  for (;;) {
    errno = 0;
    void** p = mi_malloc(size);
    if (p == NULL || total > 1024 * (size_t)MIB) { break; }
    *p = first;
    first = p;
    total += size;
  }
  CHECK(errno == ENOMEM);
  while (first != NULL) {
    void* next = *(void**)first;
    mi_free(first);
    first = next;
  }
  return total;
}

int main(void) {
  mi_option_enable(mi_option_disallow_os_alloc);
  CHECK(mi_reserve_os_memory(64 * MIB, false, false) == 0);
  const size_t first = fill_up(200 * KIB);
  CHECK(first >= 48 * MIB && first <= 300 * MIB); /* what was reserved at start counts too */
  const size_t again = fill_up(200 * KIB);
  CHECK(again >= first - first / 8); /* and all of it comes back */
  CHECK(fill_up(100) >= 32 * MIB);
  CHECK(fill_up(5 * MIB) >= 40 * MIB); /* blocks that wait somewhere make room */
  CHECK_ERRNO(mi_malloc(500 * MIB) == NULL, ENOMEM);
  CHECK(mi_reserve_os_memory(600 * MIB, false, false) == 0);
  void* p = mi_malloc(500 * MIB);
  CHECK(p != NULL);
  mi_free(p);
  return check_done();
}
