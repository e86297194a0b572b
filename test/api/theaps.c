/* test: timeout=60
   Thread-local heaps: the default one, setting it, allocating in it, visiting it. */
#define _GNU_SOURCE 1
#include "visit.h"

static size_t count_theap(const mi_theap_t* theap) {
  visit_t v = visit_start(NULL, 0);
  CHECK(mi_theap_visit_blocks(theap, true, visit_block, &v));
  return v.blocks;
}

static void test_default(void) {
  mi_free(mi_malloc(1));
  mi_theap_t* original = mi_theap_get_default();
  CHECK(original != NULL && original == mi_theap_get_default());
  mi_heap_t* h = mi_heap_new();
  mi_theap_t* own = mi_heap_theap(h);
  CHECK(own != NULL && own != original && own == mi_heap_theap(h));
  CHECK(mi_theap_set_default(own) == original && mi_theap_get_default() == own);
  void* p = mi_malloc(100);
  void* q = mi_calloc(10, 1000);
  void* r = mi_malloc_aligned(100, 256);
  void* s = mi_strdup("text");
  CHECK(mi_heap_of(p) == h && mi_heap_of(q) == h && mi_heap_of(r) == h && mi_heap_of(s) == h);
  CHECK(mi_theap_set_default(original) == own && mi_theap_get_default() == original);
  void* t = mi_malloc(100);
  CHECK(mi_heap_of(t) == mi_heap_main());
  CHECK(count_theap(own) == 4);
  mi_free(t);
  mi_free(p);
  mi_free(q);
  mi_free(r);
  mi_free(s);
  CHECK(count_theap(own) == 0);
  mi_heap_delete(h);
}

static void test_functions(void) {
  mi_heap_t* h = mi_heap_new();
  mi_theap_t* t = mi_heap_theap(h);
  void* blocks[16];
  size_t n = 0;
  blocks[n++] = mi_theap_malloc(t, 100);
  blocks[n++] = mi_theap_malloc(t, 0);
  blocks[n++] = mi_theap_zalloc(t, 70000);
  CHECK(is_zero(blocks[n - 1], 70000));
  blocks[n++] = mi_theap_calloc(t, 11, 13);
  CHECK(is_zero(blocks[n - 1], 143));
  blocks[n++] = mi_theap_malloc_small(t, 56);
  blocks[n++] = mi_theap_zalloc_small(t, 1024);
  CHECK(is_zero(blocks[n - 1], 1024));
  blocks[n++] = mi_theap_malloc_aligned(t, 10, 8192);
  CHECK(is_aligned(blocks[n - 1], 8192));
  void* p = mi_theap_realloc(t, NULL, 10);
  fill(p, 10, 1);
  blocks[n++] = mi_theap_realloc(t, p, 100000);
  CHECK(is_filled(blocks[n - 1], 10, 1));
  for (size_t i = 0; i < n; i++) { CHECK(blocks[i] != NULL && mi_heap_of(blocks[i]) == h); }
  visit_t v = visit_start(blocks, n);
  CHECK(mi_theap_visit_blocks(t, true, visit_block, &v) && v.blocks == n && visit_found_all(&v));
  CHECK_ERRNO(mi_theap_malloc(t, size_too_large()) == NULL, ENOMEM);
  CHECK_ERRNO(mi_theap_zalloc(t, size_too_large()) == NULL, ENOMEM);
  CHECK_ERRNO(mi_theap_calloc(t, count_overflowing(), 16) == NULL, ENOMEM);
  CHECK_ERRNO(mi_theap_malloc_aligned(t, 100, alignment_invalid()) == NULL, EINVAL);
  CHECK_ERRNO(mi_theap_realloc(t, blocks[0], size_too_large()) == NULL, ENOMEM);
  mi_theap_collect(t, false);
  mi_theap_collect(t, true);
  CHECK(count_theap(t) == n);
  mi_theap_guarded_set_sample_rate(t, 0, 1);
  mi_theap_guarded_set_size_bound(t, 0, 1000);
  mi_heap_destroy(h);
}

/* Each thread has its own theap of one heap; the default set in one thread is that thread's only.
 */
static void* other_thread(void* arg) {
  mi_heap_t* h = arg;
  mi_theap_t* t = mi_heap_theap(h);
  void* p = mi_malloc(10);
  CHECK(mi_heap_of(p) == mi_heap_main());
  mi_free(p);
  void* q = mi_theap_malloc(t, 10);
  CHECK(mi_heap_of(q) == h && count_theap(t) == 1);
  mi_free(q);
  mi_theap_set_default(t); /* and ends with it set */
  q = mi_malloc(10);
  CHECK(mi_heap_of(q) == h);
  mi_free(q);
  return t;
}

static void test_threads(void) {
  mi_heap_t* h = mi_heap_new();
  mi_theap_t* mine = mi_heap_theap(h);
  mi_theap_t* original = mi_theap_set_default(mine);
  void* blocks[3] = {mi_malloc(10), mi_malloc(1000), mi_malloc(100000)};
  mi_theap_set_default(original);
  test_thread_t thread;
  CHECK(thread_start(&thread, other_thread, h));
  void* others = NULL;
  others = thread_join(thread);
  CHECK(others != NULL && others != mine);
  CHECK(count_theap(mine) == 3 && count_blocks(h) == 3);
  for (size_t i = 0; i < 3; i++) { mi_free(blocks[i]); }
  mi_heap_destroy(h);
}

int main(void) {
  test_default();
  test_functions();
  if (HAS_THREADS) { test_threads(); }
  return check_done();
}
