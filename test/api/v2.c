/* test: timeout=60 env="MIMALLOC_VISIT_ABANDONED=1" when="threads"
   The names that only the 2.x interface has. */
#define _GNU_SOURCE 1
#include "../system.h"
#include "visit.h"

static void test_default_heap(void) {
  mi_heap_t* backing = mi_heap_get_backing();
  CHECK(backing != NULL && mi_heap_get_default() == backing);
  mi_heap_t* h = mi_heap_new();
  CHECK(mi_heap_set_default(h) == backing && mi_heap_get_default() == h);
  CHECK(mi_heap_get_backing() == backing);
  void* p = mi_malloc(100);
  void* q = mi_calloc(10, 5000);
  CHECK(mi_heap_of(p) == h && mi_heap_of(q) == h);
  CHECK(mi_heap_contains_block(h, p) && mi_heap_check_owned(h, q) && mi_check_owned(p));
  CHECK(!mi_heap_contains_block(mi_heap_main(), p) && !mi_heap_check_owned(mi_heap_main(), p));
  CHECK(!mi_heap_contains_block(h, NULL) && !mi_heap_check_owned(h, &h));
  CHECK(mi_heap_set_default(backing) == h && mi_heap_get_default() == backing);
  void* r = mi_malloc(100);
  CHECK(mi_heap_of(r) == mi_heap_main());
  CHECK(count_blocks(h) == 2);
  mi_free(r);
  mi_heap_delete(h);
  CHECK(mi_heap_of(p) == mi_heap_main());
  mi_free(p);
  mi_free(q);
}

/* As 2.x programs do: the default heap is deleted while it is the default. */
static void test_delete_default(void) {
  mi_heap_t* h = mi_heap_new();
  mi_heap_t* old = mi_heap_set_default(h);
  void* p = mi_malloc(100);
  mi_heap_delete(h);
  CHECK(mi_heap_get_default() == old && old == mi_heap_get_backing());
  void* q = mi_malloc(100);
  CHECK(mi_heap_of(q) == mi_heap_main());
  mi_free(q);
  mi_free(p);
  CHECK(mi_heap_set_default(old) == old);
}

typedef struct {
  test_barrier_t barrier;
  mi_heap_t* backing;
  void* blocks[100];
} other_t;

static void* other_thread(void* arg) {
  other_t* other = arg;
  other->backing = mi_heap_get_backing();
  for (size_t i = 0; i < 100; i++) { other->blocks[i] = mi_malloc(40000 + i); }
  barrier_wait(&other->barrier);
  barrier_wait(&other->barrier);
  for (size_t i = 0; i < 100; i++) { mi_free(other->blocks[i]); }
  return NULL;
}

/* A thread's part of the main heap has its blocks, and no other thread's. */
static void test_parts(void) {
  static other_t other;
  void* own[50];
  test_thread_t thread;
  barrier_init(&other.barrier, 2);
  CHECK(thread_start(&thread, other_thread, &other));
  barrier_wait(&other.barrier);
  mi_heap_t* backing = mi_heap_get_backing();
  CHECK(backing != other.backing);
  for (size_t i = 0; i < 50; i++) { own[i] = mi_heap_malloc(backing, 16 + i * 1000); }
  CHECK(mi_heap_of(own[0]) == mi_heap_main());
  CHECK(mi_heap_contains_block(backing, own[49]) && mi_heap_check_owned(backing, own[0]));
  CHECK(!mi_heap_contains(backing, other.blocks[0]) && !mi_heap_contains(backing, &other));
  CHECK(mi_heap_contains(other.backing, other.blocks[0]));
  CHECK(mi_heap_contains(mi_heap_main(), other.blocks[0]) && mi_check_owned(other.blocks[0]));
  visit_t v = visit_start(own, 50);
  CHECK(mi_heap_visit_blocks(backing, true, visit_block, &v) && visit_found_all(&v));
  v = visit_start(other.blocks, 100);
  CHECK(mi_heap_visit_blocks(backing, true, visit_block, &v) && !visit_found_all(&v));
  v = visit_start(other.blocks, 100);
  CHECK(mi_heap_visit_blocks(other.backing, true, visit_block, &v) && visit_found_all(&v));
  v = visit_start(other.blocks, 100);
  CHECK(mi_heap_visit_blocks(mi_heap_main(), true, visit_block, &v) && visit_found_all(&v));
  for (size_t i = 0; i < 50; i++) { own[i] = mi_heap_realloc(backing, own[i], 3000); }
  mi_heap_collect(backing, true);
  CHECK(mi_heap_theap(backing) == mi_heap_theap(mi_heap_main()));
  mi_stats_t stats = {.size = sizeof(stats), .version = MI_STAT_VERSION};
  CHECK(mi_heap_stats_get(backing, &stats) && stats.pages.current > 0);
  mi_heap_delete(backing); /* as of the main heap: nothing */
  mi_heap_destroy(backing);
  mi_heap_set_numa_affinity(backing, -1);
  for (size_t i = 0; i < 50; i++) { mi_free(own[i]); }
  barrier_wait(&other.barrier);
  thread_join(thread);
}

static void test_new_ex(void) {
  mi_heap_t* h = mi_heap_new_ex(5, true, NULL);
  CHECK(h != NULL);
  mi_heap_guarded_set_sample_rate(h, 0, 1);
  mi_heap_guarded_set_size_bound(h, 0, 100);
  void* p = mi_heap_malloc(h, 100);
  CHECK(mi_heap_of(p) == h);
  mi_heap_destroy(h);
  mi_arena_id_t arena = NULL;
  CHECK(mi_reserve_os_memory_ex(16 * MIB, false, false, true, &arena) == 0);
  h = mi_heap_new_ex(0, false, arena);
  p = mi_heap_malloc(h, 10000);
  CHECK(mi_arena_contains(arena, p));
  mi_free(p);
  mi_heap_delete(h);
}

enum { LEFT = 300 };

static void* leave_blocks(void* arg) {
  void** blocks = arg;
  for (size_t i = 0; i < LEFT; i++) { blocks[i] = mi_malloc(10 + i * 20); }
  return NULL;
}

static void test_abandoned(void) {
  void* blocks[LEFT];
  test_thread_t thread;
  CHECK(thread_start(&thread, leave_blocks, blocks));
  thread_join(thread);
  visit_t v = visit_start(blocks, LEFT);
  CHECK(mi_abandoned_visit_blocks(mi_subproc_main(), -1, true, visit_block, &v));
  CHECK(v.blocks >= LEFT &&
        visit_found_all(&v)); /* and what the thread's own start left, if anything */
  for (size_t i = 0; i < LEFT; i++) { mi_free(blocks[i]); }
}

static void* in_subproc(void* arg) {
  void** p = arg;
  mi_subproc_add_current_thread(*(mi_subproc_id_t*)arg);
  *p = mi_malloc(1000);
  fill(*p, 1000, 1);
  return NULL;
}

static void test_subproc_delete(void) {
  union {
    mi_subproc_id_t subproc;
    void* block;
  } u;
  const mi_subproc_id_t subproc = mi_subproc_new();
  u.subproc = subproc;
  test_thread_t thread;
  CHECK(thread_start(&thread, in_subproc, &u));
  thread_join(thread);
  mi_subproc_delete(subproc);
  CHECK(is_filled(u.block, 1000, 1)); /* its blocks stay valid */
  mi_free(u.block);
}

int main(void) {
  test_default_heap();
  test_delete_default();
  test_parts();
  test_new_ex();
  test_abandoned();
  test_subproc_delete();
  return check_done();
}
