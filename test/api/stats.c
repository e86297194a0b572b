/* test: timeout=60
   Statistics: layout of the struct, consistent numbers, text, valid JSON, bins. */
#define _GNU_SOURCE 1
#include "../system.h"
#include "api.h"

#include <stdio.h>

/* The layout is part of the interface: programs are compiled with mimalloc's own headers. Offsets
   are those behind size and version, and sizes those of its fields. */
#define HEAD (2 * sizeof(size_t))
#define FIELD(name, offset, bytes) \
  {#name, offsetof(mi_stats_t, name) - HEAD, (offset) - 16, sizeof(((mi_stats_t*)0)->name), bytes}

static const struct {
  const char* name;
  size_t is_at, at, is_long, bytes;
} fields[] = {
    FIELD(pages, 16, 24),
    FIELD(reserved, 40, 24),
    FIELD(committed, 64, 24),
    FIELD(reset, 88, 8),
    FIELD(purged, 96, 8),
    FIELD(page_committed, 104, 24),
    FIELD(pages_abandoned, 128, 24),
    FIELD(threads, 152, 24),
    FIELD(allocated, 176, 24),
    FIELD(malloc_count, 200, 8),
    FIELD(free_count, 208, 8),
    FIELD(freed, 216, 8),
    FIELD(malloc_requested, 224, 8),
    FIELD(mmap_calls, 232, 8),
    FIELD(commit_calls, 240, 8),
    FIELD(reset_calls, 248, 8),
    FIELD(purge_calls, 256, 8),
    FIELD(arena_count, 264, 8),
    FIELD(malloc_guarded_count, 272, 8),
    FIELD(arena_rollback_count, 280, 8),
    FIELD(arena_purges, 288, 8),
    FIELD(pages_extended, 296, 8),
    FIELD(pages_retire, 304, 8),
    FIELD(page_searches, 312, 8),
    FIELD(page_searches_count, 320, 8),
    FIELD(segments, 328, 24),
    FIELD(segments_abandoned, 352, 24),
    FIELD(segments_cache, 376, 24),
    FIELD(_segments_reserved, 400, 24),
    FIELD(heaps, 424, 24),
    FIELD(theaps, 448, 24),
    FIELD(pages_os_abandoned, 472, 24),
    FIELD(pages_os_allocated, 496, 24),
    FIELD(pages_reclaim_on_alloc, 520, 8),
    FIELD(pages_reclaim_on_free, 528, 8),
    FIELD(pages_reabandon_full, 536, 8),
    FIELD(pages_unabandon_busy_wait, 544, 8),
    FIELD(pages_unown_cas_retry, 552, 8),
    FIELD(heaps_delete_wait, 560, 8),
    FIELD(pages_stat_updates, 568, 8),
    FIELD(pages_stat_update_count, 576, 8),
    FIELD(profile_samples, 584, 8),
    FIELD(malloc_normal, 592, 24),
    FIELD(malloc_huge, 616, 24),
    FIELD(malloc_normal_count, 640, 8),
    FIELD(malloc_huge_count, 648, 8),
    FIELD(malloc_bins, 784, 1776),
    FIELD(page_bins, 2560, 1776),
    FIELD(chunk_bins, 4336, 144),
};

static void test_layout(void) {
  for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
    const bool fits = fields[i].is_at == fields[i].at && fields[i].is_long == fields[i].bytes;
    CHECK(fits);
    if (!fits) { fprintf(stderr, "%s\n", fields[i].name); }
  }
  CHECK(offsetof(mi_stats_t, version) == sizeof(size_t) && MI_STAT_VERSION == 6);
  CHECK(sizeof(mi_stats_t) == HEAD + 4480 - 16);
  CHECK(MI_BIN_HUGE == 73 && MI_CBIN_SMALL == 0 && MI_CBIN_OTHER == 1 && MI_CBIN_MEDIUM == 2);
  CHECK(MI_CBIN_LARGE == 3 && MI_CBIN_HUGE == 4 && MI_CBIN_NONE == 5 && MI_CBIN_COUNT == 6);
  CHECK(sizeof(mi_chunkbin_t) == sizeof(int));
}

static void test_init(void) {
  mi_stats_t stats;
  mi_stats_t_decl(declared);
  CHECK(declared.size == sizeof(declared) && declared.version == 6 && declared.pages.total == 0);
  memset(&stats, 'x', sizeof(stats));
  mi_stats_header_init(&stats);
  CHECK(stats.size == sizeof(stats) && stats.version == 6 && stats.malloc_bins[9].peak != 0);
  mi_stats_init(&stats);
  CHECK(memcmp(&stats, &declared, sizeof(stats)) == 0);
}

