/* test: timeout=120 env="MIMALLOC_VISIT_ABANDONED=1"
   Heaps: every allocating function, several threads in one heap, delete and destroy, ownership,
   visiting. */
#define _GNU_SOURCE 1
#include "../system.h"
#include "api.h"
#include "visit.h"

static void test_every_function(void) {
  mi_heap_t* h = mi_heap_new();
  CHECK(h != NULL && h != mi_heap_main());
  void* blocks[40];
  size_t n = 0;
  blocks[n++] = mi_heap_malloc(h, 100);
  blocks[n++] = mi_heap_malloc(h, 0);
  blocks[n++] = mi_heap_zalloc(h, 3000);
  CHECK(is_zero(blocks[n - 1], 3000));
  blocks[n++] = mi_heap_calloc(h, 30, 100);
  CHECK(is_zero(blocks[n - 1], 3000));
  blocks[n++] = mi_heap_mallocn(h, 7, 9);
  blocks[n++] = mi_heap_malloc_small(h, 24);
  blocks[n++] = mi_heap_zalloc_small(h, 1000);
  CHECK(is_zero(blocks[n - 1], 1000));
  blocks[n++] = mi_heap_realloc(h, mi_heap_malloc(h, 10), 100000);
  blocks[n++] = mi_heap_reallocn(h, mi_heap_malloc(h, 10), 100, 30);
  blocks[n++] = mi_heap_reallocf(h, mi_heap_malloc(h, 10), 4000);
  blocks[n++] = mi_heap_strdup(h, "hello");
  CHECK(strcmp(blocks[n - 1], "hello") == 0);
  blocks[n++] = mi_heap_strndup(h, "hello", 2);
  CHECK(strcmp(blocks[n - 1], "he") == 0);
  blocks[n++] = HAS_PATHS ? mi_heap_realpath(h, "/usr/..", NULL) : mi_heap_strdup(h, "/");
  CHECK(strcmp(blocks[n - 1], "/") == 0);
  blocks[n++] = mi_heap_malloc_aligned(h, 100, 4096);
  CHECK(is_aligned(blocks[n - 1], 4096));
  blocks[n++] = mi_heap_malloc_aligned_at(h, 100, 4096, 8);
  CHECK(is_aligned((char*)blocks[n - 1] + 8, 4096));
  blocks[n++] = mi_heap_zalloc_aligned(h, 5000, 65536);
  CHECK(is_aligned(blocks[n - 1], 65536) && is_zero(blocks[n - 1], 5000));
  blocks[n++] = mi_heap_zalloc_aligned_at(h, 5000, 64, 24);
  CHECK(is_aligned((char*)blocks[n - 1] + 24, 64) && is_zero(blocks[n - 1], 5000));
  blocks[n++] = mi_heap_calloc_aligned(h, 3, 50, 128);
  CHECK(is_aligned(blocks[n - 1], 128) && is_zero(blocks[n - 1], 150));
  blocks[n++] = mi_heap_calloc_aligned_at(h, 3, 50, 128, 50);
  CHECK(is_aligned((char*)blocks[n - 1] + 50, 128) && is_zero(blocks[n - 1], 150));
  blocks[n++] = mi_heap_realloc_aligned(h, NULL, 300, 1024);
  CHECK(is_aligned(blocks[n - 1], 1024));
  blocks[n++] = mi_heap_realloc_aligned_at(h, mi_heap_malloc(h, 10), 300, 1024, 16);
  CHECK(is_aligned((char*)blocks[n - 1] + 16, 1024));
  blocks[n++] = mi_heap_rezalloc(h, mi_heap_zalloc(h, 10), 9000);
  CHECK(is_zero(blocks[n - 1], 9000));
  blocks[n++] = mi_heap_recalloc(h, mi_heap_zalloc(h, 10), 90, 100);
  CHECK(is_zero(blocks[n - 1], 9000));
  blocks[n++] = mi_heap_rezalloc_aligned(h, mi_heap_zalloc_aligned(h, 10, 64), 9000, 64);
  CHECK(is_aligned(blocks[n - 1], 64) && is_zero(blocks[n - 1], 9000));
  blocks[n++] = mi_heap_rezalloc_aligned_at(h, NULL, 9000, 64, 8);
  CHECK(is_aligned((char*)blocks[n - 1] + 8, 64) && is_zero(blocks[n - 1], 9000));
  blocks[n++] = mi_heap_recalloc_aligned(h, NULL, 90, 100, 64);
  CHECK(is_aligned(blocks[n - 1], 64) && is_zero(blocks[n - 1], 9000));
  blocks[n++] = mi_heap_recalloc_aligned_at(h, NULL, 90, 100, 64, 8);
  CHECK(is_aligned((char*)blocks[n - 1] + 8, 64) && is_zero(blocks[n - 1], 9000));
  blocks[n++] = mi_heap_alloc_new(h, 123);
  blocks[n++] = mi_heap_alloc_new_n(h, 12, 10);
  blocks[n++] = mi_heap_malloc_tp(uint64_t, h);
  blocks[n++] = mi_heap_calloc_tp(uint64_t, h, 20);
  CHECK(is_zero(blocks[n - 1], 160));
  blocks[n++] = mi_theap_malloc(mi_heap_theap(h), 77);
  for (size_t i = 0; i < n; i++) {
    CHECK(blocks[i] != NULL && mi_heap_of(blocks[i]) == h && mi_heap_contains(h, blocks[i]));
    CHECK(!mi_heap_contains(mi_heap_main(), blocks[i]));
    CHECK(mi_any_heap_contains(blocks[i]));
  }
  CHECK(count_blocks(h) == n);
  for (size_t i = 0; i < n; i += 2) { mi_free(blocks[i]); }
  CHECK(count_blocks(h) == n / 2);
  mi_heap_set_numa_affinity(h, 0);
  mi_heap_set_numa_affinity(h, -1);
  mi_heap_collect(h, false);
  mi_heap_collect(h, true);
  CHECK(count_blocks(h) == n / 2);
  mi_heap_destroy(h);
}

