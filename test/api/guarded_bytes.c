/* test: runs-itself timeout=300 libs="pthread" when="release|debug|secure|guarded threads posix"
   Sampled guards by bytes: each byte has the same chance, so that the share of blocks that are
   sampled follows from their size; seeds, bounds on sizes, both ways at once, switching on and off.
   The seed is fixed: what passes once passes always. */
#define _GNU_SOURCE 1
#include "../system.h"
#include "guarded.h"

static void sample_bytes(size_t bytes) {
  mi_option_set(mi_option_guarded_sample_bytes, (long)bytes);
}

/* From here on the same requests are sampled as last time. */
static void begin(size_t bytes, long seed) {
  mi_option_set(mi_option_guarded_sample_seed, seed);
  sample_bytes(bytes);
}

static size_t sampled_since(size_t before) {
  sample_bytes(0);
  return guarded_count() - before;
}

static double power(double x, size_t n) {
  double result = 1;
  for (; n > 0; n /= 2, x *= x) {
    if (n % 2 != 0) { result *= x; }
  }
  return result;
}

/* That one byte at least of a block is sampled, with one byte in `mean` on average. */
static double chance(size_t size, size_t mean) {
  return 1 - power(1 - 1.0 / (double)mean, size == 0 ? 1 : size);
}

/* ---- shares ---- */

static size_t sampled_of(size_t count, size_t size, size_t mean) {
  const size_t before = guarded_count();
  begin(mean, 42);
  for (size_t i = 0; i < count; i++) { mi_free(mi_malloc(size)); }
  return sampled_since(before);
}

static void check_share(size_t size, size_t mean) {
  enum { SAMPLES = 900 };
  const size_t count = (size_t)(SAMPLES / chance(size, mean));
  const size_t sampled = sampled_of(count, size, mean);
  CHECK(is_near(sampled, SAMPLES));
  if (!is_near(sampled, SAMPLES)) {
    fprintf(stderr, "%zu of %zu blocks of %zu bytes\n", sampled, count, size);
  }
}

static void test_shares(void) {
  static const size_t sizes[] = {0, 1, 16, 100, 1000, 4096, 16384, 40000, 100000};
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
    if (sizes[i] >= 16) { check_share(sizes[i], 16 * KIB); }
    check_share(sizes[i], 256);
  }
  check_share(1 * MIB, 16 * MIB);
  check_share(1000, 1 * MIB);
  CHECK(sampled_of(500, 100, 1) == 500 && sampled_of(500, 0, 1) == 500);
  CHECK(sampled_of(100000, 100, 0) == 0);
}

/* Every way to allocate counts its bytes. */
static void test_functions(void) {
  enum { ROUNDS = 3000, SIZE = 1000, MEAN = 8000 };
  const size_t before = guarded_count();
  begin(MEAN, 7);
  for (size_t i = 0; i < ROUNDS; i++) {
    mi_free(mi_zalloc(SIZE));
    mi_free(mi_malloc_aligned(SIZE, 256));
    mi_free(mi_new(SIZE));
    void* p = mi_realloc(NULL, SIZE);
    mi_free(mi_realloc(p, 100 * SIZE)); /* moves: all of its bytes are new */
    mi_free(mi_heap_malloc(mi_heap_main(), SIZE));
  }
  const double each = 5 * chance(SIZE, MEAN) + chance(100 * SIZE, MEAN);
  CHECK(is_near(sampled_since(before), (size_t)(ROUNDS * each)));
}

/* ---- streams of sizes ---- */

typedef struct {
  size_t small, large;
} sampled_t;

enum { SMALL = 80, LARGE = 8000 };

/* Small and large ones in turn. */
static sampled_t sampled_in_turn(size_t rounds) {
  sampled_t sampled = {0, 0};
  size_t count = guarded_count();
  for (size_t i = 0; i < rounds; i++) {
    mi_free(mi_malloc(SMALL));
    const size_t small = guarded_count();
    mi_free(mi_malloc(LARGE));
    sampled.small += small - count;
    count = guarded_count();
    sampled.large += count - small;
  }
  sample_bytes(0);
  return sampled;
}

static void test_mixed(void) {
  enum { ROUNDS = 40000, MEAN = 16000 };
  begin(MEAN, 3);
  const sampled_t sampled = sampled_in_turn(ROUNDS);
  CHECK(is_near(sampled.small, (size_t)(ROUNDS * chance(SMALL, MEAN))));
  CHECK(is_near(sampled.large, (size_t)(ROUNDS * chance(LARGE, MEAN))));
}

/* Requests that may not be sampled do not lend their bytes to the others, nor their turn where a
   rate, here one that never comes, is set besides. */
