/* test: timeout=60 */
/* fork from a process whose other threads are allocating: the child allocates, frees its parent's
   blocks, starts a thread of its own and forks again; 60 times. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

enum { THREADS = 4, FORKS = 60, TABLE = 256 };
static unsigned char* table[TABLE]; /* blocks that wander between the threads */
static bool stop;

static void* allocate_forever(void* arg) {
  unsigned random = (unsigned)(size_t)arg * 7919u + 1;
  while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
    random = random * 1664525u + 1013904223u;
    const size_t size = random % 64 == 0 ? 300000 : (random >> 8) % 3000 + 1;
    unsigned char* p = (unsigned char*)malloc(size);
    p[0] = 1;
    p = __atomic_exchange_n(&table[(random >> 20) % TABLE], p, __ATOMIC_ACQ_REL);
    free(p);
  }
  return NULL;
}

/* Everything a child may want to do. Blocks in the table are the child's own now, whoever allocated
   them. */
static int child(void) {
  bool fine = workout();
  for (int i = 0; i < TABLE; i++) {
    unsigned char* p = table[i];
    if (p != NULL && i % 3 == 0) { p = (unsigned char*)realloc(p, 5000); }
    free(p);
  }
  fine &= workout_in_thread();
  fine &= in_child(workout_of_child, 8) == 0;
  fine &= malloc_trim(0) >= 0;
  return fine ? 0 : 1;
}

int main(void) {
  pthread_t thread[THREADS];
  for (size_t i = 0; i < THREADS; i++) {
    pthread_create(&thread[i], NULL, allocate_forever, (void*)i);
  }
  unsigned char* mine[100];
  int failed = 0;
  for (int i = 0; i < FORKS && failed < 3; i++) {
    for (int k = 0; k < 100; k++) { mine[k] = (unsigned char*)malloc((size_t)k * 20 + 1); }
    failed += in_child(child, 8) != 0;
    for (int k = 0; k < 100; k++) { free(mine[k]); }
  }
  CHECK(failed == 0);
  __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
  for (int i = 0; i < THREADS; i++) { pthread_join(thread[i], NULL); }
  CHECK(workout());
  return check_done();
}
