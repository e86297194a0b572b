/* test: timeout=20 when="posix|wasm" */
/* aligned_alloc, memalign, valloc, pvalloc: what an odd alignment or size does. */
#define _GNU_SOURCE
#include "../check.h"
#include "../system.h"
#include "opaque.h"

/* memalign takes any alignment: what is no power of two is rounded up to one. */
static void memalign_rounds_up(void) {
  const size_t odd[] = {0,  1,  2,  3,   5,    7,    8,    16,    17,
                        24, 33, 48, 100, 1000, 4097, 5000, 65537, 1000000};
  for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
    size_t power = 8;
    while (power < odd[i]) { power *= 2; }
    for (size_t size = 0; size < 100000; size = size * 11 + 1) {
      void* p = memalign(odd[i], size);
      CHECK(p != NULL && is_aligned(p, size < 8 && odd[i] <= 8 ? 1 : power));
      CHECK(malloc_usable_size(p) >= size);
      pattern_fill(p, size, i);
      CHECK(pattern_holds(p, size, i));
      free(p);
    }
  }
}

/* Past the largest power of two there is nothing to round up to. */
static void memalign_impossible(void) {
  errno = 0;
  CHECK(memalign(SIZE_MAX, 64) == NULL);
  CHECK(errno == EINVAL);
  errno = 0;
  CHECK(memalign(((size_t)1 << TOP_BIT) + 1, 64) == NULL);
  CHECK(errno == EINVAL);
  for (int bit = BIT_BEYOND_ADDRESSES; bit <= TOP_BIT; bit++) {
    errno = 0;
    CHECK(memalign((size_t)1 << bit, 64) == NULL);
    CHECK(errno == ENOMEM);
  }
  for (int i = 0; i < IMPOSSIBLE_SIZES; i++) {
    errno = 0;
    CHECK(memalign(64, impossible_sizes[i]) == NULL);
    CHECK(errno == ENOMEM);
    errno = 0;
    CHECK(memalign(4096, impossible_sizes[i]) == NULL);
    CHECK(errno == ENOMEM);
  }
}

static void aligned_alloc_powers(void) {
  for (size_t alignment = 1; alignment <= (1u << 22); alignment *= 2) {
    void* p = aligned_alloc(alignment, alignment * 2);
    CHECK(p != NULL && is_aligned(p, alignment));
    free(p);
    /* a size that is no multiple of the alignment is fine since C17 */
    p = aligned_alloc(alignment, 1);
    CHECK(p != NULL && is_aligned(p, alignment));
    free(p);
    p = aligned_alloc(alignment, 0);
    CHECK(p != NULL && is_aligned(p, alignment < 8 ? 1 : alignment));
    free(p);
  }
  for (int i = 0; i < IMPOSSIBLE_SIZES; i++) {
    errno = 0;
    CHECK(aligned_alloc(32, impossible_sizes[i]) == NULL);
    CHECK(errno == ENOMEM);
  }
}

/* aligned_alloc with no power of two: glibc before 2.38 rounds up, later ones refuse with EINVAL,
   as our library does. A block that is less aligned than asked, or a refusal without a reason, is
   right nowhere. */
static void aligned_alloc_odd(void) {
#ifdef __wasm__ /* the library is linked in */
  const bool refuses = true;
#else
  const bool refuses = getenv("LD_PRELOAD") != NULL;
#endif
  const size_t odd[] = {0, 3, 24, 100, 4097, 65537, SIZE_MAX};
  for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
    size_t power = 1;
    while (power < odd[i] && power <= SIZE_MAX / 2) { power *= 2; }
    errno = 0;
    void* p = aligned_alloc(odd[i], 200);
    CHECK(p != NULL ? is_aligned(p, power) && !refuses : errno == EINVAL);
    free(p);
  }
}

#ifdef __wasm__ /* whose C libraries have no valloc */
static void whole_pages(void) {}
#else
static void whole_pages(void) {
  const size_t page = os_page_bytes();
  for (size_t size = 0; size < 300000; size = size * 5 + 1) {
    void* p = valloc(size);
    CHECK(p != NULL && is_aligned(p, page) && malloc_usable_size(p) >= size);
    free(p);
#ifdef __GLIBC__
    p = pvalloc(size); /* the size is rounded up to whole pages as well */
    CHECK(p != NULL && is_aligned(p, page));
    CHECK(malloc_usable_size(p) >= (size + page - 1) / page * page);
    free(p);
#endif
  }
  for (int i = 0; i < IMPOSSIBLE_SIZES; i++) {
    errno = 0;
    CHECK(valloc(impossible_sizes[i]) == NULL);
    CHECK(errno == ENOMEM);
#ifdef __GLIBC__
    errno = 0;
    CHECK(pvalloc(impossible_sizes[i]) == NULL);
    CHECK(errno == ENOMEM);
#endif
  }
}
#endif

int main(void) {
  memalign_rounds_up();
  memalign_impossible();
  aligned_alloc_powers();
  aligned_alloc_odd();
  whole_pages();
  return check_done();
}
