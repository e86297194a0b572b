/* What a process does with the library while OS calls fail. Each scenario runs twice in a process:
   first with failing calls, when a function may say that there is no memory, in the way that
   mimalloc.h documents; then with none, when it may not. Either way every block keeps its content,
   zeroed memory is zero and aligned blocks are aligned. A scenario leaves no block behind. */
#ifndef TEST_FAULT_SCENARIOS_H
#define TEST_FAULT_SCENARIOS_H

#include "inject.h" /* first: it says which system interfaces are wanted */

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "../../include/mimalloc-stats.h"
#include "../../include/mimalloc.h"
#include "../check.h"

/* ---- Blocks with a content ---- */

enum { DENSE = 4096, STRIDE = 16384 }; /* STRIDE: a slice of the library's */

typedef struct item {
  uint8_t* p;
  size_t size;
  uint8_t tag;
} item_t;

/* Visits all bytes of a small block; of a large one its edges and a byte in each STRIDE. */
static size_t item_next(const item_t* item, size_t i) {
  const bool sparse = i >= DENSE && i + DENSE < item->size;
  return sparse ? (i / STRIDE + 1) * STRIDE : i + 1;
}

static uint8_t item_byte(const item_t* item, size_t i) { return (uint8_t)(item->tag + i * 7); }

static void item_fill(const item_t* item) {
  for (size_t i = 0; i < item->size; i = item_next(item, i)) { item->p[i] = item_byte(item, i); }
}

static bool item_intact_to(const item_t* item, size_t end) {
  for (size_t i = 0; i < end; i = item_next(item, i)) {
    if (item->p[i] != item_byte(item, i)) { return false; }
  }
  return true;
}

static bool item_intact(const item_t* item) { return item_intact_to(item, item->size); }

static bool is_all_zero(const uint8_t* p, size_t size) {
  return size == 0 || (p[0] == 0 && memcmp(p, p + 1, size - 1) == 0);
}

/* A null pointer is a result only while calls fail, and errno says why. */
static void* or_no_memory(void* p, int error) {
  if (p == NULL) {
    CHECK(atomic_load(&fault_armed));
    CHECK(error == ENOMEM);
  }
  return p;
}

/* Around the call, errno is cleared and read. */
#define GET(call) (errno = 0, fault_got = (call), or_no_memory(fault_got, errno))
static _Thread_local void* fault_got;

static item_t item_of(void* p, size_t size, size_t tag) {
  const item_t item = {.p = p, .size = p == NULL ? 0 : size, .tag = (uint8_t)(tag * 31 + 5)};
  if (p != NULL) { CHECK(mi_usable_size(p) >= size); }
  item_fill(&item);
  return item;
}

static item_t item_new(size_t size, size_t tag) { return item_of(GET(mi_malloc(size)), size, tag); }

/* free keeps errno, also when the OS refuses what it wants to do. */
static void item_free(item_t* item) {
  CHECK(item_intact(item));
  errno = 4321;
  mi_free(item->p);
  CHECK(errno == 4321);
  *item = (item_t){0};
}

static void items_free(item_t* items, size_t count) {
  for (size_t i = 0; i < count; i += 2) { item_free(&items[i]); }
  for (size_t i = 1; i < count; i += 2) { item_free(&items[i]); }
}

/* ---- Scenarios ---- */

static void scenario_small(void) {
  enum { COUNT = 700 };
  item_t items[COUNT];
  for (size_t i = 0; i < COUNT; i++) { items[i] = item_new(1 + (i * 37) % 1500, i); }
  for (size_t i = 0; i < COUNT; i += 2) {
    item_free(&items[i]);
    items[i] = item_new((i * 101) % 3000, i + 1);
  }
  for (size_t i = 0; i < COUNT; i++) { CHECK(item_intact(&items[i])); }
  items_free(items, COUNT);
}

