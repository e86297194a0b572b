/* test: timeout=120 when="grow|wasm" */
/* Where memory only grows, the system refuses more of it: malloc and its kin give NULL and ENOMEM,
   what the program has stays, and once it is free again it serves blocks of all sizes. */
#include "api.h"

#ifndef __wasm__
#include <sys/resource.h>
#endif

enum { BLOCK = 64 << 20, MOST = 128, SMALL = 1000, SMALL_COUNT = 10000 };

static unsigned char* blocks[MOST];
static void* small[SMALL_COUNT];

/* The port "grow" has 64 GiB, of which so much may be used; else it is 2 GiB or 4. */
static void set_limit(void) {
#ifndef __wasm__
  const struct rlimit limit = {(rlim_t)1 << 30, (rlim_t)1 << 30};
  CHECK(setrlimit(RLIMIT_DATA, &limit) == 0);
#endif
}

/* Those that there are, each with its number at both ends. */
static size_t take_all(void) {
  size_t count = 0;
  for (; count < MOST; count++) {
    errno = 0;
    unsigned char* p = mi_malloc(BLOCK);
    if (p == NULL) { break; }
    p[0] = p[BLOCK - 1] = (unsigned char)(count + 1);
    blocks[count] = p;
  }
  CHECK(count < MOST && errno == ENOMEM);
  return count;
}

static void test_refused(void) {
  void* volatile p = NULL;
  errno = 0;
  CHECK((p = mi_realloc(blocks[0], 2 * (size_t)BLOCK)) == NULL && errno == ENOMEM);
  errno = 0;
  CHECK((p = mi_malloc_aligned(BLOCK, 4096)) == NULL && errno == ENOMEM);
  errno = 0;
  CHECK((p = mi_calloc(BLOCK, 1)) == NULL && errno == ENOMEM);
}

static void drop_all(size_t count) {
  for (size_t i = 0; i < count; i++) {
    CHECK(blocks[i][0] == i + 1 && blocks[i][BLOCK - 1] == i + 1);
    mi_free(blocks[i]);
  }
}

static void test_small(void) {
  for (size_t i = 0; i < SMALL_COUNT; i++) {
    small[i] = mi_malloc(SMALL);
    CHECK(small[i] != NULL);
  }
  for (size_t i = 0; i < SMALL_COUNT; i++) { mi_free(small[i]); }
}

int main(void) {
  set_limit();
  const size_t first = take_all();
  printf("%zu blocks of 64 MiB\n", first);
  CHECK(first >= 2);
  test_refused();
  drop_all(first);
  test_small();
  const size_t second = take_all();
  CHECK(second + 1 >= first);
  test_refused();
  drop_all(second);
  test_small();
  return check_done();
}
