/* test: timeout=60
   Statistics: layout of the struct, consistent numbers, text, valid JSON, bins. */
#define _GNU_SOURCE 1
#include "api.h"

#include <pthread.h>

/* The layout is part of the interface: 173 counts of three numbers and 25 counters of one after
 * size and version. */
_Static_assert(sizeof(mi_stats_t) == 2 * sizeof(size_t) + 173 * 24 + 25 * 8, "mi_stats_t");
_Static_assert(offsetof(mi_stats_t, pages) == 2 * sizeof(size_t), "pages");
_Static_assert(offsetof(mi_stats_t, reset) == 2 * sizeof(size_t) + 3 * 24, "reset");
_Static_assert(offsetof(mi_stats_t, page_committed) == 2 * sizeof(size_t) + 3 * 24 + 2 * 8,
               "page_committed");
_Static_assert(offsetof(mi_stats_t, mmap_calls) == 2 * sizeof(size_t) + 9 * 24 + 2 * 8,
               "mmap_calls");
_Static_assert(offsetof(mi_stats_t, segments) == 2 * sizeof(size_t) + 9 * 24 + 16 * 8, "segments");
_Static_assert(offsetof(mi_stats_t, theaps) == 2 * sizeof(size_t) + 14 * 24 + 16 * 8, "theaps");
_Static_assert(offsetof(mi_stats_t, heaps_delete_wait) == 2 * sizeof(size_t) + 15 * 24 + 20 * 8,
               "heaps_delete_wait");
_Static_assert(offsetof(mi_stats_t, malloc_bins) == 2 * sizeof(size_t) + 19 * 24 + 25 * 8,
               "malloc_bins");
_Static_assert(offsetof(mi_stats_t, chunk_bins) == 2 * sizeof(size_t) + (19 + 148) * 24 + 25 * 8,
               "chunk_bins");

_Static_assert(MI_STAT_VERSION == 5, "version");

/* A program that was compiled with another layout gets no numbers, and nothing is written. */
static void test_other_layout(void) {
  mi_stats_t stats = {.size = sizeof(mi_stats_t) - 8, .version = MI_STAT_VERSION};
  stats.pages.total = -5;
  CHECK(!mi_stats_get(&stats) && stats.pages.total == -5);
  stats = (mi_stats_t){.size = sizeof(mi_stats_t), .version = MI_STAT_VERSION + 1};
  CHECK(!mi_stats_get(&stats) && !mi_stats_get(NULL));
  CHECK(MI_STAT_VERSION == 5);
}

static int64_t live_bytes(void) {
  const mi_stats_t stats = stats_now();
  return stats.malloc_normal.current + stats.malloc_huge.current;
}

static bool is_consistent(mi_stat_count_t count) {
  return count.current >= 0 && count.current <= count.peak && count.peak <= count.total;
}

static void check_consistent(void) {
  const mi_stats_t s = stats_now();
  CHECK(is_consistent(s.pages) && is_consistent(s.reserved));
  CHECK(is_consistent(s.committed) && is_consistent(s.page_committed));
  CHECK(is_consistent(s.pages_abandoned) && is_consistent(s.threads));
  CHECK(is_consistent(s.malloc_normal) && is_consistent(s.malloc_huge));
  CHECK(is_consistent(s.heaps) && is_consistent(s.theaps));
  CHECK(s.committed.current <= s.reserved.current && s.committed.current > 0 &&
        s.pages.current > 0);
  CHECK(s.threads.current >= 1 && s.theaps.current >= 1 && s.heaps.current >= 1);
  CHECK(s.malloc_normal_count.total > 0 && s.mmap_calls.total > 0);
  for (size_t i = 0; i < 74; i++) {
    CHECK(is_consistent(s.malloc_bins[i]) && is_consistent(s.page_bins[i]));
  }
}

enum { BLOCKS = 3000 };
static void* blocks[BLOCKS];

