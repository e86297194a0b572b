/* test: timeout=30 */
/* The system gives no new memory at all (anonymous mmap, mremap and brk refused): NULL with ENOMEM
   once what there is runs out, nothing lost, and blocks that are freed can be had again, in the
   first thread and in one that starts only then. */
#define _GNU_SOURCE
#include "filter.h"
#include "oom.h"

static int alone(void) {
  workout();
  if (!filter_new_memory()) { return skip("no seccomp filters here"); }
  size_t had[3];
  for (int round = 0; round < 3; round++) {
    oom_block_t* list = NULL;
    for (int t = OOM_SIZES - 1; t >= 0; t--) {
      list = oom_fill(list, oom_size[t], (size_t)256 << 20);
    }
    had[round] = 0;
    for (oom_block_t* b = list; b != NULL; b = b->next) { had[round] += b->size; }
    oom_release(list);
  }
  CHECK(had[0] > 0 && had[2] >= had[0] / 2);
  errno = 0;
  CHECK(malloc(OOM_HUGE) == NULL && errno == ENOMEM);
  return check_done();
}

/* A thread that exists already, but makes its first request when nothing is to be had any more. */
static pthread_barrier_t refused;
static void* first_request_refused(void* unused) {
  pthread_barrier_wait(&refused);
  for (int round = 0; round < 3; round++) {
    oom_block_t* list = NULL;
    for (int t = OOM_SIZES - 1; t >= 0; t--) {
      list = oom_fill(list, oom_size[t], (size_t)256 << 20);
    }
    oom_release(list);
  }
  return unused;
}

static int with_threads(void) {
  pthread_t thread[3];
  pthread_barrier_init(&refused, NULL, 4);
  for (int i = 0; i < 3; i++) {
    CHECK(pthread_create(&thread[i], NULL, first_request_refused, NULL) == 0);
  }
  unsigned char* mine = (unsigned char*)malloc(3000);
  pattern_fill(mine, 3000, 3);
  if (!filter_new_memory()) { return skip("no seccomp filters here"); }
  pthread_barrier_wait(&refused);
  for (int i = 0; i < 3; i++) { pthread_join(thread[i], NULL); }
  CHECK(pattern_holds(mine, 3000, 3));
  free(mine);
  return check_done();
}

int main(void) {
  CHECK(in_child(alone, 12) == 0);
  CHECK(in_child(with_threads, 12) == 0);
  return check_done();
}
