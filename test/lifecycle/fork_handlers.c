/* test: when=shared timeout=60 */
/* pthread_atfork handlers that allocate, in all three places, registered before and after the first
   allocation, while other threads allocate too. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

static int ran[3];
static void* from_prepare;
static bool stop;

static void use(int place) {
  ran[place]++;
  for (size_t size = 10; size < 2000000; size *= 11) {
    void* p = malloc(size);
    CHECK(p != NULL);
    memset(p, 1, size);
    free(p);
  }
}
static void prepare(void) {
  use(0);
  from_prepare = malloc(123);
}
static void parent(void) {
  free(from_prepare);
  use(1);
}
static void in_the_child(void) {
  free(from_prepare);
  use(2);
}
static void prepare_2(void) { use(0); }
static void parent_2(void) { use(1); }
static void in_the_child_2(void) { use(2); }

__attribute__((constructor(101))) static void register_early(void) {
  pthread_atfork(prepare_2, parent_2, in_the_child_2);
}

static void* allocate_forever(void* unused) {
  while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
    for (size_t size = 10; size < 200000; size *= 5) { free(malloc(size)); }
  }
  return unused;
}

static int child(void) {
  return ran[2] == 2 && workout() && workout_in_thread() && check_done() == 0 ? 0 : 1;
}

int main(void) {
  pthread_atfork(prepare, parent, in_the_child);
  pthread_t thread[3];
  for (int i = 0; i < 3; i++) { pthread_create(&thread[i], NULL, allocate_forever, NULL); }
  int failed = 0;
  for (int i = 1; i <= 50 && failed < 3; i++) {
    failed += in_child(child, 8) != 0;
    CHECK(ran[0] == 2 * i && ran[1] == 2 * i && ran[2] == 0);
  }
  CHECK(failed == 0);
  __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
  for (int i = 0; i < 3; i++) { pthread_join(thread[i], NULL); }
  return check_done();
}
