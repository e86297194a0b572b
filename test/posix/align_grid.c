/* test: timeout=60 */
/* Every alignment × size × new size: aligned at first, contents kept by realloc, the block freed by
   plain free. */
#define _GNU_SOURCE
#include "../check.h"
#include "opaque.h"

static const size_t sizes[] = {
    1,     7,     8,     15,    16,    24,     31,     33,     64,      100,   128,
    255,   513,   1000,  1024,  2047,  4095,   4096,   4097,   8192,    10000, 16384,
    32767, 32768, 40000, 65536, 70000, 131072, 200000, 524288, 1048577,
};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static void one(size_t alignment, size_t size, size_t new_size) {
  void* p = memalign(alignment, size);
  CHECK(p != NULL && is_aligned(p, alignment));
  const size_t usable = malloc_usable_size(p);
  CHECK(usable >= size);
  pattern_fill(p, size < 3000 ? size : 3000, size);
  memset((char*)p + size, 0x77, usable - size);
  p = realloc(p, new_size);
  CHECK(p != NULL && malloc_usable_size(p) >= new_size);
  const size_t common = size < new_size ? size : new_size;
  CHECK(pattern_holds(p, common < 3000 ? common : 3000, size));
  memset(p, 0x44, new_size);
  free(p);
}

/* Several of each at once: they do not overlap. */
static void side_by_side(size_t alignment, size_t size) {
  void* p[8];
  for (int i = 0; i < 8; i++) {
    p[i] = memalign(alignment, size);
    CHECK(p[i] != NULL && is_aligned(p[i], alignment));
    memset(p[i], i + 1, size);
  }
  for (int i = 0; i < 8; i++) {
    const unsigned char* b = (const unsigned char*)p[i];
    CHECK(b[0] == i + 1 && b[size - 1] == i + 1 && memcmp(b, b + 1, size - 1) == 0);
    free(p[i]);
  }
}

int main(void) {
  for (size_t alignment = 8; alignment <= (1u << 23); alignment *= 2) {
    for (int s = 0; s < SIZES; s++) {
      if (alignment == 8 && sizes[s] < 8) { continue; }
      for (int n = 0; n < SIZES; n += alignment > 65536 ? 5 : 2) {
        one(alignment, sizes[s], sizes[n]);
      }
      if (sizes[s] <= 70000) { side_by_side(alignment, sizes[s]); }
    }
  }
  return check_done();
}
