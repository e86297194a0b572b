/* Ends of threads, and of the process: destructors that allocate in every round, after ours too,
   thread-local variables, and threads that are inside malloc when the process ends.
   late          ten thousand threads
   late exit     ends with status 7 while threads allocate */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "mimalloc.h"
#include "mimalloc-stats.h"

extern void _tlv_atexit(void (*run)(void*), void* object);

enum { THREADS = 10000, ROUNDS = 4, ALLOCATING = 8 };

static __thread struct {
  char text[100];
  void* block;
} variable = {"begun", NULL};

static pthread_key_t late_key;
static _Atomic(int) late_calls, object_calls;

static void use(size_t size) {
  char* p = malloc(size);
  CHECK(p != NULL);
  memset(p, 1, size);
  p = realloc(p, size * 3);
  free(p);
}

static void late(void* value) {
  use(100);
  use(50000);
  late_calls++;
  pthread_setspecific(late_key, value); /* the last time in vain */
}

static void object_ends(void* block) {
  use(1000);
  free(block);
  object_calls++;
}

static void* run(void* unused) {
  (void)unused;
  CHECK(strcmp(variable.text, "begun") == 0);
  variable.block = malloc(64);
  pthread_setspecific(late_key, &late_key);
  _tlv_atexit(object_ends, variable.block);
  use(200);
  return NULL;
}

static void* work(void* unused) {
  (void)unused;
  for (unsigned i = 0;; i++) {
    void* p = malloc(100000 + i % 300000);
    mi_heap_t* heap = mi_heap_new();
    void* q = heap == NULL ? NULL : mi_heap_malloc(heap, i % 3000);
    free(p);
    mi_free(q);
    if (heap != NULL) { mi_heap_delete(heap); }
    if (i % 4 == 0) { mi_collect(true); }
  }
  return NULL;
}

static void at_exit(void) { use(3000); }

static void end_beside_threads(void) {
  pthread_t thread;
  atexit(at_exit);
  for (int i = 0; i < ALLOCATING; i++) { pthread_create(&thread, NULL, work, NULL); }
  usleep(20000);
  exit(7);
}

int main(int argc, char** argv) {
  (void)argv;
  if (argc > 1) { end_beside_threads(); }
  CHECK(pthread_key_create(&late_key, late) == 0);
  for (int i = 0; i < THREADS / ALLOCATING; i++) {
    pthread_t threads[ALLOCATING];
    for (int k = 0; k < ALLOCATING; k++) { pthread_create(&threads[k], NULL, run, NULL); }
    for (int k = 0; k < ALLOCATING; k++) { pthread_join(threads[k], NULL); }
  }
  CHECK(late_calls == THREADS * ROUNDS && object_calls == THREADS);
  mi_stats_t_decl(stats);
  mi_stats_get(&stats);
  CHECK(stats.threads.current == 1);
  return check_done();
}