static void scenario_large(void) {
  static const size_t kib[] = {9, 20, 33, 64, 100, 300, 513, 1024, 3000, 9000};
  enum { SIZES = sizeof(kib) / sizeof(kib[0]), COUNT = 2 * SIZES + 1 };
  item_t items[COUNT];
  for (size_t i = 0; i < COUNT; i++) { items[i] = item_new(kib[i % SIZES] * 1024 + i, i); }
  for (size_t i = 0; i < COUNT; i += 3) {
    item_free(&items[i]);
    items[i] = item_new(kib[(i + 5) % SIZES] * 1024, i);
  }
  item_t biggest = item_new((size_t)24 << 20, COUNT);
  items_free(items, COUNT);
  item_free(&biggest);
}

static void scenario_aligned(void) {
  item_t items[80];
  size_t count = 0;
  for (size_t align = 16; align <= ((size_t)4 << 20); align *= 4) {
    const size_t sizes[] = {1, align / 2 + 3, align + 1, 70000};
    for (size_t i = 0; i < 4; i++) {
      void* p = GET(mi_malloc_aligned(sizes[i], align));
      CHECK(((uintptr_t)p & (align - 1)) == 0);
      items[count] = item_of(p, sizes[i], count);
      count++;
      p = GET(mi_malloc_aligned_at(sizes[i] + 24, align, 24));
      CHECK(p == NULL || (((uintptr_t)p + 24) & (align - 1)) == 0);
      items[count] = item_of(p, sizes[i] + 24, count);
      count++;
    }
    void* p = &items;
    errno = 4321;
    const int error = mi_posix_memalign(&p, align, align * 3);
    CHECK(errno == 4321);
    CHECK(error == 0 || (error == ENOMEM && p == &items && atomic_load(&fault_armed)));
    if (error == 0) { mi_free(p); }
  }
  items_free(items, count);
}

static void check_zeroed(uint8_t* p, size_t size) { CHECK(p == NULL || is_all_zero(p, size)); }

/* Zeroed memory of sizes that were full of other content just before. */
static void scenario_zero(void) {
  static const size_t sizes[] = {16, 200, 1000, 5000, 30000, 70000, 400000, 1000000};
  enum { COUNT = 20 };
  item_t items[COUNT];
  for (int round = 0; round < 2; round++) {
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
      const size_t count = sizes[s] > 100000 ? 2 : COUNT;
      for (size_t i = 0; i < count; i++) {
        void* p = GET(mi_malloc(sizes[s]));
        if (p != NULL) { memset(p, 0xEE, sizes[s]); }
        items[i] = (item_t){.p = p};
      }
      items_free(items, count);
      if (round == 1) { mi_collect(true); }
      for (size_t i = 0; i < count; i++) {
        void* p = i % 3 == 0   ? GET(mi_calloc(sizes[s] / 8, 8))
                  : i % 3 == 1 ? GET(mi_zalloc(sizes[s]))
                               : GET(mi_zalloc_aligned(sizes[s], 256));
        check_zeroed(p, sizes[s] / 8 * 8);
        items[i] = item_of(p, sizes[s], i);
      }
      items_free(items, count);
    }
  }
}

/* Grows a block step by step; where that fails, the block is as it was. */
static void grow(item_t* item, size_t most, bool zero) {
  for (size_t size = item->size + 1; size < most; size += size / 2 + 1) {
    uint8_t* p = zero ? GET(mi_rezalloc(item->p, size)) : GET(mi_realloc(item->p, size));
    if (p == NULL) {
      CHECK(item_intact(item));
      continue;
    }
    const size_t old_size = item->size;
    *item = (item_t){.p = p, .size = size, .tag = item->tag};
    CHECK(item_intact_to(item, old_size < DENSE ? old_size : DENSE));
    const size_t middle = old_size / 2 / STRIDE * STRIDE; /* sparsely filled: that byte is */
    CHECK(p[middle] == item_byte(item, middle));
    item_fill(item);
  }
}

