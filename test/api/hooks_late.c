/* test: timeout=60 when="threads posix"
   The program's functions while a thread ends, when the allocator has finished with it: they are
   called at most where they may allocate, so that nobody waits for ever. */
#define _GNU_SOURCE 1
#include "api.h"

#include <limits.h>
#include <pthread.h>

enum { BLOCKS = 3000 };

static pthread_key_t key;
static bool is_late;
static size_t rounds, errors_late;
static void (*late)(void);

static void allocate(void) {
  void* volatile p = mi_malloc(100);
  CHECK(p != NULL);
  mi_free(p);
}

static void deferred(bool force, unsigned long long heartbeat, void* arg) {
  (void)force, (void)heartbeat, (void)arg;
  if (is_late) { allocate(); }
}

static void on_error(int error, void* arg) {
  (void)error, (void)arg;
  if (!is_late) { return; }
  errors_late++;
  allocate();
}

static void allocate_much(void) {
  for (size_t i = 0; i < BLOCKS; i++) { CHECK(mi_malloc(64 + i % 2000) != NULL); }
}

static void ask_too_much(void) {
  CHECK_ERRNO(mi_malloc(size_too_large()) == NULL, ENOMEM);
  CHECK_ERRNO(mi_malloc_aligned(size_too_large(), 64 * KIB) == NULL, ENOMEM);
}

/* In the last round that POSIX promises. */
static void destroy(void* round) {
  const size_t n = (size_t)(uintptr_t)round;
  if (n < PTHREAD_DESTRUCTOR_ITERATIONS) {
    CHECK(pthread_setspecific(key, (void*)(uintptr_t)(n + 1)) == 0);
    return;
  }
  is_late = true;
  late();
  is_late = false;
  rounds++;
}

static void* live(void* arg) {
  mi_free(mi_malloc(10));
  CHECK(pthread_setspecific(key, (void*)(uintptr_t)1) == 0);
  return arg;
}

static void run(void (*fun)(void)) {
  pthread_t thread;
  late = fun;
  CHECK(pthread_create(&thread, NULL, live, NULL) == 0);
  pthread_join(thread, NULL);
}

int main(void) {
  mi_free(mi_malloc(1));
  CHECK(pthread_key_create(&key, destroy) == 0);
  mi_register_deferred_free(deferred, NULL);
  run(allocate_much);
  mi_register_deferred_free(NULL, NULL);
  mi_register_error(on_error, NULL);
  run(ask_too_much);
  CHECK(rounds == 2 && errors_late == 2);
  return check_done();
}
