/* test: timeout=300 libs="pthread" when="release|debug|secure|guarded linux|unix threads posix"
   Sampled guards: rates, sizes and seeds; what guarded blocks have in common with others: contents,
   alignment, sizes, realloc, visiting, heaps that go, threads, fork; and the bounds of memory. */
#define _GNU_SOURCE 1
#include "../lifecycle/filter.h"
#include "guarded.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

static void guard_all(bool all) { mi_heap_guarded_set_sample_rate(mi_heap_main(), all ? 1 : 0, 5); }

/* ---- rates ---- */

static size_t sampled_of(size_t count, size_t rate, size_t seed) {
  const size_t before = guarded_count();
  mi_theap_guarded_set_sample_rate(mi_theap_get_default(), rate, seed);
  for (size_t i = 0; i < count; i++) { mi_free(mi_malloc(1 + i % 500)); }
  mi_theap_guarded_set_sample_rate(mi_theap_get_default(), 0, 0);
  return guarded_count() - before;
}

static void test_rates(void) {
  enum { MILLION = 1000000 };
  CHECK(is_near(sampled_of(MILLION, 1000, 42), 1000));
  CHECK(is_near(sampled_of(MILLION, 300, 1), MILLION / 300));
  CHECK(is_near(sampled_of(20000, 10, 3), 2000));
  CHECK(is_near(sampled_of(4000, 2, 3), 2000));
  CHECK(sampled_of(500, 1, 3) == 500);
  CHECK(sampled_of(MILLION, 0, 3) == 0);
  const size_t once = sampled_of(100000, 100, 42);
  CHECK(once == sampled_of(100000, 100, 42)); /* the same seed, the same numbers */
  bool differs = false;
  for (size_t seed = 1; seed < 6; seed++) {
    differs = differs || sampled_of(100000, 100, seed) != once;
  }
  CHECK(differs);
}

/* Which requests are sampled, as bits. */
static uint64_t pattern_of(size_t seed) {
  uint64_t bits = 0;
  mi_theap_guarded_set_sample_rate(mi_theap_get_default(), 4, seed);
  for (int i = 0; i < 64; i++) {
    void* p = mi_malloc(100);
    bits |= (uint64_t)is_guarded(p, 100) << i;
    mi_free(p);
  }
  mi_theap_guarded_set_sample_rate(mi_theap_get_default(), 0, 0);
  return bits;
}

static void test_seeds(void) {
  const uint64_t one = pattern_of(1);
  CHECK(one != 0 && one == pattern_of(1) && one != pattern_of(2));
  const uint64_t any = pattern_of(0), other = pattern_of(0), third = pattern_of(0);
  CHECK(any != other || other != third); /* 0: random */
}

static bool guards_size(size_t size) {
  void* p = mi_malloc(size);
  const bool guarded = is_guarded(p, size);
  mi_free(p);
  return guarded;
}

/* The size is compared as it was asked for, and as it is rounded: 99 to 112, 141 to 160. */
static void test_sizes(void) {
  mi_heap_t* heap = mi_heap_main();
  guard_all(true);
  mi_heap_guarded_set_size_bound(heap, 100, 200);
  CHECK(!guards_size(96) && guards_size(99) && guards_size(100));
  CHECK(guards_size(200) && !guards_size(201));
  for (size_t bound = 141; bound <= 160; bound++) {
    mi_heap_guarded_set_size_bound(heap, bound, bound);
    CHECK(guards_size(141) && !guards_size(128) && !guards_size(161));
  }
  mi_heap_guarded_set_size_bound(heap, 48, 48);
  CHECK(!guards_size(32) && guards_size(33) && guards_size(48) && !guards_size(49));
  mi_heap_guarded_set_size_bound(heap, 16, 16);
  CHECK(guards_size(0) && guards_size(1) && !guards_size(17));
  mi_heap_guarded_set_size_bound(heap, 5 * 1024, 5 * 1024);
  CHECK(!guards_size(4096) && guards_size(4097) && guards_size(5 * 1024) && !guards_size(5121));
  mi_heap_guarded_set_size_bound(heap, 0, size_largest());
  for (size_t i = 0; i < 5; i++) {
    CHECK_ERRNO(mi_malloc(size_largest() - i) == NULL, ENOMEM);
    CHECK_ERRNO(mi_malloc_aligned(size_largest() - i * KIB, 64) == NULL, ENOMEM);
  }
  guard_all(false);
  mi_heap_guarded_set_size_bound(heap, 0, (size_t)1 << 30);
}

