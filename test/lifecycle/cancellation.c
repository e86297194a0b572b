/* test: timeout=30 */
/* No function of the family is a cancellation point, not even those that write; and threads that
   are cancelled, at a point of their own or at any instruction outside the allocator, leave it
   intact. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

static bool pending;
static bool passed;

/* With a request pending, nothing here may end the thread; the test for cancellation at the end
   does. */
static void* not_a_point(void* unused) {
  while (!__atomic_load_n(&pending, __ATOMIC_ACQUIRE)) {}
  bool fine = workout();
  for (size_t size = 100; size < 300000000; size *= 50) {
    void* p = malloc(size);
    fine &= p != NULL;
    free(p);
  }
  fine &= malloc(SIZE_MAX) == NULL;
  void* p = NULL;
  fine &= posix_memalign(&p, 3, 5) == EINVAL;
  malloc_trim(0);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
  (void)mallinfo2();
#endif
  passed = fine;
  pthread_testcancel();
  passed = false; /* not reached */
  return unused;
}

static void* free_on_cancel(void* p) {
  pthread_cleanup_push(free, p);
  for (;;) { sleep_ms(1000); }
  pthread_cleanup_pop(1);
  return NULL;
}

/* Allocates all the time and may be ended between two calls. */
static void* busy(void* unused) {
  for (;;) {
    void* p = malloc(1000);
    pthread_cleanup_push(free, p);
    pthread_testcancel();
    pthread_cleanup_pop(1);
  }
  return unused;
}

int main(void) {
  void* result = NULL;
  pthread_t thread;
  const int null_fd = open("/dev/null", O_WRONLY);
  (void)null_fd;
  CHECK(pthread_create(&thread, NULL, not_a_point, NULL) == 0);
  pthread_cancel(thread);
  __atomic_store_n(&pending, true, __ATOMIC_RELEASE);
  pthread_join(thread, &result);
  CHECK(result == PTHREAD_CANCELED && passed);

  const size_t before = resident_kib();
  for (int i = 0; i < 300; i++) {
    unsigned char* p = (unsigned char*)memset(malloc(100000), 1, 100000);
    pthread_t busy_thread;
    CHECK(pthread_create(&thread, NULL, free_on_cancel, p) == 0);
    CHECK(pthread_create(&busy_thread, NULL, busy, NULL) == 0);
    pthread_cancel(thread);
    pthread_cancel(busy_thread);
    pthread_join(thread, &result);
    CHECK(result == PTHREAD_CANCELED || result == NULL);
    pthread_join(busy_thread, &result);
    CHECK(result == PTHREAD_CANCELED);
  }
  CHECK(workout());
  CHECK(is_emulated() || resident_kib() < before + 40 * 1024);
  return check_done();
}
