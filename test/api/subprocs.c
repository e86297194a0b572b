/* test: timeout=60 env="MIMALLOC_VISIT_ABANDONED=1" when="threads"
   Sub-processes: threads in them, their heaps, statistics, and their end. */
#define _GNU_SOURCE 1
#include "visit.h"

static bool is_same(mi_subproc_id_t a, mi_subproc_id_t b) { return memcmp(&a, &b, sizeof(a)) == 0; }

typedef struct {
  mi_heap_t* heaps[16];
  size_t count, stop_after;
} heap_list_t;

static bool collect_heap(mi_heap_t* heap, void* arg) {
  heap_list_t* list = arg;
  if (list->count < 16) { list->heaps[list->count] = heap; }
  list->count++;
  return list->count != list->stop_after;
}

static size_t times_in(const heap_list_t* list, const mi_heap_t* heap) {
  size_t times = 0;
  for (size_t i = 0; i < list->count && i < 16; i++) { times += list->heaps[i] == heap ? 1 : 0; }
  return times;
}

static void test_visit_heaps(void) {
  mi_heap_t* a = mi_heap_new();
  mi_heap_t* b = mi_heap_new();
  heap_list_t list = {.count = 0};
  CHECK(mi_subproc_visit_heaps(mi_subproc_main(), collect_heap, &list));
  CHECK(list.count == 3 && times_in(&list, a) == 1 && times_in(&list, b) == 1);
  CHECK(times_in(&list, mi_heap_main()) == 1);
  list = (heap_list_t){.stop_after = 1};
  CHECK(!mi_subproc_visit_heaps(mi_subproc_main(), collect_heap, &list) && list.count == 1);
  mi_heap_delete(a);
  list = (heap_list_t){.count = 0};
  CHECK(mi_subproc_visit_heaps(mi_subproc_main(), collect_heap, &list));
  CHECK(list.count == 2 && times_in(&list, a) == 0);
  mi_heap_destroy(b);
}

typedef struct {
  mi_subproc_id_t subproc;
  mi_heap_t* main_of_main;
  mi_heap_t* main_heap;
  void* left;
} member_t;

static void check_member_stats(mi_subproc_id_t subproc) {
  mi_stats_t stats = {.size = sizeof(mi_stats_t), .version = MI_STAT_VERSION};
  mi_stats_merge();
  CHECK(mi_subproc_stats_get(subproc, &stats));
  CHECK(stats.malloc_normal.current + stats.malloc_huge.current >= 100000);
  CHECK(stats.malloc_normal.current + stats.malloc_huge.current < 4 * MIB);
}

static void* member(void* arg) {
  member_t* m = arg;
  mi_subproc_add_current_thread(m->subproc); /* first thing in the thread */
  CHECK(is_same(mi_subproc_current(), m->subproc));
  m->main_heap = mi_heap_main();
  CHECK(m->main_heap != NULL && m->main_heap != m->main_of_main);
  void* p = mi_malloc(100);
  CHECK(mi_heap_of(p) == m->main_heap);
  mi_heap_t* h = mi_heap_new();
  void* q = mi_heap_malloc(h, 100000);
  fill(q, 100000, 1);
  heap_list_t list = {.count = 0};
  CHECK(mi_subproc_visit_heaps(m->subproc, collect_heap, &list));
  CHECK(list.count == 2 && times_in(&list, h) == 1 && times_in(&list, m->main_heap) == 1);
  check_member_stats(m->subproc);
  mi_heap_delete(h);
  CHECK(is_filled(q, 100000, 1) && mi_heap_of(q) == m->main_heap);
  mi_free(q);
  mi_free(p);
  m->left = mi_malloc(3000); /* for the next thread of this sub-process, or for destroy */
  fill(m->left, 3000, 2);
  return NULL;
}

static void* next_member(void* arg) {
  member_t* m = arg;
  mi_subproc_add_current_thread(m->subproc);
  CHECK(mi_heap_main() == m->main_heap && mi_heap_of(m->left) == m->main_heap);
  CHECK(is_filled(m->left, 3000, 2));
  mi_free(m->left);
  for (int i = 0; i < 1000; i++) {
    void* p = mi_malloc(1000);
    memset(p, 1, 1000);
  }
  return NULL; /* leaves 1 MB */
}

static void run_thread(void* (*body)(void*), void* arg) {
  test_thread_t thread;
  CHECK(thread_start(&thread, body, arg));
  (void)thread_join(thread);
}

static void count_text(const char* message, void* arg) { *(size_t*)arg += strlen(message); }

static void check_statistics(mi_subproc_id_t subproc) {
  mi_stats_t stats = {.size = sizeof(mi_stats_t), .version = MI_STAT_VERSION};
  CHECK(mi_subproc_stats_get(subproc, &stats));
  CHECK(stats.size == sizeof(mi_stats_t) && stats.version == MI_STAT_VERSION);
  CHECK(stats.malloc_normal.current >= 0 && stats.threads.total >= 0);
  mi_stats_t exclusive = {.size = sizeof(mi_stats_t), .version = MI_STAT_VERSION};
  CHECK(mi_subproc_stats_get_exclusive(subproc,
                                       &exclusive)); /* without what heaps have not merged yet */
  CHECK(exclusive.malloc_normal.total <= stats.malloc_normal.total);
  char* json = mi_subproc_stats_get_json(subproc, 0, NULL);
  CHECK(json != NULL && json[0] == '{');
  mi_free(json);
  size_t length = 0;
  mi_subproc_stats_print_out(subproc, count_text, &length);
  CHECK(length > 100);
  length = 0;
  mi_subproc_heap_stats_print_out(subproc, count_text, &length);
  CHECK(length > 100);
}