/* Options that the program changes count from the thread's next request on. */
static void test_options(void) {
  mi_option_set(mi_option_guarded_max, 1000);
  mi_option_set(mi_option_guarded_sample_rate, 1);
  void* p = mi_malloc(1000);
  void* q = mi_malloc(1001);
  CHECK(is_guarded(p, 1000) && !is_guarded(q, 1001));
  mi_free(p), mi_free(q);
  mi_option_set(mi_option_guarded_max, 1 << 30);
  mi_option_set(mi_option_guarded_sample_rate, 0);
  p = mi_malloc(1000);
  CHECK(!is_guarded(p, 1000));
  mi_free(p);
}

/* ---- blocks ---- */

static const size_t sizes[] = {0,    1,    15,   16,    17,    100,    1024,
                               4095, 4096, 5000, 32768, 40000, 1000000};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static void check_block(void* block, size_t size, size_t alignment) {
  unsigned char* p = (unsigned char*)block;
  CHECK(p != NULL && is_aligned(p, alignment) && is_guarded(p, size));
  CHECK(mi_usable_size(p) == size); /* to the byte: what is behind is watched */
  fill(p, size, 3);
  CHECK(is_filled(p, size, 3));
}

static void test_blocks(void) {
  guard_all(true);
  for (size_t i = 0; i < SIZES; i++) {
    const size_t n = sizes[i];
    void* p = mi_malloc(n);
    check_block(p, n, n < 16 ? 8 : 16);
    mi_free(p);
    p = mi_zalloc(n);
    CHECK(is_zero(p, n));
    check_block(p, n, 16);
    mi_free(p);
    for (size_t alignment = 1; alignment <= os_page(); alignment *= 4) {
      p = mi_malloc_aligned(n, alignment);
      check_block(p, n, alignment);
      mi_free(p);
      p = mi_zalloc_aligned_at(n, alignment, 40);
      CHECK(is_zero(p, n) && is_aligned((char*)p + 40, alignment));
      mi_free(p);
    }
    p = mi_malloc_aligned(n, 64 * os_page()); /* has none, but works */
    CHECK(is_aligned(p, 64 * os_page()));
    mi_free(p);
  }
  guard_all(false);
}

/* Blocks of 43 sizes: how many touch the guard behind them, and how many the one before. */
typedef struct {
  size_t at_end, at_start;
} sides_t;

static bool ends_within(const char* end, size_t bytes) {
  return (0 - address_of(end)) % os_page() < bytes;
}

static sides_t sides_of(bool precise, bool underflow) {
  sides_t sides = {0, 0};
  guard_all(true);
  mi_option_set(mi_option_guarded_precise, precise);
  mi_option_set(mi_option_guarded_underflow, underflow);
  for (size_t n = 1; n < 300; n += 7) {
    char* p = (char*)mi_malloc(n);
    sides.at_end += ends_within(p + n, precise ? 1 : 16);
    sides.at_start += address_of(p) % os_page() == 0;
    mi_free(p);
    p = (char*)mi_malloc_aligned(n, 8);
    CHECK(is_aligned(p, 8) && (is_aligned(p, os_page()) || ends_within(p + n, precise ? 8 : 16)));
    mi_free(p);
  }
  mi_option_set(mi_option_guarded_precise, 0);
  mi_option_set(mi_option_guarded_underflow, 0);
  guard_all(false);
  return sides;
}

