/* test: not-emulated="it needs mappings of its own" timeout=60 */
/* Every mapping that the process may have (vm.max_map_count) is used up: requests are served or get
   NULL with ENOMEM, what is there stays intact, and when mappings are to be had again everything
   works. */
#define _GNU_SOURCE
#include "oom.h"

#include <sys/mman.h>

enum { MOST_PAGES = 400000 };

/* Split one reserved range into as many mappings as there may be, by making every second page
   unlike its neighbours. */
static int child(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char* range = (char*)mmap(NULL, MOST_PAGES * page, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) { return skip("no address space for the splinters"); }
  size_t pages = 0;
  while (pages < MOST_PAGES && mprotect(range + pages * page, page, PROT_READ) == 0) { pages += 2; }
  if (pages >= MOST_PAGES) { return skip("more mappings are allowed than this test can make"); }
  /* The last few are single mappings; one that merges with a neighbour costs nothing. */
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  while (pages < 2 * MOST_PAGES && mmap(NULL, page, PROT_READ, flags, -1, 0) != MAP_FAILED) {
    pages++;
  }

  oom_block_t* list = NULL;
  for (int t = OOM_SIZES - 1; t >= 0; t--) { list = oom_fill(list, oom_size[t], (size_t)64 << 20); }
  oom_release(list);
  void* p = malloc(1000);
  free(p);
  CHECK(munmap(range, MOST_PAGES * page) == 0);
  CHECK(workout() && workout_in_thread());
  oom_cycle((size_t)8 << 20);
  return check_done();
}

int main(void) {
  CHECK(in_child(child, 40) == 0);
  return check_done();
}
