/* test: timeout=60 when="posix|windows"
   mimalloc-override.h: the plain names in a source file are this library's. */
#define _GNU_SOURCE 1
#include "api.h"

#include <mimalloc-override.h>

static void check_ours(void* p, size_t size) {
  CHECK(p != NULL && mi_any_heap_contains(p) && mi_usable_size(p) >= size);
  CHECK(malloc_usable_size(p) >= size);
}

static void test_c(void) {
  void* p = malloc(100);
  check_ours(p, 100);
  p = realloc(p, 1000);
  check_ours(p, 1000);
  free(p);
  p = calloc(10, 30);
  check_ours(p, 300);
  CHECK(is_zero(p, 300));
  free(p);
  p = aligned_alloc(256, 512);
  check_ours(p, 512);
  CHECK(is_aligned(p, 256));
  free_aligned_sized(p, 256, 512);
  p = malloc(20);
  free_sized(p, 20);
}

static void test_posix(void) {
  char* s = strdup("text");
  check_ours(s, 5);
  free(s);
  s = strndup("text", 2);
  check_ours(s, 3);
  CHECK(strcmp(s, "te") == 0);
  free(s);
  s = realpath("/", NULL);
  check_ours(s, 2);
  free(s);
  void* p = NULL;
  CHECK(posix_memalign(&p, 64, 100) == 0);
  check_ours(p, 100);
  p = reallocarray(p, 10, 100);
  check_ours(p, 1000);
  p = reallocf(p, 2000);
  check_ours(p, 2000);
  CHECK(reallocarr(&p, 30, 100) == 0);
  check_ours(p, 3000);
  cfree(p);
  p = memalign(128, 100);
  check_ours(p, 100);
  vfree(p);
  p = valloc(100);
  check_ours(p, 100);
  CHECK(malloc_size(p) >= 100 && malloc_good_size(100) >= 100);
  free(p);
  p = pvalloc(100);
  check_ours(p, 100);
  free(p);
}

int main(void) {
  test_c();
  test_posix();
  void* system_block = (malloc)(100); /* a name that is no call is the C library's */
  (free)(system_block);
  return check_done();
}