static void test_errors(void) {
  mi_heap_t* h = mi_heap_new();
  CHECK_ERRNO(mi_heap_malloc(h, size_too_large()) == NULL, ENOMEM);
  CHECK_ERRNO(mi_heap_zalloc(h, size_too_large()) == NULL, ENOMEM);
  CHECK_ERRNO(mi_heap_calloc(h, count_overflowing(), 16) == NULL, ENOMEM);
  CHECK_ERRNO(mi_heap_mallocn(h, count_overflowing(), 16) == NULL, ENOMEM);
  CHECK_ERRNO(mi_heap_malloc_aligned(h, 100, alignment_invalid()) == NULL, EINVAL);
  CHECK_ERRNO(mi_heap_calloc_aligned(h, count_overflowing(), 16, 64) == NULL, ENOMEM);
  if (HAS_PATHS) { CHECK_ERRNO(mi_heap_realpath(h, "/no/such", NULL) == NULL, ENOENT); }
  void* p = mi_heap_malloc(h, 1000);
  fill(p, 1000, 1);
  CHECK_ERRNO(mi_heap_realloc(h, p, size_too_large()) == NULL, ENOMEM);
  CHECK_ERRNO(mi_heap_reallocn(h, p, count_overflowing(), 16) == NULL, ENOMEM);
  CHECK_ERRNO(mi_heap_recalloc(h, p, count_overflowing(), 16) == NULL, ENOMEM);
  CHECK(is_filled(p, 1000, 1) && count_blocks(h) == 1);
  CHECK_ERRNO(mi_heap_reallocf(h, p, size_too_large()) == NULL, ENOMEM);
  CHECK(count_blocks(h) == 0); /* the old block went */
  mi_heap_delete(h);
  void* kept = mi_malloc(100);
  mi_heap_delete(NULL); /* left alone, as the main heap is */
  mi_heap_destroy(NULL);
  mi_heap_delete(mi_heap_main());
  mi_heap_destroy(mi_heap_main());
  CHECK(mi_heap_of(kept) == mi_heap_main());
  mi_free(kept);
}

