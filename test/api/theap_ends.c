/* test: timeout=60 when="threads" env="MIMALLOC_GUARDED_SAMPLE_RATE=0"
   What a thread can do with its share of a heap: allocate as the heap functions do, give its pages
   up, also while another thread does it for it, and end it. A sample has a page of its own, which
   nobody owns, so there is none. */
#define _GNU_SOURCE 1
#include "../system.h"
#include "visit.h"

static void test_functions(void) {
  mi_heap_t* h = mi_heap_new();
  mi_theap_t* t = mi_heap_theap(h);
  void* p = mi_theap_zalloc_aligned(t, 1000, 512);
  CHECK(is_aligned(p, 512) && is_zero(p, 1000) && mi_heap_of(p) == h);
  void* q = mi_theap_zalloc(t, 100);
  q = mi_theap_rezalloc(t, q, 50000);
  CHECK(is_zero(q, 50000) && mi_heap_of(q) == h);
  void* r = mi_theap_alloc_new(t, 100);
  void* s = mi_theap_alloc_new_n(t, 10, 100);
  void* u = mi_theap_alloc_new_nothrow(t, 100);
  CHECK(mi_heap_of(r) == h && mi_heap_of(s) == h && mi_heap_of(u) == h);
  CHECK(mi_theap_alloc_new_nothrow(t, size_too_large()) == NULL);
  mi_heap_destroy(h);
}

/* A page that a thread owns is its own, and after it was given up nobody's. */
static void test_owner(void) {
  mi_heap_t* h = mi_heap_new();
  mi_theap_t* t = mi_heap_theap(h);
  void* first = mi_heap_malloc(h, 64);
  void* plain = mi_malloc(64);
  const size_t id = mi_thread_id_of(plain);
  CHECK(id != 0 && mi_thread_id_of(first) == id);
  mi_theap_quiescent_abandon(t);
  CHECK(mi_thread_id_of(first) == 0 && mi_heap_of(first) == h);
  CHECK(mi_thread_id_of(NULL) == 0 && mi_thread_id_of(&h) == 0);
  fill(first, 64, 1);
  void* second = mi_theap_malloc(t, 64); /* the record is of use still */
  CHECK(mi_heap_of(second) == h && mi_heap_theap(h) == t);
  CHECK(is_filled(first, 64, 1));
  mi_free(first);
  mi_free(second);
  mi_free(plain);
  mi_theap_quiescent_abandon(NULL);
  mi_heap_delete(h);
}

/* A record that is gone is made anew when the thread uses the heap again. */
static void test_delete(void) {
  mi_heap_t* h = mi_heap_new();
  void* first = mi_heap_malloc(h, 100);
  fill(first, 100, 3);
  mi_theap_t* t = mi_heap_theap(h);
  mi_theap_t* const original = mi_theap_set_default(t);
  mi_theap_delete(t);
  CHECK(mi_theap_get_default() == original); /* the default was the one that is gone */
  CHECK(mi_heap_of(first) == h && is_filled(first, 100, 3) && count_blocks(h) == 1);
  void* second = mi_heap_malloc(h, 100);
  CHECK(mi_heap_of(second) == h && count_blocks(h) == 2);
  mi_theap_delete(NULL);
  mi_theap_delete(original); /* that of the main heap stays */
  void* third = mi_malloc(100);
  CHECK(mi_heap_of(third) == mi_heap_main() && mi_theap_get_default() == original);
  mi_free(third);
  mi_free(first);
  mi_heap_destroy(h);
}

enum { BLOCKS = 2000 };

typedef struct {
  test_barrier_t barrier;
  mi_theap_t* theap;
  size_t id;
  void* blocks[BLOCKS];
} other_t;

static void* other_thread(void* arg) {
  other_t* other = arg;
  for (size_t i = 0; i < BLOCKS; i++) {
    other->blocks[i] = mi_malloc(16 + i % 3000);
    fill(other->blocks[i], 16, (unsigned)i);
  }
  for (size_t i = 0; i < BLOCKS; i += 2) { mi_free(other->blocks[i]); }
  other->theap = mi_theap_get_default();
  void* newest = mi_malloc(3300);
  other->id = mi_thread_id_of(newest);
  mi_free(newest);
  barrier_wait(&other->barrier);
  barrier_wait(&other->barrier); /* given up meanwhile */
  for (size_t i = 0; i < BLOCKS; i += 2) { other->blocks[i] = mi_malloc(16 + i % 3000); }
  for (size_t i = 0; i < BLOCKS; i++) {
    CHECK(other->blocks[i] != NULL && (i % 2 == 0 || is_filled(other->blocks[i], 16, (unsigned)i)));
    mi_free(other->blocks[i]);
  }
  return NULL;
}

/* Of the blocks that are live: in pages of the other thread. */
static size_t count_owned(const other_t* other) {
  size_t owned = 0;
  for (size_t i = 1; i < BLOCKS; i += 2) {
    owned += mi_thread_id_of(other->blocks[i]) == other->id;
  }
  return owned;
}

static void test_given_up_by_another(void) {
  static other_t other;
  test_thread_t thread;
  barrier_init(&other.barrier, 2);
  CHECK(thread_start(&thread, other_thread, &other));
  barrier_wait(&other.barrier);
  CHECK(count_owned(&other) > 0);
  mi_theap_delete(other.theap); /* not ours to delete */
  CHECK(count_owned(&other) > 0);
  mi_theap_quiescent_abandon(other.theap);
  CHECK(count_owned(&other) == 0);
  barrier_wait(&other.barrier);
  thread_join(thread);
}

int main(void) {
  mi_free(mi_malloc(1));
  test_functions();
  test_owner();
  test_delete();
  test_given_up_by_another();
  return check_done();
}
