/* test: timeout=60
   The POSIX, BSD and Windows names. */
#define _GNU_SOURCE 1
#include "../system.h"
#include "api.h"

#include <wchar.h>

static void test_sizes(void) {
  void* p = mi_malloc(100);
  CHECK(mi_malloc_size(p) == mi_usable_size(p) && mi_malloc_usable_size(p) == mi_usable_size(p));
  CHECK(mi_malloc_size(NULL) == 0 && mi_malloc_usable_size(NULL) == 0);
  CHECK(mi_malloc_good_size(100) == mi_good_size(100));
  CHECK(mi__expand(p, 100) == p && mi__expand(p, size_too_large()) == NULL);
  CHECK(mi_cfree(p) && !mi_cfree(NULL));
}

/* What lies inside a block of ours is none. */
static void test_cfree(void) {
  static const size_t sizes[] = {10, 100, 5000, 100000, 3 * MIB};
  char outside = 0;
  CHECK(!mi_cfree(NULL) && !mi_cfree(&outside));
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
    char* p = mi_malloc(sizes[i]);
    CHECK(!mi_cfree(p + 1) && !mi_cfree(p + sizes[i] / 2));
    fill(p, sizes[i], 1); /* still the program's */
    CHECK(mi_cfree(p));
    p = mi_malloc_aligned(sizes[i], 4096);
    CHECK(!mi_cfree(p + 1) && mi_cfree(p));
  }
}

static void test_posix_memalign(void) {
  char there = 0;
  void* const old = &there;
  void* p = old;
  for (size_t alignment = sizeof(void*); alignment <= MIB; alignment *= 2) {
    CHECK(mi_posix_memalign(&p, alignment, 100) == 0 && is_aligned(p, alignment));
    fill(p, 100, 1);
    mi_free_aligned(p, alignment);
  }
  CHECK(mi_posix_memalign(&p, 64, 0) == 0 && p != NULL);
  mi_free(p);
  static const size_t bad[] = {0, 1, 2, sizeof(void*) / 2, 3, 12, 24, 100};
  errno = 7777;
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
    p = old;
    CHECK(mi_posix_memalign(&p, bad[i], 100) == EINVAL && p == old);
  }
  CHECK(mi_posix_memalign(&p, 64, size_too_large()) == ENOMEM && p == old);
  CHECK(errno == 7777); /* the error is the result */
}

static void test_memalign(void) {
  const size_t page = os_page_bytes();
  void* p = mi_memalign(256, 100);
  CHECK(p != NULL && is_aligned(p, 256));
  mi_free_size_aligned(p, 100, 256);
  p = mi_aligned_alloc(4096, 8192);
  CHECK(p != NULL && is_aligned(p, 4096));
  mi_free_size_aligned(p, 8192, 4096);
  p = mi_aligned_alloc(64, 100); /* no multiple, served all the same */
  CHECK(p != NULL && is_aligned(p, 64));
  mi_free(p);
  p = mi_valloc(100);
  CHECK(p != NULL && is_aligned(p, page));
  mi_free(p);
  p = mi_pvalloc(page + 1);
  CHECK(p != NULL && is_aligned(p, page) && mi_usable_size(p) >= 2 * page);
  mi_free(p);
  CHECK_ERRNO(mi_memalign(64, size_too_large()) == NULL, ENOMEM);
  CHECK_ERRNO(mi_aligned_alloc(alignment_invalid(), 96) == NULL, EINVAL);
  CHECK_ERRNO(mi_valloc(size_too_large()) == NULL, ENOMEM);
  CHECK_ERRNO(mi_pvalloc(size_too_large()) == NULL, ENOMEM);
  CHECK_ERRNO(mi_pvalloc(size_largest()) == NULL, ENOMEM);
}

