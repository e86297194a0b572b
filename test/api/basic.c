/* test: timeout=60
   The basic section: malloc calloc realloc expand free strdup strndup realpath. */
#define _GNU_SOURCE 1
#include "../system.h"
#include "api.h"

static void test_malloc(void) {
  for (size_t size = 0; size <= 3 * MIB; size += 1 + size / 7) {
    void* p = mi_malloc(size);
    void* q = mi_malloc(size);
    CHECK(p != NULL && q != NULL &&
          address_of(p) != address_of(q)); /* zero-size blocks are unique too */
    CHECK(mi_usable_size(p) >= size);
    CHECK(is_aligned(p, size >= 16 ? 16 : 8));
    fill(p, size, 1);
    fill(q, size, 2);
    CHECK(is_filled(p, size, 1) && is_filled(q, size, 2));
    mi_free(p);
    CHECK(is_filled(q, size, 2));
    mi_free(q);
  }
}

static void test_malloc_fails(void) {
  CHECK_ERRNO(mi_malloc(size_too_large()) == NULL, ENOMEM);
  CHECK_ERRNO(mi_malloc(size_largest()) == NULL, ENOMEM);
  CHECK_ERRNO(mi_calloc(1, size_too_large()) == NULL, ENOMEM);
  CHECK_ERRNO(mi_calloc(count_overflowing(), 16) == NULL, ENOMEM);
  CHECK_ERRNO(mi_calloc(16, count_overflowing()) == NULL, ENOMEM);
  void* p = mi_malloc(100);
  CHECK(p != NULL); /* the program goes on */
  mi_free(p);
}

/* Nor does a block of one slice, freed a moment ago, answer such a request. */
static void test_malloc_fails_beside_freed(void) {
  enum { TRIES = 40 };
  for (size_t i = 0; i < TRIES; i++) {
    void* volatile p[2] = {mi_malloc_aligned(100, 64 * KIB), mi_malloc_aligned(100, 64 * KIB)};
    for (size_t k = 0; k < 2; k++) { mi_free(p[k]); }
    CHECK_ERRNO(mi_malloc(size_largest() - i * 300) == NULL, ENOMEM);
    CHECK_ERRNO(mi_zalloc(size_largest() - i * 300) == NULL, ENOMEM);
  }
}

static void test_success_keeps_errno(void) {
  errno = 7777;
  void* p = mi_malloc(10);
  void* q = mi_calloc(10, 100000);
  p = mi_realloc(p, 5000);
  CHECK(errno == 7777);
  mi_free(p);
  mi_free(q);
  mi_free(NULL);
  CHECK(errno == 7777);
}

static void test_calloc(void) {
  for (size_t size = 0; size <= 3 * MIB; size += 1 + size / 5) {
    unsigned char* p = mi_calloc(size, 3);
    CHECK(p != NULL && is_zero(p, 3 * size));
    memset(p, 0xDD, 3 * size);
    mi_free(p);
    p = mi_calloc(3, size);
    CHECK(p != NULL && is_zero(p, 3 * size));
    memset(p, 0xDD, 3 * size);
    mi_free(p);
  }
  void* empty = mi_calloc(0, 100);
  void* other = mi_calloc(100, 0);
  CHECK(empty != NULL && other != NULL && address_of(empty) != address_of(other));
  mi_free(empty);
  mi_free(other);
}

static void test_realloc(void) {
  void* p = mi_realloc(NULL, 77);
  CHECK(p != NULL && mi_usable_size(p) >= 77);
  fill(p, 77, 3);
  size_t size = 77;
  for (int i = 0; i < 40; i++) {
    const size_t next = size + size / 3 + 1;
    p = mi_realloc(p, next);
    CHECK(p != NULL && is_filled(p, size, 3));
    fill(p, next, 3);
    size = next;
  }
  while (size > 1) {
    size = size / 2;
    p = mi_realloc(p, size);
    CHECK(p != NULL && is_filled(p, size, 3));
  }
  CHECK_ERRNO(mi_realloc(p, size_too_large()) == NULL, ENOMEM);
  CHECK(is_filled(p, size, 3)); /* a failure leaves the block alone */
  p = mi_realloc(p, 0);
  CHECK(p != NULL);
  mi_free(p);
}

static void test_expand(void) {
  CHECK(mi_expand(NULL, 10) == NULL);
  for (size_t size = 1; size < 2 * MIB; size = size * 3 + 1) {
    void* p = mi_malloc(size);
    const size_t usable = mi_usable_size(p);
    fill(p, size, 4);
    CHECK(mi_expand(p, usable) == p); /* what the block has is in place by definition */
    CHECK(mi_expand(p, size) == p);
    void* grown = mi_expand(p, usable + 1);
    CHECK(grown == NULL || (grown == p && mi_usable_size(p) > usable));
    CHECK(mi_expand(p, size_too_large()) == NULL);
    CHECK(is_filled(p, size, 4));
    mi_free(p);
  }
}

static void test_strings(void) {
  CHECK(mi_strdup(NULL) == NULL && mi_strndup(NULL, 10) == NULL);
  char* s = mi_strdup("a string to keep");
  CHECK(s != NULL && strcmp(s, "a string to keep") == 0);
  mi_free(s);
  s = mi_strdup("");
  CHECK(s != NULL && *s == 0);
  mi_free(s);
  s = mi_strndup("longer than five", 5);
  CHECK(s != NULL && strcmp(s, "longe") == 0);
  mi_free(s);
  s = mi_strndup("short", 500);
  CHECK(s != NULL && strcmp(s, "short") == 0);
  mi_free(s);
  s = mi_strndup("short", 0);
  CHECK(s != NULL && *s == 0);
  mi_free(s);
  const char unterminated[4] = {'a', 'b', 'c', 'd'};
  s = mi_strndup(unterminated, 4); /* may not read a fifth */
  CHECK(s != NULL && strcmp(s, "abcd") == 0);
  mi_free(s);
}

static void test_realpath(void) {
  char* root = mi_realpath("/usr/..", NULL);
  CHECK(root != NULL && strcmp(root, "/") == 0 && mi_usable_size(root) >= 2);
  mi_free(root);
  char resolved[4096]; /* PATH_MAX, which not every system has */
  CHECK(mi_realpath("/usr/.", resolved) == resolved && strcmp(resolved, "/usr") == 0);
  CHECK_ERRNO(mi_realpath("/no/such/path", NULL) == NULL, ENOENT);
}

int main(void) {
  test_malloc();
  test_malloc_fails();
  test_malloc_fails_beside_freed();
  test_success_keeps_errno();
  test_calloc();
  test_realloc();
  test_expand();
  test_strings();
  if (HAS_PATHS) { test_realpath(); }
  return check_done();
}