static void shrink(item_t* item) {
  for (size_t size = item->size / 2; size > 100; size /= 3) {
    uint8_t* p = GET(mi_realloc(item->p, size));
    if (p == NULL) { continue; }
    *item = (item_t){.p = p, .size = size, .tag = item->tag};
    CHECK(item_intact_to(item, size < DENSE ? size : DENSE));
    item_fill(item);
  }
}

static void scenario_realloc(void) {
  static const size_t most[] = {3000, 200000, 12 << 20};
  for (size_t i = 0; i < 3; i++) {
    item_t item = item_of(GET(mi_zalloc(16)), 16, i);
    item_t other = item_new(100, i);
    if (item.p != NULL) { grow(&item, most[i], false); }
    shrink(&item);
    item_free(&item);
    item_free(&other);
  }
  /* what rezalloc adds is zero */
  uint8_t* zeroed = GET(mi_zalloc(10));
  for (size_t size = 11; zeroed != NULL && size < 2000000; size += size) {
    uint8_t* p = GET(mi_rezalloc(zeroed, size));
    if (p != NULL) { zeroed = p; }
    CHECK(p == NULL || is_all_zero(p, size));
  }
  mi_free(zeroed);
  /* reallocf frees what it cannot grow; reallocarr leaves the pointer alone */
  void* p = GET(mi_malloc(100));
  if (p != NULL) { mi_free(GET(mi_reallocf(p, 5 << 20))); }
  item_t item = item_new(300, 9);
  void* array = item.p;
  const int error = item.p == NULL ? ENOMEM : mi_reallocarr(&array, 1 << 16, 50);
  CHECK(error == 0 || (error == ENOMEM && array == item.p && atomic_load(&fault_armed)));
  item.p = array;
  if (item.p != NULL) { CHECK(mi_expand(item.p, 300) == item.p); }
  item_free(&item);
}

static bool count_block(const mi_heap_t* heap, const mi_heap_area_t* area, void* block, size_t size,
                        void* count) {
  (void)heap, (void)area, (void)size;
  *(size_t*)count += block != NULL;
  return true;
}

static void scenario_heaps(void) {
  enum { HEAPS = 3, COUNT = 150 };
  item_t items[HEAPS][COUNT];
  mi_heap_t* heaps[HEAPS];
  size_t live[HEAPS] = {0};
  for (size_t h = 0; h < HEAPS; h++) {
    heaps[h] = mi_heap_new();
    CHECK(heaps[h] != NULL || atomic_load(&fault_armed));
    for (size_t i = 0; i < COUNT; i++) {
      const size_t size = i % 50 == 49 ? 300000 : 1 + i * 29 % 5000;
      items[h][i] = (item_t){0};
      if (heaps[h] == NULL) { continue; }
      items[h][i] = item_of(GET(mi_heap_malloc(heaps[h], size)), size, i + h);
      live[h] += items[h][i].p != NULL;
      CHECK(items[h][i].p == NULL || mi_heap_contains(heaps[h], items[h][i].p));
    }
  }
  for (size_t h = 0; h < HEAPS; h++) {
    size_t seen = 0;
    if (heaps[h] == NULL) { continue; }
    CHECK(mi_heap_visit_blocks(heaps[h], true, count_block, &seen));
    CHECK(seen == live[h]);
  }
  for (size_t h = 0; h < HEAPS; h++) {
    for (size_t i = 0; i < COUNT; i++) { CHECK(item_intact(&items[h][i])); }
  }
  mi_heap_delete(heaps[0]); /* its blocks stay */
  items_free(items[0], COUNT);
  mi_heap_destroy(heaps[1]);
  items_free(items[2], COUNT);
  mi_heap_collect(heaps[2], true);
  mi_heap_delete(heaps[2]);
}