static void test_bounds(void) {
  enum { ROUNDS = 40000, MEAN = 4000, NEVER = 1 << 30 };
  mi_option_set(mi_option_guarded_sample_rate, NEVER);
  mi_option_set(mi_option_guarded_max, LARGE - 1);
  begin(MEAN, 3);
  sampled_t sampled = sampled_in_turn(ROUNDS);
  CHECK(sampled.large == 0 && is_near(sampled.small, (size_t)(ROUNDS * chance(SMALL, MEAN))));
  mi_option_set(mi_option_guarded_max, 1 << 30);
  mi_option_set(mi_option_guarded_min, SMALL + 1);
  begin(MEAN * 16, 3);
  sampled = sampled_in_turn(ROUNDS);
  CHECK(sampled.small == 0 && is_near(sampled.large, (size_t)(ROUNDS * chance(LARGE, MEAN * 16))));
  mi_option_set(mi_option_guarded_min, 0);
  mi_option_set(mi_option_guarded_sample_rate, 0);
}

/* With a rate besides, a request is sampled if either way chooses it. */
static void test_both_ways(void) {
  enum { ROUNDS = 20000, MEAN = 16000, RATE = 50 };
  mi_option_set(mi_option_guarded_sample_rate, RATE);
  begin(MEAN, 3);
  const sampled_t sampled = sampled_in_turn(ROUNDS);
  const double missed = 1 - 1.0 / RATE;
  mi_option_set(mi_option_guarded_sample_rate, 0);
  CHECK(is_near(sampled.small, (size_t)(ROUNDS * (1 - missed * (1 - chance(SMALL, MEAN))))));
  CHECK(is_near(sampled.large, (size_t)(ROUNDS * (1 - missed * (1 - chance(LARGE, MEAN))))));
}

/* ---- seeds ---- */

/* Which requests are sampled, as bits. */
static uint64_t pattern_of(long seed) {
  uint64_t bits = 0;
  begin(300, seed);
  for (unsigned i = 0; i < 64; i++) {
    void* p = mi_malloc(100);
    bits |= (uint64_t)is_guarded(p, 100) << i;
    mi_free(p);
  }
  sample_bytes(0);
  return bits;
}

static void test_seeds(void) {
  const uint64_t one = pattern_of(1);
  CHECK(one != 0 && ~one != 0 && one == pattern_of(1) && one != pattern_of(2));
  const uint64_t any = pattern_of(0), other = pattern_of(0), third = pattern_of(0);
  CHECK(any != other || other != third); /* 0: random */
}

/* ---- on and off ---- */

static bool are_sampled(void) {
  void* p = mi_malloc(100);
  const bool sampled = is_guarded(p, 100);
  mi_free(p);
  return sampled;
}

/* The functions of heaps set a rate, and that is all that counts then; until the next option. */
static void test_last_word(void) {
  CHECK(!are_sampled());
  begin(1, 5);
  CHECK(are_sampled());
  mi_heap_guarded_set_size_bound(mi_heap_main(), 200, 300);
  CHECK(!are_sampled());
  mi_heap_guarded_set_size_bound(mi_heap_main(), 50, 300); /* leaves the bytes as they are */
  CHECK(are_sampled());
  mi_heap_guarded_set_sample_rate(mi_heap_main(), 0, 0);
  CHECK(!are_sampled());
  sample_bytes(1);
  CHECK(are_sampled());
  mi_theap_guarded_set_sample_rate(mi_theap_get_default(), 0, 0);
  CHECK(!are_sampled());
  sample_bytes(0);
  CHECK(!are_sampled());
}

static void* tell_if_sampled(void* arg) {
  *(bool*)arg = are_sampled();
  return NULL;
}

static void test_threads(void) {
  test_thread_t thread;
  bool sampled = false;
  begin(1, 5);
  CHECK(thread_start(&thread, tell_if_sampled, &sampled));
  thread_join(thread);
  CHECK(sampled);
  sample_bytes(0);
}

/* Again, with the option in the environment. */
static int test_environment(void) {
  enum { BLOCKS = 10000, MEAN = 4096 };
  CHECK(mi_option_get(mi_option_guarded_sample_bytes) == MEAN);
  CHECK(mi_option_get_size(mi_option_guarded_sample_bytes) == MEAN);
  const size_t before = guarded_count();
  for (size_t i = 0; i < BLOCKS; i++) { mi_free(mi_malloc(1024)); }
  CHECK(is_near(guarded_count() - before, (size_t)(BLOCKS * chance(1024, MEAN))));
  return check_done();
}

int main(int argc, char** argv) {
  if (argc > 1) { return test_environment(); }
  CHECK(mi_option_get(mi_option_guarded_sample_bytes) == 0); /* off, in a guarded build too */
  mi_option_set(mi_option_guarded_sample_rate, 0);
  test_shares();
  test_functions();
  test_mixed();
  test_bounds();
  test_both_ways();
  test_seeds();
  test_last_word();
  test_threads();
  if (check_done() == 0) {
    (void)setenv("MIMALLOC_GUARDED_SAMPLE_BYTES", "4K", 1);
    (void)setenv("MIMALLOC_GUARDED_SAMPLE_SEED", "9", 1);
    (void)setenv("MIMALLOC_GUARDED_SAMPLE_RATE", "0", 1);
    (void)execl("/proc/self/exe", argv[0], "by-environment", (char*)NULL);
  }
  return check_done();
}