static void test_one(void) {
  const mi_subproc_id_t subproc = mi_subproc_new();
  CHECK(!is_same(subproc, mi_subproc_main()));
  CHECK(is_same(mi_subproc_current(), mi_subproc_main()));
  member_t m = {.subproc = subproc, .main_of_main = mi_heap_main()};
  run_thread(member, &m);
  run_thread(next_member, &m);
  check_statistics(subproc);
  heap_list_t list = {.count = 0};
  CHECK(mi_subproc_visit_heaps(mi_subproc_main(), collect_heap, &list) && list.count == 1);
  mi_subproc_destroy(subproc);
}

static void* filler(void* arg) {
  mi_subproc_add_current_thread(*(mi_subproc_id_t*)arg);
  for (int i = 0; i < 200; i++) { memset(mi_malloc(100 * KIB), 1, 100 * KIB); }
  return NULL;
}

static void test_destroy_frees(void) {
  size_t resident = 0;
  for (int round = 0; round < 30; round++) { /* 600 MiB if nothing were freed */
    mi_subproc_id_t subproc = mi_subproc_new();
    run_thread(filler, &subproc);
    mi_subproc_destroy(subproc);
    if (round == 3) { resident = resident_bytes(); }
  }
  CHECK(resident_bytes() < resident + 100 * MIB);
}

/* The blocks of its heaps that were deleted are its main heap's, and go with that. */
static void* leave_in_deleted_heap(void* arg) {
  member_t* m = arg;
  mi_subproc_add_current_thread(m->subproc);
  mi_heap_t* heap = mi_heap_new();
  m->left = mi_heap_malloc(heap, 100000);
  mi_heap_delete(heap);
  CHECK(mi_heap_of(m->left) == mi_heap_main());
  return NULL;
}

static void test_destroy_after_delete(void) {
  member_t m = {.subproc = mi_subproc_new()};
  run_thread(leave_in_deleted_heap, &m);
  CHECK(mi_any_heap_contains(m.left));
  mi_subproc_destroy(m.subproc);
  CHECK(!mi_any_heap_contains(m.left));
}

/* Its blocks were in use: that their pages are zero nobody may think. */
static void* fill_pages(void* arg) {
  mi_subproc_add_current_thread(*(mi_subproc_id_t*)arg);
  for (int i = 0; i < 20000; i++) { memset(mi_malloc(64), 0x55, 64); }
  return NULL;
}

static void test_destroyed_is_not_zero(void) {
  mi_subproc_id_t subproc = mi_subproc_new();
  run_thread(fill_pages, &subproc);
  mi_subproc_destroy(subproc);
  for (int i = 0; i < 40000; i++) { CHECK(is_zero(mi_calloc(1, 60), 60)); }
}

/* A thread of another one has used a heap of it, and lets go of that last. */
typedef struct {
  mi_subproc_id_t subproc;
  mi_heap_t* heap;
  test_barrier_t used, destroyed;
} guest_t;

static void* make_heap(void* arg) {
  guest_t* g = arg;
  mi_subproc_add_current_thread(g->subproc);
  g->heap = mi_heap_new();
  return NULL;
}

static void* use_heap(void* arg) {
  guest_t* g = arg;
  mi_free(mi_malloc(8));
  for (int i = 0; i < 100; i++) { mi_free(mi_heap_malloc(g->heap, 100)); }
  barrier_wait(&g->used);
  barrier_wait(&g->destroyed);
  mi_collect(false);
  return NULL;
}

static void test_destroy_before_guest_notices(void) {
  static guest_t g;
  test_thread_t guest;
  barrier_init(&g.used, 2);
  barrier_init(&g.destroyed, 2);
  g.subproc = mi_subproc_new();
  run_thread(make_heap, &g);
  CHECK(thread_start(&guest, use_heap, &g));
  barrier_wait(&g.used);
  mi_subproc_destroy(g.subproc);
  const mi_subproc_id_t next = mi_subproc_new(); /* may be where the other one was */
  barrier_wait(&g.destroyed);
  (void)thread_join(guest);
  mi_stats_t stats = {.size = sizeof(mi_stats_t), .version = MI_STAT_VERSION};
  CHECK(mi_subproc_stats_get(next, &stats));
  CHECK(stats.malloc_normal.total == 0 && stats.pages.total == 0);
  mi_subproc_destroy(next);
}

int main(void) {
  CHECK(is_same(mi_subproc_main(), mi_subproc_current()));
  test_visit_heaps();
  test_one();
  check_statistics(mi_subproc_main());
  test_destroy_frees();
  test_destroy_after_delete();
  test_destroyed_is_not_zero();
  test_destroy_before_guest_notices();
  return check_done();
}