static bool commit_or_fail(bool commit, void* start, size_t size, bool* is_zero, void* arg) {
  (void)commit, (void)start, (void)size, (void)is_zero, (void)arg;
  return !fault_hits(FAULT_COMMIT);
}

static void use_arena(mi_arena_id_t arena) {
  enum { COUNT = 60 };
  item_t items[COUNT];
  mi_heap_t* heap = mi_heap_new_in_arena(arena);
  CHECK(heap != NULL || atomic_load(&fault_armed));
  if (heap == NULL) { return; }
  for (size_t i = 0; i < COUNT; i++) {
    const size_t size = i % 20 == 19 ? 700000 : 1 + i * 997 % 40000;
    void* p = GET(mi_heap_malloc(heap, size));
    CHECK(p == NULL || mi_arena_contains(arena, p));
    items[i] = item_of(p, size, i);
  }
  items_free(items, COUNT);
  mi_heap_collect(heap, true);
  mi_heap_delete(heap);
}

static void scenario_arenas(void) {
  enum { BYTES = 24 << 20 };
  for (int committed = 0; committed < 2; committed++) {
    mi_arena_id_t arena = NULL;
    const int error = mi_reserve_os_memory_ex(BYTES, committed == 1, false, true, &arena);
    CHECK(error == 0 || atomic_load(&fault_armed));
    CHECK((error == 0) == (arena != NULL));
    if (error == 0) { use_arena(arena); }
  }
  /* memory of our own: given, committed by a function, never given back by the library */
  void* mine = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mi_arena_id_t arena = NULL;
  const bool taken =
      mi_manage_memory(mine, BYTES, false, false, true, -1, true, commit_or_fail, NULL, &arena);
  CHECK(taken || atomic_load(&fault_armed));
  if (taken) {
    use_arena(arena);
    mi_option_set(mi_option_purge_delay, 0); /* decommits as blocks are freed */
    use_arena(arena);
    mi_option_set(mi_option_purge_delay, 1000);
  }
  (void)mi_reserve_huge_os_pages_at(1, 0, 10); /* succeeds where the machine has such pages */
  scenario_small();
}

enum { THREADS = 4, EACH = 60 };
static item_t thread_items[THREADS][EACH];
static pthread_barrier_t thread_barrier;

/* Allocates, frees what the next thread allocated, and leaves half of it to the main thread. */
static void* thread_work(void* arg) {
  const size_t self = (size_t)(uintptr_t)arg, other = (self + 1) % THREADS;
  for (size_t i = 0; i < EACH; i++) {
    thread_items[self][i] = item_new(i % 20 == 19 ? 200000 : 1 + (i * 53 + self) % 4000, i + self);
  }
  pthread_barrier_wait(&thread_barrier);
  for (size_t i = 0; i < EACH; i += 2) { item_free(&thread_items[other][i]); }
  item_t own = item_new(5000, self);
  item_free(&own);
  if (self == 0) { mi_collect(true); }
  return NULL;
}

static void scenario_threads(void) {
  for (int round = 0; round < 2; round++) {
    pthread_t threads[THREADS];
    pthread_barrier_init(&thread_barrier, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++) {
      if (pthread_create(&threads[i], NULL, thread_work, (void*)(uintptr_t)i) != 0) { _exit(3); }
    }
    for (size_t i = 0; i < THREADS; i++) { pthread_join(threads[i], NULL); }
    pthread_barrier_destroy(&thread_barrier);
    if (round == 0) { scenario_small(); } /* among the pages that they left */
    for (size_t i = 0; i < THREADS; i++) { items_free(thread_items[i], EACH); }
  }
  mi_collect(true);
}

static void* short_thread(void* arg) {
  item_t item = item_new(1 + (size_t)(uintptr_t)arg % 2000, 1);
  item_free(&item);
  return NULL;
}

