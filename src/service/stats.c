#include "stats.h"

#include <string.h>

#include "../../include/mimalloc.h"
#include "../base/bits.h"

// ---- from and to the public struct ----

static COLD void clear_count(stat_count_t* count) {
  const intptr_t current = load_relaxed(&count->current);
  store_relaxed(&count->total, current);
  store_relaxed(&count->peak, current);
}

PRIVATE void stats_clear(stats_t* stats) {
#define MI_STAT_COUNT(name)   clear_count(&stats->name);
#define MI_STAT_COUNTER(name) store_relaxed(&stats->name.total, 0);
  MI_STAT_FIELDS()
#undef MI_STAT_COUNT
#undef MI_STAT_COUNTER
}

static COLD void forget_count(stat_count_t* count, const mi_stat_count_t* now) {
  (void)sub_relaxed(&count->total, (intptr_t)(now->total - now->current));
  store_relaxed(&count->peak, load_relaxed(&count->current));
}

static COLD void forget_counts(stat_count_t* counts, const mi_stat_count_t* now, size_t n) {
  for (size_t i = 0; i < n; i++) { forget_count(&counts[i], &now[i]); }
}

PRIVATE COLD void stats_forget(stats_t* stats, const mi_stats_t* now){
#define MI_STAT_COUNT(name)   forget_count(&stats->name, &now->name);
#define MI_STAT_COUNTER(name) (void)sub_relaxed(&stats->name.total, (intptr_t)now->name.total);
    MI_STAT_FIELDS()
#undef MI_STAT_COUNT
#undef MI_STAT_COUNTER
}

PRIVATE COLD void stat_bins_forget(stat_bins_t* bins, const mi_stats_t* now) {
  forget_counts(bins->pages, now->page_bins, STAT_PAGE_BINS);
  forget_counts(bins->blocks, now->malloc_bins, STAT_MALLOC_BINS);
}

PRIVATE COLD void stats_for_each(mi_stats_t* stats, stat_count_fun* fun) {
#define MI_STAT_COUNT(name) fun(&stats->name);
#define MI_STAT_COUNTER(name)
  MI_STAT_FIELDS()
#undef MI_STAT_COUNT
#undef MI_STAT_COUNTER
  for (int i = 0; i < STAT_MALLOC_BINS; i++) { fun(&stats->malloc_bins[i]); }
  for (int i = 0; i < STAT_PAGE_BINS; i++) { fun(&stats->page_bins[i]); }
  for (int i = 0; i < STAT_CHUNK_BINS; i++) { fun(&stats->chunk_bins[i]); }
}

static void count_end(mi_stat_count_t* count) { count->current = 0; }

PRIVATE void stats_end(mi_stats_t* stats) { stats_for_each(stats, count_end); }

static COLD void export_count(const stat_count_t* count, mi_stat_count_t* out) {
  out->total = load_relaxed(&count->total);
  out->current = load_relaxed(&count->current);
  out->peak =
      int64_max(load_relaxed(&count->peak), out->current);  // another thread may be between the two
}

static COLD void export_counts(const stat_count_t* counts, mi_stat_count_t* out, size_t n) {
  for (size_t i = 0; i < n; i++) { export_count(&counts[i], &out[i]); }
}

PRIVATE void stats_export(const stats_t* stats, mi_stats_t* out) {
  memset(out, 0, sizeof(*out));
  out->size = sizeof(*out);
  out->version = MI_STAT_VERSION;
#define MI_STAT_COUNT(name)   export_count(&stats->name, &out->name);
#define MI_STAT_COUNTER(name) out->name.total = load_relaxed(&stats->name.total);
  MI_STAT_FIELDS()
#undef MI_STAT_COUNT
#undef MI_STAT_COUNTER
}

PRIVATE COLD void stat_bins_export(const stat_bins_t* bins, mi_stats_t* out) {
  export_counts(bins->pages, out->page_bins, STAT_PAGE_BINS);
  export_counts(bins->blocks, out->malloc_bins, STAT_MALLOC_BINS);
}

PRIVATE COLD void stat_count_merge(mi_stat_count_t* into, const mi_stat_count_t* from) {
  into->peak = int64_max(into->peak + from->current, into->current + from->peak);
  into->total += from->total;
  into->current += from->current;
}

static COLD void merge_counts(mi_stat_count_t* into, const mi_stat_count_t* from, size_t n) {
  for (size_t i = 0; i < n; i++) { stat_count_merge(&into[i], &from[i]); }
}