static void test_ownership(void) {
  int local = 0;
  CHECK(mi_heap_main() != NULL && mi_heap_main() == mi_heap_main());
  CHECK(mi_heap_of(NULL) == NULL && mi_heap_of(&local) == NULL);
  CHECK(!mi_heap_contains(mi_heap_main(), NULL) && !mi_heap_contains(mi_heap_main(), &local));
  CHECK(!mi_any_heap_contains(NULL) && !mi_any_heap_contains(&local));
  CHECK(!mi_check_owned(&local) && !mi_is_in_heap_region(&local) && !mi_is_in_heap_region(NULL));
  void* beyond = (void*)(UINTPTR_MAX - 4095); /* no such address in user space */
  CHECK(mi_heap_of(beyond) == NULL && !mi_any_heap_contains(beyond) &&
        !mi_is_in_heap_region(beyond));
  static const size_t sizes[] = {1, 100, 5000, 100000, 3 * MIB};
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
    void* p = mi_malloc(sizes[i]);
    CHECK(mi_heap_of(p) == mi_heap_main() && mi_heap_contains(mi_heap_main(), p));
    CHECK(mi_any_heap_contains(p) && mi_check_owned(p) && mi_is_in_heap_region(p));
    mi_free(p);
  }
}

/* A block keeps its heap when another function reallocates it in place; when it moves it goes to
 * the heap named. */
static void test_realloc_between_heaps(void) {
  mi_heap_t* a = mi_heap_new();
  mi_heap_t* b = mi_heap_new();
  void* p = mi_heap_malloc(a, 100);
  fill(p, 100, 1);
  p = mi_heap_realloc(b, p, 100000);
  CHECK(is_filled(p, 100, 1) && mi_heap_of(p) == b && count_blocks(a) == 0);
  mi_heap_destroy(a);
  CHECK(is_filled(p, 100, 1));
  mi_heap_destroy(b);
}

/* Also a block that the OS can move. */
static void test_realloc_of_large_between_heaps(void) {
  mi_heap_t* a = mi_heap_new();
  char* p = mi_heap_malloc(a, 40 * MIB);
  fill(p, 1000, 1);
  char* q = mi_realloc(p, 60 * MIB);
  CHECK(q != NULL && is_filled(q, 1000, 1));
  CHECK(mi_heap_of(q) == (q == p ? a : mi_heap_main()));
  mi_heap_destroy(a);
  if (q != p) {
    CHECK(is_filled(q, 1000, 1));
    mi_free(q);
  }
}

/* Another thread ends the heap that a thread's plain functions use: they go on in the main heap. */
static void* end_heap(void* arg) {
  mi_heap_t** heap = arg;
  heap[1] == NULL ? mi_heap_delete(heap[0]) : mi_heap_destroy(heap[0]);
  return NULL;
}

static void test_default_ended_by_other(bool destroy) {
  static const size_t sizes[] = {30, 3000, 30000, 100000, 3 * MIB};
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
    mi_heap_t* heap[2] = {mi_heap_new(), NULL};
    test_thread_t thread;
    heap[1] = destroy ? heap[0] : NULL;
    CHECK(mi_heap_set_default(heap[0]) == mi_heap_get_backing());
    void* left = mi_malloc(50);
    CHECK(mi_heap_of(left) == heap[0]);
    CHECK(thread_start(&thread, end_heap, heap));
    (void)thread_join(thread);
    for (int n = 0; n < 20; n++) {
      void* p = n % 3 == 0   ? mi_malloc(sizes[i])
                : n % 3 == 1 ? mi_zalloc(sizes[i])
                             : mi_malloc_aligned(sizes[i], 1 << 15);
      CHECK(p != NULL && mi_heap_of(p) == mi_heap_main());
      p = mi_realloc(p, sizes[i] * 3);
      CHECK(p != NULL && mi_heap_of(p) == mi_heap_main());
      mi_free(p);
    }
    if (!destroy) { mi_free(left); }
    CHECK(mi_heap_get_default() == mi_heap_get_backing());
  }
}

