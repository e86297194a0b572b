/* test: not-emulated-32="QEMU 7 unmaps what lies behind a mapping that mremap shortens" timeout=60 when="release|debug|secure|guarded"
   Zero-initialised reallocation: what is added is zero, what was there is kept. */
#define _GNU_SOURCE 1
#include "api.h"

/* The block is dirty memory's likeliest place: every size around has just been written and freed.
 */
static void dirty(size_t size) {
  void* blocks[8];
  for (size_t i = 0; i < 8; i++) {
    blocks[i] = mi_malloc(size * (i + 1) / 4);
    memset(blocks[i], 0xDD, size * (i + 1) / 4);
  }
  for (size_t i = 0; i < 8; i++) { mi_free(blocks[i]); }
}

typedef enum {
  REZALLOC,
  RECALLOC,
  REZALLOC_ALIGNED,
  REZALLOC_AT,
  RECALLOC_ALIGNED,
  RECALLOC_AT,
  FORMS
} form_t;

static void* zero_realloc(form_t form, void* p, size_t n) {
  switch (form) {
    case REZALLOC: return mi_rezalloc(p, n);
    case RECALLOC: return mi_recalloc(p, 1, n);
    case REZALLOC_ALIGNED: return mi_rezalloc_aligned(p, n, 256);
    case REZALLOC_AT: return mi_rezalloc_aligned_at(p, n, 256, 16);
    case RECALLOC_ALIGNED: return mi_recalloc_aligned(p, n, 1, 256);
    default: return mi_recalloc_aligned_at(p, n, 1, 256, 16);
  }
}

static bool has_alignment(form_t form, const char* p) {
  switch (form) {
    case REZALLOC:
    case RECALLOC: return true;
    case REZALLOC_ALIGNED:
    case RECALLOC_ALIGNED: return is_aligned(p, 256);
    default: return is_aligned(p + 16, 256);
  }
}

static void test_growth(form_t form, size_t first, size_t step_percent, size_t last) {
  size_t size = first;
  dirty(size);
  unsigned char* p = zero_realloc(form, NULL, size);
  CHECK(p != NULL && is_zero(p, size));
  while (size < last) {
    fill(p, size, (unsigned)form);
    const size_t next = size + size * step_percent / 100 + 1;
    dirty(next);
    p = zero_realloc(form, p, next);
    CHECK(p != NULL && has_alignment(form, (char*)p));
    CHECK(is_filled(p, size, (unsigned)form));
    CHECK(is_zero(p + size, next - size));
    size = next;
  }
  size /= 2;
  p = zero_realloc(form, p, size);
  CHECK(p != NULL && has_alignment(form, (char*)p));
  mi_free(p);
}

/* What was cut off and is had again is zero, wherever the block is by then. */
static void test_shrink_and_grow(form_t form) {
  static const size_t sizes[] = {10, 100, 1000, 5000, 30000, 40000, 200000, MIB, 40 * MIB};
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
    const size_t size = sizes[i];
    for (size_t percent = 20; percent < 100; percent += 35) {
      const size_t less = size * percent / 100;
      unsigned char* p = zero_realloc(form, NULL, size);
      fill(p, size, 5);
      p = zero_realloc(form, p, less);
      CHECK(p != NULL && is_filled(p, less, 5));
      p = zero_realloc(form, p, size + size / 50);
      CHECK(p != NULL && is_filled(p, less, 5));
      CHECK(is_zero(p + less, size + size / 50 - less));
      mi_free(p);
    }
  }
}

static void test_failures(form_t form) {
  unsigned char* p = zero_realloc(form, NULL, 100);
  fill(p, 100, 9);
  CHECK_ERRNO(zero_realloc(form, p, size_too_large()) == NULL, ENOMEM);
  CHECK(is_filled(p, 100, 9));
  p = zero_realloc(form, p, 0);
  CHECK(p != NULL);
  mi_free(p);
}

static void test_argument_errors(void) {
  void* p = mi_zalloc(64);
  CHECK_ERRNO(mi_recalloc(p, count_overflowing(), 16) == NULL, ENOMEM);
  CHECK_ERRNO(mi_recalloc_aligned(p, count_overflowing(), 16, 64) == NULL, ENOMEM);
  CHECK_ERRNO(mi_recalloc_aligned_at(p, count_overflowing(), 16, 64, 8) == NULL, ENOMEM);
  CHECK_ERRNO(mi_rezalloc_aligned(p, 1000, alignment_invalid()) == NULL, EINVAL);
  CHECK_ERRNO(mi_rezalloc_aligned_at(p, 1000, alignment_invalid(), 8) == NULL, EINVAL);
  CHECK(is_zero(p, 64));
  mi_free(p);
}

int main(void) {
  for (form_t form = REZALLOC; form < FORMS; form = (form_t)(form + 1)) {
    test_growth(form, 1, 1, 300);
    test_growth(form, 7, 30, MIB);
    test_growth(form, 1000, 110, 6 * MIB);
    test_shrink_and_grow(form);
    test_failures(form);
  }
  test_argument_errors();
  return check_done();
}