/* A program that was compiled with another layout gets no numbers, and nothing is written. */
static void test_other_layout(void) {
  mi_stats_t stats = {.size = sizeof(mi_stats_t) - 8, .version = MI_STAT_VERSION};
  stats.pages.total = -5;
  CHECK(!mi_stats_get(&stats) && stats.pages.total == -5);
  stats.size = sizeof(mi_stats_t) + 8;
  CHECK(!mi_stats_get(&stats) && stats.pages.total == -5);
  stats = (mi_stats_t){.size = sizeof(mi_stats_t), .version = MI_STAT_VERSION + 1};
  CHECK(!mi_stats_get(&stats) && !mi_stats_get(NULL));
  stats.version = 5; /* of another size */
  CHECK(!mi_stats_get(&stats) && mi_stats_as_json(&stats, 0, NULL) == NULL);
}

/* What a program that was compiled with version 5 has: its fields by their places, in words of 8
   bytes behind the header. */
typedef struct {
  size_t size, version;
  int64_t words[173 * 3 + 25];
} stats5_t;

enum { NORMAL_TOTAL_5 = 20, HUGE_5 = 23, REQUESTED_5 = 26, HEAPS_5 = 55, BIN_HUGE_5 = 82 + 3 * 73 };

static void test_version_5(void) {
  void* p = mi_malloc(3 * MIB);
  void* q = mi_malloc(3);
  stats5_t old = {.size = sizeof(old), .version = 5};
  mi_stats_t* stats = (mi_stats_t*)(void*)&old;
  CHECK(mi_stats_get(stats) && old.size == sizeof(old) && old.version == 5);
  CHECK(old.words[NORMAL_TOTAL_5] > 0 && old.words[HUGE_5 + 2] >= 3 * MIB);
  CHECK(old.words[REQUESTED_5 + 2] >= 3 * MIB && old.words[HEAPS_5 + 2] >= 1);
  CHECK(old.words[BIN_HUGE_5 + 2] >= 1);
  CHECK(mi_heap_stats_get(mi_heap_main(), stats) && old.words[HUGE_5 + 2] >= 3 * MIB);
  CHECK(mi_subproc_stats_get(mi_subproc_main(), stats) && old.words[HUGE_5 + 2] >= 3 * MIB);
  CHECK(mi_subproc_stats_get_exclusive(mi_subproc_main(), stats) && old.words[HUGE_5 + 2] == 0);
  char* json = mi_stats_as_json(stats, 0, NULL);
  CHECK(json != NULL && strstr(json, "\"stat_version\": 6") != NULL);
  mi_free(json);
  mi_free(p);
  mi_free(q);
}

/* The line of a number, or of a count and what it consists of. */
static bool json_agrees(const char* a, const char* b, const char* name) {
  char wanted[40];
  snprintf(wanted, sizeof(wanted), "  \"%s\": ", name);
  a = strstr(a, wanted), b = strstr(b, wanted);
  return a != NULL && b != NULL && strncmp(a, b, (size_t)(strchr(a, '\n') - a)) == 0;
}

/* As JSON, the numbers of version 5 are those of today, also of what version 5 does not have. Its
   peaks are of small and of large blocks: of both together it is the sum. */
static void test_version_5_as_json(void) {
  static void* blocks[1000];
  static const char* const same[] = {"malloc_normal",   "malloc_huge", "malloc_count",
                                     "free_count",      "freed",       "requested",
                                     "malloc_requested"};
  for (size_t i = 0; i < 1000; i++) { blocks[i] = mi_malloc(1000); }
  void* large = mi_malloc(3 * MIB);
  for (size_t i = 0; i < 900; i++) { mi_free(blocks[i]); }
  stats5_t old = {.size = sizeof(old), .version = 5};
  mi_stats_t* stats5 = (mi_stats_t*)(void*)&old;
  mi_stats_t_decl(stats);
  CHECK(mi_stats_get(&stats) && mi_stats_get(stats5));
  char* json = mi_stats_as_json(&stats, 0, NULL);
  char* json5 = mi_stats_as_json(stats5, 0, NULL);
  for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
    const bool agrees = json_agrees(json, json5, same[i]);
    CHECK(agrees);
    if (!agrees) { fprintf(stderr, "%s\n", same[i]); }
  }
  long long total = 0, peak = 0, current = 0;
  CHECK(sscanf(strstr(json5, "\"allocated\""),
               "\"allocated\": { \"total\": %lld, \"peak\": %lld, \"current\": %lld", &total, &peak,
               &current) == 3);
  CHECK(total == stats.allocated.total && current == stats.allocated.current);
  CHECK(current > 3 * MIB && peak >= current && peak <= total);
  CHECK(strstr(json5, "\"peaks_are_exact\": 0") != NULL);
  mi_free(json);
  mi_free(json5);
  mi_free(large);
  for (size_t i = 900; i < 1000; i++) { mi_free(blocks[i]); }
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

