/* test: timeout=20 */
/* posix_memalign: alignments that are none, sizes that cannot exist, a result that is only written
   on success, errno that says ENOMEM as the answer does. */
#define _GNU_SOURCE
#include "../check.h"
#include "opaque.h"

static void bad_alignment_is_einval(void) {
  const size_t bad[] = {
      0,
      1,
      2,
      3,
      4,
      5,
      6,
      7,
      9,
      10,
      12,
      24,
      40,
      100,
      4095,
      4097,
      12288,
      SIZE_MAX,
      SIZE_MAX - 7,
      ((size_t)1 << TOP_BIT) + 8,
      (size_t)3 << (TOP_BIT - 1),
  };
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
    if (bad[i] == sizeof(void*)) { continue; } /* of 32 bits */
    void* p = (void*)0x1234;
    errno = 0;
    CHECK(posix_memalign(&p, bad[i], 64) == EINVAL);
    CHECK(p == (void*)0x1234);
    CHECK(posix_memalign(&p, bad[i], 0) == EINVAL && errno == 0);
    CHECK(p == (void*)0x1234);
  }
}

static void too_large_is_enomem(void) {
  const size_t most = (size_t)1 << (sizeof(size_t) == 8 ? 40 : 26);
  for (size_t alignment = sizeof(void*); alignment <= most; alignment *= 4) {
    for (int i = 0; i < IMPOSSIBLE_SIZES; i++) {
      void* p = (void*)0x1234;
      errno = 0;
      CHECK(posix_memalign(&p, alignment, impossible_sizes[i]) == ENOMEM &&
            errno == (IS_LIKE_GLIBC ? ENOMEM : 0));
      CHECK(p == (void*)0x1234);
    }
  }
}

/* No address space holds these: refused, not wrapped around. */
static void huge_alignment_is_refused(void) {
  for (int bit = BIT_BEYOND_ADDRESSES; bit <= TOP_BIT; bit++) {
    void* p = (void*)0x1234;
    errno = 0;
    CHECK(posix_memalign(&p, (size_t)1 << bit, 64) == ENOMEM &&
          errno == (IS_LIKE_GLIBC ? ENOMEM : 0));
    CHECK(p == (void*)0x1234);
  }
}

static void zero_size_is_a_block(void) {
  for (size_t alignment = sizeof(void*); alignment <= (1u << 20); alignment *= 2) {
    void* p = NULL;
    void* q = NULL;
    CHECK(posix_memalign(&p, alignment, 0) == 0 && posix_memalign(&q, alignment, 0) == 0);
    CHECK(p != NULL && q != NULL && p != q);
    CHECK(is_aligned(p, alignment) && is_aligned(q, alignment));
    free(p);
    free(q);
  }
}

static void every_power_is_served(void) {
  for (size_t alignment = sizeof(void*); alignment <= ((size_t)1 << 28); alignment *= 2) {
    for (size_t size = 1; size < 300000; size = size * 9 + 5) {
      void* p = NULL;
      CHECK(posix_memalign(&p, alignment, size) == 0);
      CHECK(p != NULL && is_aligned(p, alignment));
      CHECK(malloc_usable_size(p) >= size);
      pattern_fill(p, size, alignment);
      CHECK(pattern_holds(p, size, alignment));
      free(p);
    }
  }
}

int main(void) {
  bad_alignment_is_einval();
  too_large_is_enomem();
  huge_alignment_is_refused();
  zero_size_is_a_block();
  every_power_is_served();
  return check_done();
}
