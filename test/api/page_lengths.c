/* test: timeout=60 when="release|debug stacks"
   Pages of a class get longer as more of it is in use: among several threads soon, in a process
   with one only when it has eight of them. */
#include "../system.h"
#include "api.h"

#include <pthread.h>

enum { BLOCK = 1000, MOST = 4096 };

static void* block[MOST];

static int64_t pages(void) { return stats_now().pages.current; }

/* How many blocks fit in so many pages. */
static size_t blocks_in(int64_t most) {
  const int64_t before = pages();
  size_t count = 0;
  for (; pages() <= before + most; count++) {
    CHECK(count < MOST);
    block[count] = mi_malloc(BLOCK);
  }
  for (size_t i = 0; i < count; i++) { mi_free(block[i]); }
  mi_collect(true);
  return count - 1;
}

static void* wait_for_end(void* barrier) {
  mi_free(mi_malloc(BLOCK));
  pthread_barrier_wait(barrier);
  pthread_barrier_wait(barrier);
  return NULL;
}

int main(void) {
  if (os_pages_exceed(16384)) { return 77; }
  (void)blocks_in(1);
  const size_t alone = blocks_in(8);
  const size_t eighth = alone - blocks_in(7), ninth = blocks_in(9) - alone;
  pthread_barrier_t barrier;
  pthread_t thread;
  CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
  CHECK(pthread_create(&thread, NULL, wait_for_end, &barrier) == 0);
  pthread_barrier_wait(&barrier);
  const size_t among_threads = blocks_in(8);
  pthread_barrier_wait(&barrier);
  CHECK(pthread_join(thread, NULL) == 0);
  printf("blocks in the eighth page %zu, in the ninth %zu; in eight pages %zu, among threads %zu\n",
         eighth, ninth, alone, among_threads);
  CHECK(ninth > eighth && alone == 8 * eighth);
  CHECK(among_threads > alone && among_threads < 8 * ninth);
  return check_done();
}