static size_t allocate_all(void) {
  uint64_t seed = 77;
  size_t usable = 0;
  for (size_t i = 0; i < BLOCKS; i++) {
    const size_t largest = (size_t)1 << (3 + random_below(&seed, 18));
    blocks[i] = mi_malloc(1 + random_below(&seed, largest));
    usable += mi_usable_size(blocks[i]);
  }
  return usable;
}

static void free_all(void) {
  for (size_t i = 0; i < BLOCKS; i++) { mi_free(blocks[i]); }
}

static void* allocate_in_thread(void* arg) {
  *(size_t*)arg = allocate_all();
  return NULL;
}

static bool is_near(int64_t is, size_t want) {
  const int64_t off = is - (int64_t)want;
  return off >= -(int64_t)want / 20 && off <= (int64_t)want / 20;
}

static void test_live_bytes(void) {
  const int64_t before = live_bytes();
  const size_t usable = allocate_all();
  CHECK(is_near(live_bytes() - before, usable));
  check_consistent();
  const mi_stats_t most = stats_now();
  CHECK(most.malloc_normal.peak + most.malloc_huge.peak >= (int64_t)(usable - usable / 20));
  CHECK(most.malloc_normal_count.total + most.malloc_huge_count.total +
            most.malloc_guarded_count.total >=
        BLOCKS); /* samples with guards are in no bin */
  CHECK(most.committed.current >= (int64_t)(usable / 2));
  free_all();
  const int64_t left = live_bytes() - before;
  CHECK(left >= -(int64_t)(usable / 50) && left <= (int64_t)(usable / 50));
  check_consistent();
}

static void test_other_threads_count(void) {
  const int64_t before = live_bytes();
  const int64_t threads_before = stats_now().threads.total;
  size_t usable = 0;
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, allocate_in_thread, &usable) == 0);
  pthread_join(thread, NULL);
  CHECK(is_near(live_bytes() - before, usable)); /* counted there, read here */
  CHECK(stats_now().threads.total == threads_before + 1);
  free_all(); /* freed by another thread than allocated */
  const int64_t left = live_bytes() - before;
  CHECK(left >= -(int64_t)(usable / 50) && left <= (int64_t)(usable / 50));
  check_consistent();
}

/* A collection by a process that needs no heap for ended threads makes none. */
static void test_collect_makes_nothing(void) {
  mi_collect(true);
  CHECK(stats_now().theaps.current == 1);
}

static void test_reset(void) {
  void* p = mi_malloc(100000);
  void* q = mi_malloc(100);
  mi_stats_reset();
  mi_free(p); /* what was counted before the reset goes after it */
  mi_free(q);
  const mi_stats_t s = stats_now();
  CHECK(s.malloc_normal.current >= 0 && s.malloc_huge.current >= 0);
}

/* ---- a validator of JSON: each function returns the place behind what it read, or NULL ---- */

static const char* json_value(const char* s, int depth);

static const char* json_space(const char* s) {
  while (*s == ' ' || *s == '\n' || *s == '\r' || *s == '\t') { s++; }
  return s;
}

static const char* json_string(const char* s) {
  if (*s != '"') { return NULL; }
  for (s++; *s != '"'; s++) {
    if ((unsigned char)*s < 0x20) { return NULL; /* the end, or a control character */ }
    if (*s == '\\') {
      s++;
      if (*s == 0 || strchr("\"\\/bfnrtu", *s) == NULL) { return NULL; }
    }
  }
  return s + 1;
}

static const char* json_digits(const char* s) {
  if (*s < '0' || *s > '9') { return NULL; }
  while (*s >= '0' && *s <= '9') { s++; }
  return s;
}

