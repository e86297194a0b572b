/* test: not-emulated="reserving so much takes the emulator minutes" timeout=60 */
/* The whole address space is filled with reservations that are not ours: NULL with ENOMEM, contents
   intact, and recovery once there is room again. */
#define _GNU_SOURCE
#include "oom.h"

#include <sys/mman.h>

enum { MOST = 4096 };

static int child(void) {
  static struct {
    void* start;
    size_t size;
  } taken[MOST];
  int n = 0;
  unsigned char* mine = (unsigned char*)malloc(5000);
  pattern_fill(mine, 5000, 1);
  for (size_t size = (size_t)1 << 46; size >= 65536 && n < MOST; size /= 2) {
    while (n < MOST) {
      void* p = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (p == MAP_FAILED) { break; }
      taken[n].start = p;
      taken[n++].size = size;
    }
  }
  if (n == MOST) { return skip("the address space is too large to fill"); }
  oom_block_t* list = NULL;
  for (int t = OOM_SIZES - 1; t >= 0; t--) {
    list = oom_fill(list, oom_size[t], (size_t)256 << 20);
  }
  oom_release(list);
  CHECK(pattern_holds(mine, 5000, 1));
  for (int i = 0; i < n; i++) { munmap(taken[i].start, taken[i].size); }
  mine = (unsigned char*)realloc(mine, 5000000);
  CHECK(mine != NULL && pattern_holds(mine, 5000, 1));
  free(mine);
  CHECK(workout() && workout_in_thread());
  return check_done();
}

int main(void) {
  CHECK(in_child(child, 40) == 0);
  return check_done();
}