/* Whose first call is a free, of blocks of another thread, whose pages are full. */
static void* freeing_thread(void* arg) {
  (void)arg;
  items_free(thread_items[0], EACH);
  return NULL;
}

static void run_thread(void* (*run)(void*), size_t number) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, (void*)(uintptr_t)number) != 0) { _exit(3); }
  pthread_join(thread, NULL);
}

static void scenario_short_threads(void) {
  for (size_t i = 0; i < 30; i++) { run_thread(short_thread, i * 97); }
  for (size_t size = 4000; size < 80000; size *= 3) {
    for (size_t i = 0; i < EACH; i++) { thread_items[0][i] = item_new(size, i); }
    run_thread(freeing_thread, 0);
  }
}

/* More is unused than stays: pieces go back by one call, or one by one if that is refused. */
static void scenario_shrink(void) {
  enum { COUNT = 60 };
  item_t items[COUNT];
  for (size_t i = 0; i < COUNT; i++) { items[i] = item_new(300000, i); }
  items_free(items, COUNT); /* each second one first */
}

/* Memory goes back to the OS at once, by decommit and by reset: more calls that may be refused. */
static void scenario_purge(void) {
  enum { COUNT = 9 };
  item_t items[COUNT];
  mi_option_set(mi_option_purge_delay, 0);
  for (long decommits = 1; decommits >= 0; decommits--) {
    mi_option_set(mi_option_purge_decommits, decommits);
    for (size_t round = 0; round < 2; round++) {
      for (size_t i = 0; i < COUNT; i++) { items[i] = item_new((size_t)20000 << i % 6, i); }
      item_free(&items[COUNT / 2]);
      items_free(items, COUNT);
      if (round == 1) { mi_collect(true); }
      for (size_t i = 0; i < COUNT; i++) {
        const size_t size = (size_t)30000 << i % 5;
        void* p = GET(mi_zalloc(size));
        check_zeroed(p, size);
        items[i] = item_of(p, size, i);
      }
      items_free(items, COUNT);
    }
  }
  mi_option_set(mi_option_purge_decommits, 1);
  mi_collect(true);
  scenario_small();
}

/* Mappings of their own, larger than an arena. */
static void scenario_huge(void) {
  static const size_t mib[] = {70, 120};
  enum { COUNT = 2 };
  item_t items[COUNT];
  for (size_t i = 0; i < COUNT; i++) { items[i] = item_of(GET(mi_malloc(mib[i] << 20)), 5000, i); }
  for (size_t i = 0; i < COUNT; i++) {
    if (items[i].p == NULL) { continue; }
    void* p = GET(mi_realloc(items[i].p, (mib[i] + 90) << 20));
    if (p != NULL) { items[i].p = p; }
    CHECK(item_intact(&items[i]));
    p = GET(mi_realloc(items[i].p, (mib[i] / 2) << 20));
    if (p != NULL) { items[i].p = p; }
    CHECK(item_intact(&items[i]));
  }
  items_free(items, COUNT);
  /* with 32 bits there is room for it beside all that a failing munmap leaves behind */
  const size_t large = sizeof(void*) > 4 ? 3000 : 300;
  if (!FILL_BLOCKS) { mi_free(GET(mi_malloc(large << 20))); }
  mi_collect(true);
  uint8_t* p = GET(mi_zalloc_aligned((size_t)20 << 20, (size_t)64 << 20));
  CHECK(((uintptr_t)p & (((uintptr_t)64 << 20) - 1)) == 0);
  check_zeroed(p, (size_t)20 << 20);
  mi_free(p);
}

/* Every block between guards. Those that the OS does not take away go when the memory is taken,
   which may hold what it held. */