static void test_sides(void) {
  sides_t sides = sides_of(false, false);
  CHECK(sides.at_end + sides.at_start == 43 && sides.at_end > 5 && sides.at_start > 5);
  sides = sides_of(true, false);
  CHECK(sides.at_end == 43 && sides.at_start == 0);
  sides = sides_of(false, true);
  CHECK(sides.at_end == 0 && sides.at_start == 43);
  sides = sides_of(true, true);
  CHECK(sides.at_end == 0 && sides.at_start == 43);
}

static void test_realloc(void) {
  guard_all(true);
  for (size_t i = 0; i < SIZES; i++) {
    for (size_t j = 0; j < SIZES; j++) {
      const size_t kept = sizes[i] < sizes[j] ? sizes[i] : sizes[j];
      void* p = mi_malloc(sizes[i]);
      fill(p, sizes[i], 9);
      guard_all(j % 2 == 0); /* from guarded to guarded, and to not */
      p = mi_realloc(p, sizes[j]);
      guard_all(true);
      CHECK(p != NULL && is_filled(p, kept, 9) && mi_usable_size(p) >= sizes[j]);
      mi_free(p);
      p = mi_zalloc(sizes[i]);
      p = mi_rezalloc(p, sizes[j]);
      CHECK(is_zero(p, sizes[j]));
      CHECK(mi_expand(p, sizes[j]) == p);
      mi_free(p);
    }
  }
  guard_all(false);
}

/* ---- heaps ---- */

typedef struct {
  size_t blocks, bytes;
} seen_t;

static bool see(const mi_heap_t* heap, const mi_heap_area_t* area, void* block, size_t block_size,
                void* arg) {
  seen_t* seen = (seen_t*)arg;
  (void)heap, (void)area;
  if (block != NULL) { seen->blocks++, seen->bytes += block_size; }
  return true;
}

enum { BLOCKS = 50 };

static void test_heaps(void) {
  for (int way = 0; way < 2; way++) {
    mi_heap_t* heap = mi_heap_new();
    void* blocks[BLOCKS];
    mi_heap_guarded_set_sample_rate(heap, 2, 11);
    const size_t before = guarded_count();
    for (size_t i = 0; i < BLOCKS; i++) { blocks[i] = mi_heap_malloc(heap, 96); }
    const size_t guarded = guarded_count() - before;
    CHECK(guarded > 5 && guarded < BLOCKS - 5);
    mi_free(mi_malloc(96));
    CHECK(guarded_count() == before + guarded); /* only in that heap */
    seen_t seen = {0, 0};
    CHECK(mi_heap_visit_blocks(heap, true, see, &seen) && seen.blocks == BLOCKS);
    mi_free(blocks[0]), mi_free(blocks[1]);
    seen.blocks = 0;
    CHECK(mi_heap_visit_blocks(heap, true, see, &seen) && seen.blocks == BLOCKS - 2);
    CHECK(mi_heap_contains(heap, blocks[2]) && mi_heap_of(blocks[3]) == heap);
    if (way == 0) {
      mi_heap_destroy(heap);
      continue;
    }
    mi_heap_delete(heap);
    for (size_t i = 2; i < BLOCKS; i++) {
      CHECK(mi_heap_of(blocks[i]) == mi_heap_main());
      mi_free(blocks[i]);
    }
  }
}

/* ---- threads ---- */

enum { THREADS_BYTES = 77 };

static void* blocks_of_thread(void* arg) {
  void** blocks = (void**)arg;
  for (size_t i = 0; i < BLOCKS; i++) {
    blocks[i] = mi_malloc(THREADS_BYTES);
    fill(blocks[i], THREADS_BYTES, (unsigned)i);
  }
  return blocks;
}