/* The arena's function refuses once; meanwhile another thread ends the default heap. */
typedef struct {
  mi_heap_t* heap;
  test_barrier_t ready, asked, ended;
  bool refuse;
} refusal_t;

static bool commit_once_refused(bool commit, void* start, size_t size, bool* is_zero, void* arg) {
  refusal_t* r = arg;
  (void)start, (void)size;
  if (is_zero != NULL) { *is_zero = false; }
  if (!commit || !r->refuse) { return true; }
  r->refuse = false;
  barrier_wait(&r->asked);
  barrier_wait(&r->ended);
  return false;
}

static void* end_when_asked(void* arg) {
  refusal_t* r = arg;
  mi_free(mi_malloc(1));
  barrier_wait(&r->ready);
  barrier_wait(&r->asked);
  mi_heap_delete(r->heap);
  barrier_wait(&r->ended);
  return NULL;
}

static void test_default_ended_while_out_of_memory(size_t size) {
  enum { GIVEN = 8 * MIB };
  static refusal_t r;
  char* memory = os_memory(2 * GIVEN);
  memory += (0 - (uintptr_t)memory) & (GIVEN - 1);
  mi_arena_id_t arena = NULL;
  r.refuse = false;
  CHECK(mi_manage_memory(memory, GIVEN, false, false, false, -1, true, commit_once_refused, &r,
                         &arena));
  r.heap = mi_heap_new_in_arena(arena);
  barrier_init(&r.ready, 2);
  barrier_init(&r.asked, 2);
  barrier_init(&r.ended, 2);
  test_thread_t thread;
  CHECK(thread_start(&thread, end_when_asked, &r));
  mi_heap_t* before = mi_heap_set_default(r.heap);
  CHECK(before == mi_heap_get_backing());
  barrier_wait(&r.ready); /* what it needed first would have had to wait */
  r.refuse = true;
  void* p = mi_malloc(size);
  (void)thread_join(thread);
  CHECK(!r.refuse);
  CHECK(p != NULL && mi_heap_of(p) == mi_heap_main() && !mi_arena_contains(arena, p));
  CHECK(mi_heap_get_default() == mi_heap_get_backing());
  mi_free(p);
}

enum { THREADS = 4, PER_THREAD = 500 };

typedef struct {
  mi_heap_t* heap;
  char** blocks;
  unsigned id;
} worker_t;

static size_t worker_size(size_t i) { return 1 + (i * 37) % 3000 + (i % 100 == 0 ? 200000 : 0); }

static void* worker_allocate(void* arg) {
  worker_t* w = arg;
  for (size_t i = 0; i < PER_THREAD; i++) {
    w->blocks[i] = mi_heap_malloc(w->heap, worker_size(i));
    fill(w->blocks[i], worker_size(i), w->id);
  }
  return NULL;
}

static void run_workers(mi_heap_t* h, char* blocks[THREADS][PER_THREAD]) {
  test_thread_t threads[THREADS];
  worker_t workers[THREADS];
  for (unsigned t = 0; t < THREADS; t++) {
    workers[t] = (worker_t){.heap = h, .blocks = blocks[t], .id = t};
    CHECK(thread_start(&threads[t], worker_allocate, &workers[t]));
  }
  for (unsigned t = 0; t < THREADS; t++) { (void)thread_join(threads[t]); }
}

static bool workers_blocks_intact(mi_heap_t* h, char* blocks[THREADS][PER_THREAD]) {
  for (unsigned t = 0; t < THREADS; t++) {
    for (size_t i = 0; i < PER_THREAD; i++) {
      if (mi_heap_of(blocks[t][i]) != h || !is_filled(blocks[t][i], worker_size(i), t)) {
        return false;
      }
    }
  }
  return true;
}