static const char* json_number(const char* s) {
  s += *s == '-' ? 1 : 0;
  const bool leading_zero = *s == '0' && s[1] >= '0' && s[1] <= '9';
  s = json_digits(s);
  if (s == NULL || leading_zero) { return NULL; }
  if (*s == '.') { s = json_digits(s + 1); }
  if (s != NULL && (*s == 'e' || *s == 'E')) {
    s += s[1] == '+' || s[1] == '-' ? 2 : 1;
    s = json_digits(s);
  }
  return s;
}

static const char* json_member(const char* s, int depth, bool named) {
  s = json_space(s);
  if (named) {
    s = json_string(s);
    s = s == NULL ? NULL : json_space(s);
    if (s == NULL || *s != ':') { return NULL; }
    s++;
  }
  s = json_value(s, depth);
  return s == NULL ? NULL : json_space(s);
}

static const char* json_list(const char* s, int depth, char end) {
  s = json_space(s + 1);
  if (*s == end) { return s + 1; }
  for (;;) {
    s = json_member(s, depth + 1, end == '}');
    if (s == NULL || (*s != ',' && *s != end)) { return NULL; }
    if (*s++ == end) { return s; }
  }
}

static const char* json_word(const char* s, const char* word) {
  return strncmp(s, word, strlen(word)) == 0 ? s + strlen(word) : NULL;
}

static const char* json_value(const char* s, int depth) {
  s = json_space(s);
  if (depth > 50) { return NULL; }
  switch (*s) {
    case '{': return json_list(s, depth, '}');
    case '[': return json_list(s, depth, ']');
    case '"': return json_string(s);
    case 't': return json_word(s, "true");
    case 'f': return json_word(s, "false");
    case 'n': return json_word(s, "null");
    default: return json_number(s);
  }
}

static bool is_json(const char* s) {
  const char* end = s == NULL || *json_space(s) != '{' ? NULL : json_value(s, 0);
  return end != NULL && *json_space(end) == 0;
}

static void test_validator(void) {
  CHECK(is_json("{}") && is_json(" {\"a\": [1, -2.5e3, true, null, {\"b\":\"c\\n\"}] }\n"));
  CHECK(!is_json("{\"a\": 1,}") && !is_json("{\"a\" 1}") && !is_json("{\"a\": 01}") &&
        !is_json("{} {}"));
  CHECK(!is_json("{\"a\": \"unended}") && !is_json("[1 2]") && !is_json("{\"a\": [1}"));
}

static void test_json(void) {
  char* json = mi_stats_get_json(0, NULL);
  CHECK(is_json(json) && strstr(json, "\"malloc_normal\"") != NULL &&
        strstr(json, "version") != NULL);
  const size_t length = json == NULL ? 0 : strlen(json);
  CHECK(mi_usable_size(json) > length);
  mi_free(json);
  static char buffer[256 * KIB];
  CHECK(mi_stats_get_json(sizeof(buffer), buffer) == buffer && is_json(buffer));
  mi_stats_t stats = stats_now();
  json = mi_stats_as_json(&stats, 0, NULL);
  CHECK(is_json(json));
  mi_free(json);
  CHECK(mi_stats_as_json(&stats, sizeof(buffer), buffer) == buffer && is_json(buffer));
}

/* Too small a buffer is never overrun, and what is left in it ends with 0. */
static void test_json_short(void) {
  static char buffer[2000];
  for (size_t size = 1; size <= 1000; size = size * 3 / 2 + 1) {
    memset(buffer, 'x', sizeof(buffer));
    const char* json = mi_stats_get_json(size, buffer);
    CHECK(json == NULL || json == buffer);
    CHECK(memchr(buffer, 0, size) != NULL || (json == NULL && buffer[0] == 'x'));
    for (size_t i = size; i < sizeof(buffer); i++) { CHECK(buffer[i] == 'x'); }
  }
}