static void test_threads(void) {
  enum { THREADS = 8 };
  static void* blocks[THREADS][BLOCKS];
  pthread_t threads[THREADS];
  mi_option_set(mi_option_guarded_sample_rate, 2);
  for (int i = 0; i < THREADS; i++) {
    CHECK(pthread_create(&threads[i], NULL, blocks_of_thread, blocks[i]) == 0);
  }
  for (int i = 0; i < THREADS; i++) { CHECK(pthread_join(threads[i], NULL) == 0); }
  size_t guarded = 0;
  for (int i = 0; i < THREADS; i++) {
    for (size_t j = 0; j < BLOCKS; j++) {
      CHECK(is_filled(blocks[i][j], THREADS_BYTES, (unsigned)j));
      guarded += is_guarded(blocks[i][j], THREADS_BYTES);
      mi_free(blocks[i][j]);
    }
  }
  CHECK(guarded > THREADS * 10 && guarded < THREADS * (BLOCKS - 10));
  mi_option_set(mi_option_guarded_sample_rate, 0);
}

static void* free_and_take(void* arg) {
  for (int i = 0; i < 2000; i++) {
    void* p = mi_malloc((size_t)(i % 300));
    void* old = __atomic_exchange_n((void**)arg + i % 16, p, __ATOMIC_ACQ_REL);
    mi_free(old);
  }
  return NULL;
}

static void test_handover(void) {
  static void* slots[16];
  pthread_t threads[4];
  mi_option_set(mi_option_guarded_sample_rate, 3);
  for (int i = 0; i < 4; i++) {
    CHECK(pthread_create(&threads[i], NULL, free_and_take, slots) == 0);
  }
  for (int i = 0; i < 4; i++) { CHECK(pthread_join(threads[i], NULL) == 0); }
  for (int i = 0; i < 16; i++) { mi_free(slots[i]); }
  mi_option_set(mi_option_guarded_sample_rate, 0);
}

/* A thread that runs takes the heap's setting over in its next slow path. */
static pthread_barrier_t barrier;

static void* take_over(void* arg) {
  mi_free(mi_malloc(10));
  (void)pthread_barrier_wait(&barrier); /* 1: we have a theap */
  (void)pthread_barrier_wait(&barrier); /* 2: the rate is set */
  for (int i = 0; i < 100; i++) { mi_free(mi_malloc(100000 + (size_t)i * 5000)); }
  void* p = mi_malloc(50);
  *(bool*)arg = is_guarded(p, 50);
  mi_free(p);
  return NULL;
}

static void test_other_threads(void) {
  pthread_t thread;
  bool took_over = false;
  CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
  CHECK(pthread_create(&thread, NULL, take_over, &took_over) == 0);
  (void)pthread_barrier_wait(&barrier);
  guard_all(true);
  (void)pthread_barrier_wait(&barrier);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(took_over);
  guard_all(false);
}

/* What a thread has set aside waits where visits look for the blocks of every page. */
static void* set_aside(void* arg) {
  mi_free(mi_malloc(100000));
  (void)pthread_barrier_wait(&barrier); /* 1: it waits */
  (void)pthread_barrier_wait(&barrier); /* 2: it may go */
  return arg;
}

static bool see_none(const mi_heap_t* heap, const mi_heap_area_t* area, void* block,
                     size_t block_size, void* arg) {
  (void)heap, (void)area;
  *(size_t*)arg += block != NULL && block_size == 0;
  return true;
}

/* A block without a byte is a block nonetheless. */
static void test_no_bytes(void) {
  pthread_t thread;
  size_t seen = 0;
  guard_all(true);
  void* p = mi_malloc(0);
  guard_all(false);
  CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
  CHECK(pthread_create(&thread, NULL, set_aside, NULL) == 0);
  (void)pthread_barrier_wait(&barrier);
  CHECK(mi_heap_visit_blocks(mi_heap_main(), true, see_none, &seen) && seen == 1);
  (void)pthread_barrier_wait(&barrier);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(is_guarded(p, 0) && mi_heap_contains(mi_heap_main(), p));
  p = mi_realloc(p, 50);
  CHECK(p != NULL && !is_guarded(p, 50));
  mi_free(p);
}