PRIVATE void stats_merge(mi_stats_t* into, const mi_stats_t* from) {
#define MI_STAT_COUNT(name)   stat_count_merge(&into->name, &from->name);
#define MI_STAT_COUNTER(name) into->name.total += from->name.total;
  MI_STAT_FIELDS()
#undef MI_STAT_COUNT
#undef MI_STAT_COUNTER
  merge_counts(into->malloc_bins, from->malloc_bins, STAT_MALLOC_BINS);
  merge_counts(into->page_bins, from->page_bins, STAT_PAGE_BINS);
  merge_counts(into->chunk_bins, from->chunk_bins, STAT_CHUNK_BINS);
}

// ---- version 5 ----

// Sizes of the arrays are those of today's layout.
#define COPY_BINS(from, to)                                                  \
  memcpy((to)->malloc_bins, (from)->malloc_bins, sizeof((to)->malloc_bins)), \
      memcpy((to)->page_bins, (from)->page_bins, sizeof((to)->page_bins)),   \
      memcpy((to)->chunk_bins, (from)->chunk_bins, sizeof((to)->chunk_bins))

#define MI_STAT_COUNT(name)   out->name = stats->name;
#define MI_STAT_COUNTER(name) out->name = stats->name;
PRIVATE void stats5_from(stats5_t* out, const mi_stats_t* stats) {
  memset(out, 0, sizeof(*out));
  out->size = sizeof(*out);
  out->version = STATS5_VERSION;
  STATS5_FIELDS()
  COPY_BINS(stats, out);
}

PRIVATE void stats5_to(const stats5_t* stats, mi_stats_t* out) {
  mi_stats_init(out);
  STATS5_FIELDS()
  COPY_BINS(stats, out);
}
#undef MI_STAT_COUNT
#undef MI_STAT_COUNTER

// ---- as a table ----

// All other fields count things.
static const char fields_in_bytes[][20] = {
    "reserved",         "committed",     "reset",       "purged",
    "page_committed",   "allocated",     "freed",       "requested",
    "malloc_requested", "malloc_normal", "malloc_huge",
};

static void amount_text(const char* name, int64_t amount, char* buf) {
  for (size_t i = 0; i < sizeof(fields_in_bytes) / sizeof(fields_in_bytes[0]); i++) {
    if (strcmp(name, fields_in_bytes[i]) == 0) {
      format_bytes(buf, amount);
      return;
    }
  }
  format_count(buf, amount);
}

// "page_searches" is "page searches" to people.
static void label_text(const char* name, char* label, size_t size) {
  const size_t length = format_text(label, size, "%s", name);
  for (size_t i = 0; i < length; i++) {
    if (label[i] == '_') { label[i] = ' '; }
  }
}

PRIVATE COLD void stats_print_row(const out_t* out, const char* name,
                                  const mi_stat_count_t* count) {
  char label[32], peak[AMOUNT_CHARS], total[AMOUNT_CHARS];
  char freed[AMOUNT_CHARS], current[AMOUNT_CHARS];
  if (count->total == 0 && count->peak == 0 && count->current == 0) { return; }
  label_text(name, label, sizeof(label));
  amount_text(name, count->peak, peak);
  amount_text(name, count->total, total);
  amount_text(name, count->total - count->current, freed);
  amount_text(name, count->current, current);
  out_printf(out, "  %-26s %11s %11s %11s %11s\n", label, peak, total, freed, current);
}

static COLD void print_counter(const out_t* out, const char* name, int64_t total) {
  char label[32], text[AMOUNT_CHARS];
  if (total == 0) { return; }
  label_text(name, label, sizeof(label));
  amount_text(name, total, text);
  out_printf(out, "  %-26s %11s %11s\n", label, "", text);
}

PRIVATE void stats_print(const mi_stats_t* stats, const out_t* out, const char* title) {
  out_printf(out, "%-28s %11s %11s %11s %11s\n", title, "peak", "total", "freed", "current");
#define MI_STAT_COUNT(name)   stats_print_row(out, #name, &stats->name);
#define MI_STAT_COUNTER(name) print_counter(out, #name, stats->name.total);
  MI_STAT_FIELDS()
#undef MI_STAT_COUNT
#undef MI_STAT_COUNTER
}

// ---- as JSON ----

typedef struct json_s {
  char* buf;
  size_t size;
  size_t length;  // of the whole text, whether it fits or not
  const stats_about_t* about;
} json_t;

