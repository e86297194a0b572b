/* test: timeout=20 */
/* reallocarray: realloc with a checked product. */
#define _GNU_SOURCE
#include "../check.h"
#include "opaque.h"

int main(void) {
  const size_t half = (size_t)1 << (sizeof(size_t) * 4);
  const size_t bad[][2] = {
      {SIZE_MAX, 2},    {2, SIZE_MAX},         {half, half},
      {half + 1, half}, {SIZE_MAX / 3 + 1, 3}, {SIZE_MAX, SIZE_MAX},
      {SIZE_MAX, 1},    {1, SIZE_MAX},         {(size_t)PTRDIFF_MAX + 1, 1},
  };
  void* p = reallocarray(NULL, 10, 10);
  CHECK(p != NULL && malloc_usable_size(p) >= 100);
  pattern_fill(p, 100, 1);
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
    errno = 0;
    CHECK(reallocarray(p, bad[i][0], bad[i][1]) == NULL);
    CHECK(errno == ENOMEM);
    errno = 0;
    CHECK(reallocarray(NULL, bad[i][0], bad[i][1]) == NULL);
    CHECK(errno == ENOMEM);
  }
  CHECK(pattern_holds(p, 100, 1));
  p = reallocarray(p, 1000, 100);
  CHECK(p != NULL && pattern_holds(p, 100, 1));
  p = reallocarray(p, 5, 10);
  CHECK(p != NULL && pattern_holds(p, 50, 1));

  /* A product of zero: a block from NULL, and the end of an old one. */
  errno = 77;
  CHECK((reallocarray(p, 0, 10) == NULL) == IS_LIKE_GLIBC);
  CHECK(errno == 77);
  p = reallocarray(NULL, 0, 10);
  CHECK(p != NULL);
  CHECK((reallocarray(p, 10, 0) == NULL) == IS_LIKE_GLIBC);
  return check_done();
}
