/* test: cflags="-Wno-unused-function" libs="pthread" when="threads" */
/* Statistics: counts and peaks, also from several threads; snapshots, sums, tables and JSON. */
#include "../../src/service/format.c"
#include "../../src/service/stats.c"

#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>

#include "../check.h"

static bool is_count(const mi_stat_count_t* c, int64_t peak, int64_t total, int64_t current) {
  return c->peak == peak && c->total == total && c->current == current;
}

static void test_counts(void) {
  stats_t stats = {0};
  stat_bins_t bins = {0};
  mi_stats_t out;
  stat_up(&stats.committed, 100);
  stat_up(&stats.committed, 50);
  stat_down(&stats.committed, 120);
  stat_up(&stats.committed, 10);
  stat_add(&stats.mmap_calls, 1);
  stat_add(&stats.mmap_calls, 2);
  stat_up(&bins.pages[5], 1);
  stats_export(&stats, &out);
  CHECK(is_count(&out.page_bins[5], 0, 0, 0));
  stat_bins_export(&bins, &out);
  CHECK(out.size == sizeof(mi_stats_t) && out.version == MI_STAT_VERSION);
  CHECK(is_count(&out.committed, 150, 160, 40));
  CHECK(is_count(&out.page_bins[5], 1, 1, 1) && is_count(&out.malloc_bins[73], 0, 0, 0));
  CHECK(out.mmap_calls.total == 3);
  stats_clear(&stats);
  stats_export(&stats, &out);
  stat_down(&bins.pages[5], 1);
  stat_up(&bins.blocks[7], 10);
  stat_down(&bins.blocks[7], 4);
  mi_stats_t now = {.malloc_bins[7] = {.total = 15, .peak = 10, .current = 8},
                    .page_bins[5] = {.total = 1, .peak = 1, .current = 0}};
  stat_bins_forget(&bins, &now); /* 5 were taken that nobody told, and 3 of them given back */
  stat_bins_export(&bins, &out);
  CHECK(is_count(&out.committed, 40, 40, 40) && is_count(&out.page_bins[5], 0, 0, 0));
  CHECK(is_count(&out.malloc_bins[7], 6, 3, 6));
  CHECK(out.mmap_calls.total == 0);
}

/* What a reading found, of which a part is told later. */
static void test_forget(void) {
  stats_t stats = {0};
  mi_stats_t out;
  stat_up(&stats.pages, 7);
  stat_add(&stats.pages_retire, 4);
  const mi_stats_t now = {.pages = {.total = 9, .peak = 9, .current = 8}, .pages_retire.total = 6};
  stats_forget(&stats, &now);
  stat_up(&stats.pages, 2);
  stat_down(&stats.pages, 1);
  stat_add(&stats.pages_retire, 2);
  stats_export(&stats, &out);
  CHECK(is_count(&out.pages, 9, 8, 8) && out.pages_retire.total == 0);
}

static void test_merge(void) {
  mi_stats_t a = {0}, b = {0};
  a.pages = (mi_stat_count_t){.peak = 10, .total = 30, .current = 2};
  b.pages = (mi_stat_count_t){.peak = 7, .total = 8, .current = 6};
  a.purged.total = 1;
  b.purged.total = 2;
  b.page_bins[3].total = 4;
  stats_merge(&a, &b);
  CHECK(is_count(&a.pages, 16, 38, 8));
  CHECK(a.purged.total == 3 && a.page_bins[3].total == 4);
}

static stats_t shared;

static void* up_and_down(void* unused) {
  for (int i = 0; i < 20000; i++) {
    stat_up(&shared.malloc_normal, 16);
    stat_add(&shared.malloc_normal_count, 1);
    stat_down(&shared.malloc_normal, 16);
  }
  return unused;
}

static void test_threads(void) {
  pthread_t threads[2];
  mi_stats_t out;
  for (int i = 0; i < 2; i++) { CHECK(pthread_create(&threads[i], NULL, &up_and_down, NULL) == 0); }
  for (int i = 0; i < 2; i++) { pthread_join(threads[i], NULL); }
  stats_export(&shared, &out);
  CHECK(out.malloc_normal.total == 640000 && out.malloc_normal.current == 0);
  CHECK(out.malloc_normal.peak == 16 || out.malloc_normal.peak == 32);
  CHECK(out.malloc_normal_count.total == 40000);
}

static void append(const char* text, void* arg) { strcat(arg, text); }

static void test_table(void) {
  static char text[1 << 14];
  const out_t out = {&append, text};
  mi_stats_t stats = {0};
  stats.committed = (mi_stat_count_t){.peak = 3 << 20, .total = 5 << 20, .current = 1536};
  stats.pages_extended.total = 12345;
  stats_print(&stats, &out, "heap 1");
  CHECK(strcmp(text,
               "heap 1                              peak       total       freed     current\n"
               "  committed                      3.0 MiB     5.0 MiB     5.0 MiB     1.5 KiB\n"
               "  pages extended                              12.3 K\n") == 0);
}

/* ---- a reader of JSON: objects, arrays, numbers, plain strings ---- */

static const char* json_value(const char* p);

static const char* blanks(const char* p) {
  while (isspace((unsigned char)*p)) { p++; }
  return p;
}