static void free_all(char* blocks[THREADS][PER_THREAD]) {
  for (size_t t = 0; t < THREADS; t++) {
    for (size_t i = 0; i < PER_THREAD; i++) { mi_free(blocks[t][i]); }
  }
}

static void test_threads_share_and_delete(void) {
  char* blocks[THREADS][PER_THREAD];
  mi_heap_t* h = mi_heap_new();
  run_workers(h, blocks);
  CHECK(workers_blocks_intact(h, blocks));
  CHECK(count_abandoned(h) == THREADS * PER_THREAD);
  CHECK(count_blocks(h) == THREADS * PER_THREAD);
  const size_t main_before = count_blocks(mi_heap_main());
  mi_heap_delete(h);
  CHECK(workers_blocks_intact(mi_heap_main(),
                              blocks)); /* they moved to the main heap, and are valid */
  CHECK(count_blocks(mi_heap_main()) == main_before + THREADS * PER_THREAD);
  visit_t v = visit_start((void**)&blocks[0][0], THREADS * PER_THREAD);
  CHECK(mi_heap_visit_blocks(mi_heap_main(), true, visit_block, &v));
  CHECK(visit_found_all(&v));
  free_all(blocks);
  CHECK(count_blocks(mi_heap_main()) == main_before);
}

static void test_threads_share_and_destroy(void) {
  char* blocks[THREADS][PER_THREAD];
  size_t resident = 0;
  for (int round = 0; round < 16; round++) { /* 700 MiB if nothing were freed */
    mi_heap_t* h = mi_heap_new();
    run_workers(h, blocks);
    void* big = mi_heap_malloc(h, 40 * MIB);
    memset(big, 1, 40 * MIB);
    CHECK(workers_blocks_intact(h, blocks));
    mi_heap_destroy(h);
    CHECK(!mi_any_heap_contains(big));
    if (round == 3) { resident = resident_bytes(); }
  }
  CHECK(resident_bytes() < resident + 150 * MIB);
}

/* When its blocks are freed too, a deleted heap leaves nothing behind: nor does a destroyed one. */
static void test_end_leaves_nothing(bool destroy) {
  enum { COUNT = 60 };
  uint64_t seed = 5;
  size_t resident = 0;
  for (int round = 0; round < 3000; round++) {
    mi_heap_t* h = mi_heap_new();
    void* blocks[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
      const size_t size = 1 + random_below(&seed, (size_t)2 << random_below(&seed, 12));
      blocks[i] = mi_heap_malloc(h, size);
      memset(blocks[i], 1, size);
    }
    for (size_t i = 0; i < COUNT; i += 2) { mi_free(blocks[i]); }
    if (destroy) {
      mi_heap_destroy(h);
    } else {
      mi_heap_delete(h);
      for (size_t i = 1; i < COUNT; i += 2) { mi_free(blocks[i]); }
    }
    if (round == 100) { resident = resident_bytes(); }
  }
  CHECK(resident_bytes() < resident + 8 * MIB);
}

/* Frees of other threads are on their way when the count is taken: they are no live blocks. */
static void* worker_free_odd(void* arg) {
  worker_t* w = arg;
  for (size_t i = 1; i < PER_THREAD; i += 2) { mi_free(w->blocks[i]); }
  return NULL;
}