static COLD PRINTF_LIKE(2, 3) void json_put(json_t* json, const char* fmt, ...) {
  char piece[256];
  va_list args;
  va_start(args, fmt);
  const size_t length = format_into(piece, sizeof(piece), fmt, args);
  va_end(args);
  if (json->length < json->size) {
    const size_t part = size_min(length, json->size - json->length - 1);
    memcpy(json->buf + json->length, piece, part);
    json->buf[json->length + part] = 0;
  }
  json->length += length;
}

// Without the brace at the end.
static COLD void json_count(json_t* json, const mi_stat_count_t* count) {
  json_put(json, "{ \"total\": %lld, \"peak\": %lld, \"current\": %lld", (long long)count->total,
           (long long)count->peak, (long long)count->current);
}

static COLD void json_count_field(json_t* json, const char* name, const mi_stat_count_t* count) {
  json_put(json, ",\n  \"%s\": ", name);
  json_count(json, count);
  json_put(json, " }");
}

static COLD void json_size_bin(json_t* json, size_t bin) {
  json_put(json, ", \"block_size\": %zu, \"page_size\": %zu", json->about->block_size(bin),
           json->about->page_size(bin));
}

static COLD void json_chunk_bin(json_t* json, size_t bin) {
  static const char letters[STAT_CHUNK_BINS + 1] = "SXMLH ";
  json_put(json, ", \"bin\": \"%c\"", letters[bin]);
}

typedef struct json_bins {
  const char* name;
  const mi_stat_count_t* counts;
  size_t n;
  void (*put_about)(json_t* json, size_t bin);
} json_bins_t;

static COLD void json_put_bins(json_t* json, json_bins_t bins) {
  json_put(json, ",\n  \"%s\": [", bins.name);
  for (size_t i = 0; i < bins.n; i++) {
    json_put(json, i == 0 ? "\n    " : ",\n    ");
    json_count(json, &bins.counts[i]);
    bins.put_about(json, i);
    json_put(json, " }");
  }
  json_put(json, "\n  ]");
}

static COLD void json_process(json_t* json) {
  const stats_about_t* a = json->about;
  json_put(json,
           ",\n  \"process\": {\n    \"elapsed_msecs\": %zu,\n    \"user_msecs\": %zu,\n"
           "    \"system_msecs\": %zu,\n    \"page_faults\": %zu,\n",
           a->elapsed_msecs, a->user_msecs, a->system_msecs, a->page_faults);
  json_put(json, "    \"rss_current\": %zu,\n    \"rss_peak\": %zu,\n", a->rss_current,
           a->rss_peak);
  json_put(json, "    \"commit_current\": %zu,\n    \"commit_peak\": %zu\n  }", a->commit_current,
           a->commit_peak);
}

static void json_stats(json_t* json, const mi_stats_t* stats) {
  json_put(json, "{\n  \"stat_version\": %d,\n  \"mimalloc_version\": %d", (int)MI_STAT_VERSION,
           (int)MI_MALLOC_VERSION);
  json_process(json);
#define MI_STAT_COUNT(name) json_count_field(json, #name, &stats->name);
#define MI_STAT_COUNTER(name) \
  json_put(json, ",\n  \"%s\": %lld", #name, (long long)stats->name.total);
  MI_STAT_FIELDS()
#undef MI_STAT_COUNT
#undef MI_STAT_COUNTER
  json_put_bins(json,
                (json_bins_t){"malloc_bins", stats->malloc_bins, STAT_MALLOC_BINS, json_size_bin});
  json_put_bins(json, (json_bins_t){"page_bins", stats->page_bins, STAT_PAGE_BINS, json_size_bin});
  json_put_bins(json,
                (json_bins_t){"chunk_bins", stats->chunk_bins, STAT_CHUNK_BINS, json_chunk_bin});
  json_put(json, "\n}\n");
}

PRIVATE char* stats_to_json(const mi_stats_t* stats, const stats_about_t* about,
                            stats_buffer_t to) {
  if (to.buf == NULL || to.size == 0) {
    json_t measure = {.about = about};
    json_stats(&measure, stats);
    to.size = measure.length + 1;
    to.buf = (char*)to.allocate(to.size);
  }
  if (to.buf == NULL) { return NULL; }
  json_t json = {to.buf, to.size, 0, about};
  json_stats(&json, stats);
  return to.buf;
}