static const char* json_string(const char* p) {
  if (*p++ != '"') { return NULL; }
  while (isalnum((unsigned char)*p) || *p == '_' || *p == ' ') { p++; }
  return *p == '"' ? p + 1 : NULL;
}

static const char* json_member(const char* p, char close) {
  if (close == '}') {
    if ((p = json_string(p)) == NULL || *(p = blanks(p)) != ':') { return NULL; }
    p = blanks(p + 1);
  }
  return json_value(p);
}

static const char* json_list(const char* p, char close) {
  p = blanks(p + 1);
  if (*p == close) { return p + 1; }
  for (;; p = blanks(p + 1)) {
    if ((p = json_member(p, close)) == NULL) { return NULL; }
    p = blanks(p);
    if (*p == close) { return p + 1; }
    if (*p != ',') { return NULL; }
  }
}

static const char* json_value(const char* p) {
  if (*p == '{') { return json_list(p, '}'); }
  if (*p == '[') { return json_list(p, ']'); }
  if (*p == '"') { return json_string(p); }
  char* end;
  strtoll(p, &end, 10);
  return end == p ? NULL : end;
}

static bool json_is_valid(const char* text) {
  const char* end = json_value(blanks(text));
  return end != NULL && *blanks(end) == 0;
}

static size_t size_of_bin(size_t bin) { return bin * 16; }
static size_t page_of_bin(size_t bin) { return bin * 1000; }

static const stats_about_t about = {.elapsed_msecs = 12345,
                                    .rss_peak = SIZE_MAX,
                                    .commit_peak = 99,
                                    .block_size = size_of_bin,
                                    .page_size = page_of_bin};

static void* no_memory(size_t size) {
  (void)size;
  return NULL;
}

/* What fits is written, a zero at its end, and nothing behind that. */
static void test_json_cut(const mi_stats_t* stats, const char* text) {
  const size_t needed = strlen(text) + 1;
  char* buf = malloc(needed + 1);
  for (size_t size = 1; size <= needed; size += size < 600 ? 1 : 101) {
    memset(buf, '#', needed + 1);
    CHECK(stats_to_json(stats, &about, (stats_buffer_t){buf, size, &no_memory}) == buf);
    CHECK(strlen(buf) == size - 1 && memcmp(buf, text, size - 1) == 0 && buf[size] == '#');
  }
  CHECK(stats_to_json(stats, &about, (stats_buffer_t){buf, 0, &no_memory}) == NULL);
  free(buf);
}

/* A program of version 5 finds its numbers where that has them, and gives them back so. */
static void test_version_5(void) {
  mi_stats_t stats, back;
  stats5_t old;
  mi_stats_init(&stats);
  stats.heaps.peak = 3, stats.requested.current = 4, stats.malloc_huge_count.total = 5;
  stats.malloc_bins[73].current = 6, stats.page_bins[1].total = 7;
  stats5_from(&old, &stats);
  CHECK(sizeof(old) == 2 * sizeof(size_t) + 173 * 24 + 25 * 8);
  CHECK(offsetof(stats5_t, requested) == 2 * sizeof(size_t) + 8 * 24 + 2 * 8);
  CHECK(offsetof(stats5_t, malloc_bins) == 2 * sizeof(size_t) + 19 * 24 + 25 * 8);
  CHECK(old.size == sizeof(old) && old.version == 5 && old.heaps.peak == 3);
  CHECK(old.requested.current == 4 && old.malloc_huge_count.total == 5);
  CHECK(old.malloc_bins[73].current == 6 && old.page_bins[1].total == 7);
  stats5_to(&old, &back);
  CHECK(memcmp(&back, &stats, sizeof(back)) == 0);
}

static void test_json(void) {
  mi_stats_t stats = {0};
  memset(&stats, 0xFF, sizeof(stats)); /* all -1 */
  stats.committed = (mi_stat_count_t){.peak = INT64_MIN, .total = INT64_MAX, .current = 7};
  char* text = stats_to_json(&stats, &about, (stats_buffer_t){NULL, 0, &malloc});
  CHECK(text != NULL && json_is_valid(text));
  CHECK(strstr(text, "{\n  \"stat_version\": 6,\n  \"mimalloc_version\": 30") == text);
  CHECK(strstr(text, "\"process\": {\n    \"elapsed_msecs\": 12345,") != NULL);
  CHECK(strstr(text, "\"commit_peak\": 99\n  }") != NULL);
  CHECK(strstr(text,
               "\"committed\": { \"total\": 9223372036854775807, \"peak\": -9223372036854775808, "
               "\"current\": 7 }"));
  CHECK(strstr(text, "\"current\": -1, \"block_size\": 48, \"page_size\": 3000 },") != NULL);
  CHECK(strstr(text, "\"mmap_calls\": -1,") != NULL && strstr(text, "\"chunk_bins\": [") != NULL);
  CHECK(strstr(text, "\"current\": -1, \"bin\": \"X\" },") != NULL);
  CHECK(stats_to_json(&stats, &about, (stats_buffer_t){NULL, 0, &no_memory}) == NULL);
  test_json_cut(&stats, text);
  free(text);
}

int main(void) {
  test_counts();
  test_forget();
  test_merge();
  test_threads();
  test_table();
  test_json();
  test_version_5();
  return check_done();
}