static void test_bins(void) {
  size_t previous = 0;
  size_t grew = 0;
  for (size_t bin = 0; bin < 73; bin++) { /* the last is for the rest */
    const size_t size = mi_stats_get_bin_size(bin);
    CHECK(size >= previous);
    grew += size > previous ? 1 : 0;
    previous = size;
  }
  CHECK(grew > 40);
  CHECK(mi_stats_get_bin_size(74) == 0 && mi_stats_get_bin_size(SIZE_MAX) == 0); /* no such bin */
}

/* A block of 200 bytes is counted in the bin whose size holds it. */
static void test_bin_counts(void) {
  enum { COUNT = 5000 };
  const mi_stats_t before = stats_now();
  for (size_t i = 0; i < COUNT; i++) { mi_free(mi_malloc(200)); }
  for (size_t i = 0; i < BLOCKS; i++) { blocks[i] = mi_malloc(200); }
  const mi_stats_t after = stats_now();
  size_t bin = 0;
  const size_t room = BLOCKS_TRACKED ? 16 : 0;
  while (bin < 73 && mi_stats_get_bin_size(bin) < 200 + room) { bin++; }
  const int64_t samples = after.malloc_guarded_count.total - before.malloc_guarded_count.total;
  CHECK(after.malloc_bins[bin].current + samples >= before.malloc_bins[bin].current + BLOCKS);
  CHECK(after.page_bins[bin].current > 0);
  free_all();
}

/* Pages of a deleted heap, whose blocks live on, still count. */
static void test_deleted_heap(void) {
  const mi_stats_t before = stats_now();
  mi_heap_t* heap = mi_heap_new();
  for (size_t i = 0; i < BLOCKS; i++) { blocks[i] = mi_heap_malloc(heap, i < 4 ? 300000 : 1000); }
  const mi_stats_t full = stats_now();
  mi_heap_delete(heap);
  const mi_stats_t after = stats_now();
  CHECK(full.pages.current >= before.pages.current + 4);
  CHECK(after.pages.current == full.pages.current);
  CHECK(after.page_committed.current == full.page_committed.current);
  CHECK(after.malloc_normal.current == full.malloc_normal.current);
  CHECK(after.malloc_huge.current == full.malloc_huge.current);
  for (size_t i = 0; i < 73; i++) {
    CHECK(after.page_bins[i].current == full.page_bins[i].current);
    CHECK(after.malloc_bins[i].current == full.malloc_bins[i].current);
  }
  check_consistent();
  free_all();
  mi_collect(true);
  CHECK(stats_now().pages.current <= before.pages.current);
  CHECK(stats_now().page_committed.current <= before.page_committed.current);
}

typedef struct {
  char text[64 * KIB];
  size_t length;
} capture_t;

static void capture(const char* message, void* arg) {
  capture_t* c = arg;
  for (; *message != 0 && c->length + 1 < sizeof(c->text); message++) {
    c->text[c->length++] = *message;
  }
  c->text[c->length] = 0;
}

static void test_text(void) {
  static capture_t c;
  void* p = mi_malloc(999);
  mi_stats_print_out(capture, &c);
  CHECK(c.length > 200 && strchr(c.text, '\n') != NULL);
  const bool knows_blocks = mi_usable_size(p) == 999; /* then there is a line for each class */
  CHECK((strstr(c.text, "blocks of 1024 bytes") != NULL) == knows_blocks);
  mi_free(p);
  c.length = 0;
  mi_thread_stats_print_out(capture, &c);
  CHECK(c.length > 0);
  mi_register_output(capture, &c);
  c.length = 0;
  mi_stats_print(NULL);
  CHECK(c.length > 200);
  c.length = 0;
  mi_stats_print_out(NULL, NULL); /* no function: where all messages go */
  CHECK(c.length > 200);
  mi_register_output(NULL, NULL);
}

int main(void) {
  test_collect_makes_nothing();
  test_other_layout();
  test_live_bytes();
  test_other_threads_count();
  test_validator();
  test_json();
  test_json_short();
  test_bins();
  test_bin_counts();
  test_deleted_heap();
  test_text();
  test_reset();
  return check_done();
}
