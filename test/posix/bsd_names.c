/* test: timeout=60 only=preload when="override posix" */
/* Names of the BSDs and macOS, which glibc lacks: reallocf, reallocarr, malloc_size,
   malloc_good_size, vfree. */
#include "../check.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

__attribute__((weak)) void* reallocf(void* p, size_t size);
__attribute__((weak)) int reallocarr(void* ptrp, size_t count, size_t size);
__attribute__((weak)) size_t malloc_size(const void* p);
__attribute__((weak)) size_t malloc_good_size(size_t size);
__attribute__((weak)) void vfree(void* p);

static volatile size_t too_large = SIZE_MAX / 2 + 1;

static void test_reallocf(void) {
  char* p = malloc(100);
  memset(p, 7, 100);
  p = reallocf(p, 5000);
  CHECK(p != NULL && p[0] == 7 && p[99] == 7);
  CHECK(reallocf(p, too_large) == NULL); /* and p is freed */
  CHECK(reallocf(malloc(10), 0) == NULL);
}

static void test_reallocarr(void) {
  char* p = malloc(100);
  memset(p, 9, 100);
  CHECK(reallocarr(&p, 300, 10) == 0 && p[0] == 9 && p[99] == 9);
  char* const before = p;
  CHECK(reallocarr(&p, too_large, 4) != 0 && p == before);
  free(p);
}

static void test_sizes(void) {
  void* p = malloc(100);
  CHECK(malloc_size(p) >= 100 && malloc_size(NULL) == 0);
  CHECK(malloc_good_size(100) >= 100 && malloc_good_size(100) <= malloc_size(p) + 16);
  vfree(p);
  vfree(NULL);
}

int main(void) {
  if (reallocf == NULL || reallocarr == NULL || malloc_size == NULL || vfree == NULL) {
    CHECK(!"the names are there");
    return check_done();
  }
  test_reallocf();
  test_reallocarr();
  test_sizes();
  return check_done();
}