static void test_arrays(void) {
  void* p = mi_reallocarray(NULL, 10, 10);
  CHECK(p != NULL);
  fill(p, 100, 1);
  p = mi_reallocarray(p, 1000, 10);
  CHECK(p != NULL && is_filled(p, 100, 1));
  CHECK_ERRNO(mi_reallocarray(p, count_overflowing(), 16) == NULL, ENOMEM);
  CHECK(is_filled(p, 100, 1));
  void* old = p;
  CHECK(mi_reallocarr(&p, count_overflowing(), 16) != 0 && p == old);
  CHECK(mi_reallocarr(&p, 2000, 10) == 0 && p != NULL && is_filled(p, 100, 1));
  mi_free_size(p, 20000);
  p = NULL;
  CHECK(mi_reallocarr(&p, 3, 5) == 0 && p != NULL);
  mi_free_size(p, 15);
  unsigned char* q = mi_aligned_recalloc(NULL, 10, 10, 128);
  CHECK(q != NULL && is_aligned(q, 128) && is_zero(q, 100));
  fill(q, 100, 1);
  q = mi_aligned_recalloc(q, 100, 10, 128);
  CHECK(q != NULL && is_aligned(q, 128) && is_filled(q, 100, 1) && is_zero(q + 100, 900));
  mi_free(q);
  q = mi_aligned_offset_recalloc(NULL, 10, 10, 128, 20);
  CHECK(q != NULL && is_aligned(q + 20, 128) && is_zero(q, 100));
  q = mi_aligned_offset_recalloc(q, 100, 10, 128, 20);
  CHECK(q != NULL && is_aligned(q + 20, 128) && is_zero(q, 1000));
  mi_free(q);
  mi_free_size(NULL, 10);
  mi_free_size_aligned(NULL, 10, 16);
  mi_free_aligned(NULL, 16);
}

/* Each size and alignment as it was asked for: what sized delete passes. */
static void test_sized_free(void) {
  for (size_t size = 0; size <= 3 * MIB; size += 1 + size / 10) {
    mi_free_size(mi_malloc(size), size);
    for (size_t alignment = 1; alignment <= 8192; alignment *= 8) {
      mi_free_size_aligned(mi_malloc_aligned(size, alignment), size, alignment);
      mi_free_aligned(mi_malloc_aligned(size, alignment), alignment);
    }
  }
}

static void test_strings(void) {
  wchar_t* w = mi_wcsdup(L"wide text");
  CHECK(w != NULL && wcscmp(w, L"wide text") == 0);
  mi_free(w);
  unsigned char* m = mi_mbsdup((const unsigned char*)"bytes");
  CHECK(m != NULL && strcmp((char*)m, "bytes") == 0);
  mi_free(m);
  static char variable[] = "TEST_VARIABLE=its value";
  putenv(variable);
  char* value = NULL;
  size_t size = 0;
  CHECK(mi_dupenv_s(&value, &size, "TEST_VARIABLE") == 0 && strcmp(value, "its value") == 0 &&
        size == 10);
  mi_free(value);
  CHECK(mi_dupenv_s(&value, NULL, "TEST_VARIABLE") == 0 && strcmp(value, "its value") == 0);
  mi_free(value);
  size = 99;
  CHECK(mi_dupenv_s(&value, &size, "TEST_NO_SUCH") == 0 && value == NULL && size == 0);
  CHECK(mi_dupenv_s(NULL, &size, "TEST_VARIABLE") == EINVAL &&
        mi_dupenv_s(&value, &size, NULL) == EINVAL);
  w = NULL;
  const int error =
      mi_wdupenv_s(&w, &size, L"TEST_VARIABLE"); /* of Windows: may refuse elsewhere */
  CHECK(error == EINVAL || (error == 0 && wcscmp(w, L"its value") == 0));
  mi_free(w);
}

int main(void) {
  test_sizes();
  test_cfree();
  test_posix_memalign();
  test_memalign();
  test_arrays();
  test_sized_free();
  test_strings();
  return check_done();
}
