/* test: timeout=30 */
/* malloc_usable_size: at least what was asked for, all of it the owner's to write, steady, 0 for
   NULL. */
#define _GNU_SOURCE
#include "../check.h"
#include "opaque.h"

int main(void) {
  CHECK(malloc_usable_size(NULL) == 0);
  for (size_t size = 0; size <= (3u << 20); size += size < 3000 ? 1 : size / 23) {
    void* p = malloc(size);
    void* q = malloc(size);
    CHECK(p != NULL && q != NULL);
    const size_t n = malloc_usable_size(p);
    const size_t m = malloc_usable_size(q);
    CHECK(n >= size && m >= size);
    /* Neighbours are written to their last usable byte and do not meet. */
    memset(p, 0x11, n);
    memset(q, 0x22, m);
    CHECK(n == 0 || (((unsigned char*)p)[0] == 0x11 && ((unsigned char*)p)[n - 1] == 0x11));
    CHECK(m == 0 || (((unsigned char*)q)[0] == 0x22 && ((unsigned char*)q)[m - 1] == 0x22));
    CHECK(malloc_usable_size(p) == n);
    /* What is usable survives a realloc, beyond the size once asked for too. */
    p = realloc(p, n + 1);
    CHECK(p != NULL && malloc_usable_size(p) >= n + 1);
    CHECK(n == 0 || ((unsigned char*)p)[n - 1] == 0x11);
    free(p);
    free(q);
    p = calloc(1, size);
    CHECK(malloc_usable_size(p) >= size);
    free(p);
  }
  return check_done();
}