static void test_visit_after_remote_free(void) {
  char* blocks[PER_THREAD];
  mi_heap_t* h = mi_heap_new();
  worker_t w = {.heap = h, .blocks = blocks, .id = 5};
  worker_allocate(&w);
  CHECK(count_blocks(h) == PER_THREAD && count_abandoned(h) == 0);
  test_thread_t thread;
  CHECK(thread_start(&thread, worker_free_odd, &w));
  (void)thread_join(thread);
  CHECK(count_blocks(h) == PER_THREAD / 2);
  for (size_t i = 1; i < PER_THREAD; i++) {
    blocks[i / 2] = blocks[i - i % 2]; /* the even ones, packed */
  }
  visit_t v = visit_start((void**)blocks, PER_THREAD / 2);
  CHECK(mi_heap_visit_blocks(h, true, visit_block, &v));
  CHECK(visit_found_all(&v) && v.blocks == PER_THREAD / 2 && v.area_used == PER_THREAD / 2);
  v = visit_start(NULL, 0);
  CHECK(mi_heap_visit_blocks(h, false, visit_block, &v)); /* areas only */
  CHECK(v.blocks == 0 && v.areas > 0 && v.area_used == PER_THREAD / 2);
  v = visit_start(NULL, 0);
  v.stop_after = 10;
  CHECK(!mi_heap_visit_blocks(h, true, visit_block, &v)); /* the visitor may stop it */
  CHECK(v.calls == 10);
  mi_heap_destroy(h);
}

static void test_many_heaps(void) {
  enum { HEAPS = 1100 };
  static mi_heap_t* heaps[HEAPS];
  static char* blocks[HEAPS];
  uint64_t seed = 2026;
  for (unsigned i = 0; i < HEAPS; i++) {
    heaps[i] = mi_heap_new();
    CHECK(heaps[i] != NULL);
    blocks[i] = mi_heap_malloc(heaps[i], 1 + i);
    fill(blocks[i], 1 + i, i);
  }
  unsigned order[HEAPS];
  for (unsigned i = 0; i < HEAPS; i++) {
    const size_t j = random_below(&seed, i + 1);
    order[i] = order[j];
    order[j] = i;
  }
  for (unsigned i = 0; i < HEAPS; i++) {
    const unsigned k = order[i];
    CHECK(mi_heap_of(blocks[k]) == heaps[k] && is_filled(blocks[k], 1 + k, k));
    if (k % 2 == 0) {
      mi_heap_destroy(heaps[k]);
    } else {
      mi_heap_delete(heaps[k]);
      CHECK(mi_heap_of(blocks[k]) == mi_heap_main() && is_filled(blocks[k], 1 + k, k));
    }
  }
  for (unsigned i = 1; i < HEAPS; i += 2) {
    CHECK(is_filled(blocks[i], 1 + i, i));
    mi_free(blocks[i]);
  }
}

static void test_exclusive_arena(void) {
  mi_arena_id_t arena = NULL;
  CHECK(mi_reserve_os_memory_ex(64 * MIB, false, false, true, &arena) == 0);
  mi_heap_t* h = mi_heap_new_in_arena(arena);
  CHECK(h != NULL);
  void* first = NULL;
  size_t total = 0;
  for (;;) {
    errno = 0;
    void** p = mi_heap_malloc(h, 300 * KIB);
    if (p == NULL) { break; }
    CHECK(mi_arena_contains(arena, p));
    *p = first;
    first = p;
    total += 300 * KIB;
    if (total > 80 * MIB) { break; }
  }
  CHECK(errno == ENOMEM && total > 32 * MIB && total <= 64 * MIB);
  void* other = mi_malloc(300 * KIB);
  CHECK(other != NULL && !mi_arena_contains(arena, other)); /* exclusive: no other heap gets in */
  mi_free(other);
  while (first != NULL) {
    void* next = *(void**)first;
    mi_free(first);
    first = next;
  }
  void* short_block = mi_heap_malloc(h, 10);
  CHECK(short_block != NULL && mi_arena_contains(arena, short_block));
  mi_heap_destroy(h);
}

/* A block that grows is given room to grow on, but not where only the block itself fits. */
static void test_realloc_without_room(void) {
  mi_arena_id_t arena = NULL;
  CHECK(mi_reserve_os_memory_ex(64 * MIB, false, false, true, &arena) == 0);
  mi_heap_t* h = mi_heap_new_in_arena(arena);
  char* p = mi_heap_malloc(h, MIB);
  fill(p, MIB, 3);
  CHECK(mi_heap_malloc(h, 100000) != NULL); /* is in the way */
  p = mi_heap_realloc(h, p, 54 * MIB);
  CHECK(p != NULL && mi_arena_contains(arena, p) && is_filled(p, MIB, 3));
  mi_heap_destroy(h);
}

