/* test: timeout=20 */
/* free leaves errno alone (POSIX 2024): for every size, whoever allocated, also when the block goes
   back to the system and also when the system refuses to take it. */
#define _GNU_SOURCE
#include "../check.h"
#include "../system.h"
#include "opaque.h"

static void free_checked(void* p) {
  errno = 4711;
  free(p);
  CHECK(errno == 4711);
}

static void* free_remotely(void* p) {
  free_checked(p);
  return NULL;
}

static void every_size(void) {
  for (int round = 0; round < 3; round++) {
    for (size_t size = 0; size <= ((size_t)200 << 20); size = size * 3 + 1) {
      free_checked(malloc(size));
      free_checked(calloc(1, size < 5000000 ? size : 1));
      free_checked(memalign(4096, size));
    }
  }
}

/* Many at once, so that whole groups of blocks become empty. */
static void many_blocks(void) {
  enum { COUNT = 20000 };
  static void* block[COUNT];
  for (size_t size = 10; size <= 1000; size *= 10) {
    for (int i = 0; i < COUNT; i++) { block[i] = malloc(size); }
    for (int i = 0; i < COUNT; i++) { free_checked(block[i]); }
  }
}

static void from_another_thread(void) {
  for (size_t size = 1; size < ((size_t)64 << 20); size = size * 7 + 1) {
    test_thread_t thread;
    CHECK(thread_start(&thread, free_remotely, malloc(size)));
    (void)thread_join(thread);
  }
}

/* realloc to zero, and from NULL, leave it alone as well. */
static void realloc_too(void) {
  errno = 4711;
  CHECK((realloc(malloc(1000000), 0) == NULL) == IS_LIKE_GLIBC);
  CHECK(errno == 4711);
}

int main(void) {
  every_size();
  many_blocks();
  if (HAS_THREADS) { from_another_thread(); }
  realloc_too();
  return check_done();
}