static void scenario_guarded(void) {
  enum { COUNT = 12 };
  item_t items[COUNT];
  mi_option_set(mi_option_guarded_sample_rate, 1);
  for (size_t round = 0; round < 2; round++) {
    for (size_t i = 0; i < COUNT; i++) { items[i] = item_new((size_t)1 << 2 * i, i); }
    atomic_store(&fault_refuses, round == 0);
    items_free(items, COUNT);
    guard_flush();
    atomic_store(&fault_refuses, false);
    for (size_t i = 0; i < COUNT; i++) {
      uint8_t* p = GET(mi_zalloc((size_t)1 << 2 * i));
      check_zeroed(p, (size_t)1 << 2 * i);
      mi_free(p);
    }
  }
  mi_option_set(mi_option_guarded_sample_rate, 0);
}

static void count_text(const char* text, void* arg) { *(size_t*)arg += strlen(text); }

static void scenario_statistics(void) {
  size_t printed = 0;
  item_t item = item_new(100000, 3);
  mi_stats_print_out(count_text, &printed);
  CHECK(printed > 100);
  mi_process_info_print_out(count_text, &printed);
  mi_options_print_out(count_text, &printed);
  mi_arenas_print();
  mi_stats_t stats = {.size = sizeof(stats), .version = MI_STAT_VERSION};
  CHECK(mi_stats_get(&stats));
  char* json = GET(mi_stats_get_json(0, NULL));
  CHECK(json == NULL || json[0] == '{');
  mi_free(json);
  mi_collect(true);
  mi_stats_merge();
  item_free(&item);
}

static void scenario_fork(void) {
  item_t item = item_new(60000, 3);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    CHECK(item_intact(&item));
    scenario_small();
    scenario_threads();
    _exit(check_failures == 0 ? 0 : 1);
  }
  scenario_small();
  int status = -1;
  CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
  item_free(&item);
}

static void* subproc_thread(void* arg) {
  mi_subproc_add_current_thread(*(mi_subproc_id_t*)arg);
  scenario_small();
  return NULL;
}

static void scenario_subproc(void) {
  mi_subproc_id_t subproc = mi_subproc_new();
  CHECK(subproc._mi_subproc_id != NULL || atomic_load(&fault_armed));
  if (subproc._mi_subproc_id == NULL) { return; }
  pthread_t thread;
  if (pthread_create(&thread, NULL, subproc_thread, &subproc) != 0) { _exit(3); }
  pthread_join(thread, NULL);
  mi_subproc_destroy(subproc);
}

static void scenario_names(void) {
  char* s = GET(mi_strdup("some text"));
  CHECK(s == NULL || strcmp(s, "some text") == 0);
  char* path = GET(mi_realpath("/", NULL));
  CHECK(path == NULL || strcmp(path, "/") == 0);
  void* made = GET(mi_new_nothrow(200000));
  size_t usable = 0;
  void* block = GET(mi_umalloc(5000, &usable));
  CHECK(block == NULL || usable >= 5000);
  void* array = GET(mi_reallocarray(NULL, 1000, 300));
  mi_free(array);
  mi_free(block);
  mi_free(made);
  mi_free(path);
  mi_free(s);
}

typedef struct scenario {
  const char* name;
  void (*run)(void);
  bool has_threads;
} scenario_t;

static const scenario_t scenarios[] = {
    {"small", scenario_small, false},
    {"large", scenario_large, false},
    {"aligned", scenario_aligned, false},
    {"zero", scenario_zero, false},
    {"realloc", scenario_realloc, false},
    {"heaps", scenario_heaps, false},
    {"arenas", scenario_arenas, false},
    {"threads", scenario_threads, true},
    {"short_threads", scenario_short_threads, true},
    {"purge", scenario_purge, false},
    {"shrink", scenario_shrink, false},
    {"huge", scenario_huge, false},
    {"guarded", scenario_guarded, false},
    {"statistics", scenario_statistics, false},
    {"fork", scenario_fork, true},
    {"subproc", scenario_subproc, true},
    {"names", scenario_names, false},
};
enum { SCENARIOS = sizeof(scenarios) / sizeof(scenarios[0]) };

#endif