static void test_under_utilized(void) {
  enum { COUNT = 20000 };
  static void* blocks[COUNT];
  mi_heap_t* h = mi_heap_new();
  for (size_t i = 0; i < COUNT; i++) { blocks[i] = mi_heap_malloc(h, 64); }
  CHECK(!mi_unsafe_heap_page_is_under_utilized(h, blocks[0], 50)); /* its page is full */
  size_t sparse = 0;
  for (size_t i = 0; i < COUNT; i++) {
    if (i % 50 != 0) { mi_free(blocks[i]); }
  }
  for (size_t i = 0; i < COUNT; i += 50) {
    sparse += mi_unsafe_heap_page_is_under_utilized(h, blocks[i], 50) ? 1 : 0;
  }
  CHECK(sparse > COUNT / 50 / 2);
  mi_heap_destroy(h);
}

static void count_text(const char* message, void* arg) { *(size_t*)arg += strlen(message); }

static void test_statistics(void) {
  mi_heap_t* h = mi_heap_new();
  void* p = mi_heap_malloc(h, 10000);
  mi_stats_t stats = {.size = sizeof(mi_stats_t), .version = MI_STAT_VERSION};
  CHECK(mi_heap_stats_get(h, &stats));
  CHECK(stats.malloc_normal.current + stats.malloc_huge.current >= 10000);
  CHECK(stats.malloc_normal.current + stats.malloc_huge.current < 100000); /* this heap's only */
  char* json = mi_heap_stats_get_json(h, 0, NULL);
  CHECK(json != NULL && json[0] == '{');
  mi_free(json);
  size_t length = 0;
  mi_heap_stats_print_out(h, count_text, &length);
  CHECK(length > 100);
  mi_heap_stats_merge_to_subproc(h);
  mi_free(p);
  mi_heap_delete(h);
}

static bool overwrite(const mi_heap_t* heap, const mi_heap_area_t* area, void* block,
                      size_t block_size, void* arg) {
  (void)heap, (void)area;
  if (block != NULL) {
    CHECK(block_size <= mi_usable_size(block));
    memset(block, 1, block_size);
    *(size_t*)arg += 1;
  }
  return true;
}

/* A visitor may write to what it is shown, all of it: in debug builds what was asked for. */
static void test_visitor_writes(void) {
  static const size_t sizes[] = {1, 20, 24, 1000, 70000, 3 * MIB};
  enum { COUNT = sizeof(sizes) / sizeof(sizes[0]) };
  mi_heap_t* heap = mi_heap_new();
  void* blocks[COUNT];
  size_t visited = 0;
  for (size_t i = 0; i < COUNT; i++) { blocks[i] = mi_heap_malloc(heap, sizes[i]); }
  CHECK(mi_heap_visit_blocks(heap, true, overwrite, &visited) && visited == COUNT);
  for (size_t i = 0; i < COUNT; i++) { mi_free(blocks[i]); }
  mi_heap_delete(heap);
}

int main(void) {
  test_every_function();
  test_errors();
  test_ownership();
  test_realloc_between_heaps();
  test_realloc_of_large_between_heaps();
  if (HAS_THREADS) {
    test_default_ended_by_other(false);
    test_default_ended_by_other(true);
    test_default_ended_while_out_of_memory(100);
    test_default_ended_while_out_of_memory(100000);
    test_threads_share_and_delete();
    test_threads_share_and_destroy();
    test_visit_after_remote_free();
  }
  test_end_leaves_nothing(false);
  test_end_leaves_nothing(true);
  test_many_heaps();
  test_exclusive_arena();
  test_realloc_without_room();
  test_under_utilized();
  test_visitor_writes();
  test_statistics();
  return check_done();
}