/* ---- fork ---- */

static void test_fork(void) {
  guard_all(true);
  char* live = (char*)mi_malloc(100);
  char* freed = (char*)mi_malloc(100);
  strcpy(live, "both");
  mi_free(freed);
  const pid_t child = fork();
  if (child == 0) {
    const bool good = strcmp(live, "both") == 0 && is_guarded(live, 100);
    mi_free(live);
    void* p = mi_malloc(100);
    _exit(good && is_guarded(p, 100) ? 0 : 1);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(strcmp(live, "both") == 0);
  mi_free(live);
  guard_all(false);
}

/* ---- bounds ---- */

static size_t mappings(void) {
  FILE* f = fopen("/proc/self/maps", "r");
  size_t lines = 0;
  for (int c = f == NULL ? EOF : getc(f); c != EOF; c = getc(f)) { lines += c == '\n'; }
  if (f != NULL) { fclose(f); }
  return lines;
}

static void test_bounds(void) {
  enum { COUNT = 100000 };
  const size_t rss = resident_bytes(), maps = mappings();
  guard_all(true);
  for (int i = 0; i < COUNT; i++) { mi_free(mi_malloc((size_t)i % 3000)); }
  guard_all(false);
  CHECK(resident_bytes() < rss + 8 * MIB);
  CHECK(mappings() < maps + 600); /* where guards are by protection, the quarantine shows */
}

/* Live blocks: each has an OS page; mappings stay within what a process has. */
static void test_many_live(void) {
  enum { LIVE = 20000, MOST_MAPPINGS = 40000 };
  static void* blocks[LIVE];
  guard_all(true);
  for (size_t i = 0; i < LIVE; i++) { blocks[i] = mi_malloc(40); }
  CHECK(mappings() < MOST_MAPPINGS);
  for (size_t i = 0; i < LIVE; i++) { mi_free(blocks[i]); }
  guard_all(false);
}

/* Without room for guards there are ordinary blocks. */
static void test_exhaustion(void) {
  const pid_t child = fork();
  if (child == 0) {
    enum { COUNT = 30000 };
    const size_t most = status_bytes("VmSize") + 24 * MIB;
    const struct rlimit limit = {most, most};
    size_t failed = 0;
    (void)setrlimit(RLIMIT_AS, &limit);
    guard_all(true);
    for (size_t i = 0; i < COUNT; i++) {
      char* p = (char*)mi_malloc(100);
      if (p == NULL) {
        failed++;
        continue;
      }
      memset(p, 1, 100);
    }
    _exit(failed < COUNT / 2 ? 0 : 1);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

/* On a kernel without markers, guards are made by protection. */
static int test_by_protection(void) {
  guard_all(false);
  test_blocks();
  test_realloc();
  test_heaps();
  test_threads();
  test_fork();
  test_bounds();
  test_many_live();
  test_exhaustion();
  return check_done();
}

int main(int argc, char** argv) {
  enum { GUARD_INSTALL = 102 };
  if (argc > 1) { return test_by_protection(); }
  guard_all(false); /* also in a guarded build */
  test_rates();
  test_seeds();
  test_sizes();
  test_options();
  test_blocks();
  test_sides();
  test_realloc();
  test_heaps();
  test_threads();
  test_handover();
  test_other_threads();
  test_no_bytes();
  test_fork();
  test_bounds();
  test_many_live();
  test_exhaustion();
  if (check_done() == 0 && filter_advice(GUARD_INSTALL, EINVAL)) {
    (void)execl("/proc/self/exe", argv[0], "by-protection", (char*)NULL);
  }
  return check_done();
}