static bool is_near(int64_t is, size_t request) {
  const int64_t off = is - (int64_t)request;
  return off >= -(int64_t)request / 20 && off <= (int64_t)request / 20;
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
  test_thread_t thread;
  CHECK(thread_start(&thread, allocate_in_thread, &usable));
  (void)thread_join(thread);
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

/* Too small a buffer gets what fits, ended by 0. */
static void test_json_short(void) {
  static char buffer[2000];
  for (size_t size = 1; size <= 1000; size = size * 3 / 2 + 1) {
    memset(buffer, 'x', sizeof(buffer));
    CHECK(mi_stats_get_json(size, buffer) == buffer && strlen(buffer) == size - 1);
    CHECK(strncmp(buffer, "{\n  \"stat_version\": 6,", size < 22 ? size - 1 : 22) == 0);
    for (size_t i = size; i < sizeof(buffer); i++) { CHECK(buffer[i] == 'x'); }
  }
}

/* What a program reads beside the counts. */
static void test_json_members(void) {
  char* json = mi_stats_get_json(0, NULL);
  CHECK(strstr(json, "\"process\": {\n    \"elapsed_msecs\": ") != NULL);
  CHECK(strstr(json, "\"rss_current\": ") != NULL && strstr(json, "\"commit_peak\": ") != NULL);
  CHECK(strstr(json, "\"block_size\": 1024, \"page_size\": 65536 }") != NULL);
  CHECK(strstr(json, "\"bin\": \"S\" }") != NULL);
  mi_free(json);
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

static mi_stats_t heap_stats(mi_heap_t* heap) {
  mi_stats_t_decl(stats);
  CHECK(mi_heap_stats_get(heap, &stats));
  return stats;
}

/* Struct, JSON and text say whether peaks of blocks are exact: of a heap in debug builds, never of
   several, whose peaks may have been one after the other. */
static void test_peaks(void) {
  enum { BYTES = 40 * MIB };
  mi_heap_t* heap = mi_heap_new();
  void* p = mi_heap_malloc(heap, BYTES);
  mi_free(p);
  const mi_stats_t one = heap_stats(heap), all = stats_now();
  CHECK(one.peaks_are_exact.total == one.requested_is_exact.total);
  CHECK(one.peaks_are_exact.total == 0 || one.requested.peak == BYTES);
  CHECK(one.allocated.peak >= BYTES && all.peaks_are_exact.total == 0);
  char* json = mi_stats_get_json(0, NULL);
  CHECK(strstr(json, "\"peaks_are_exact\": 0") != NULL);
  mi_free(json);
  json = mi_heap_stats_get_json(heap, 0, NULL);
  CHECK((strstr(json, "\"peaks_are_exact\": 1") != NULL) == (one.peaks_are_exact.total == 1));
  mi_free(json);
  static capture_t c;
  mi_stats_print_out(capture, &c);
  CHECK(strstr(c.text, "(estimates: peaks of blocks") != NULL);
  c.length = 0;
  mi_heap_stats_print_out(heap, capture, &c);
  CHECK((strstr(c.text, "(estimates: peaks of blocks") == NULL) ==
        (one.peaks_are_exact.total == 1));
  mi_heap_delete(heap);
}

static void test_text(void) {
  static capture_t c;
  void* p = mi_malloc(999);
  mi_stats_print_out(capture, &c);
  CHECK(c.length > 200 && strchr(c.text, '\n') != NULL);
  CHECK(strstr(c.text, "blocks of 1024 bytes") != NULL);
  const bool exact = stats_now().peaks_are_exact.total == 1;
  CHECK((strstr(c.text, "(estimates: peaks of blocks") == NULL) == exact);
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
  test_layout();
  test_init();
  test_other_layout();
  test_version_5();
  test_version_5_as_json();
  test_live_bytes();
  if (HAS_THREADS) { test_other_threads_count(); }
  test_validator();
  test_json();
  test_json_short();
  test_json_members();
  test_bins();
  test_bin_counts();
  test_deleted_heap();
  test_text();
  test_peaks();
  test_reset();
  return check_done();
}
