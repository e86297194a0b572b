// What the process has used: time, memory, page faults.
#include "../memory/arena.h"
#include "../port/port.h"
#include "../service/message.h"
#include "usage.h"

static _Atomic(uint64_t) started_ns;  // 0: not yet

static uint64_t elapsed_ms(void) {
  const uint64_t now = port_clock_ns();
  uint64_t start = 0;
  while (start == 0 && !cas_relaxed(&started_ns, &start, now)) {}
  return start == 0 ? 0 : (now - start) / 1000000u;
}

PRIVATE void usage_begin(void) { (void)elapsed_ms(); }

static void store(size_t* out, uint64_t value) {
  if (out != NULL) { *out = (size_t)value; }
}

API void mi_process_info(size_t* elapsed_msecs, size_t* user_msecs, size_t* system_msecs,
                         size_t* current_rss, size_t* peak_rss, size_t* current_commit,
                         size_t* peak_commit, size_t* page_faults) {
  port_usage_t usage;
  port_usage(&usage);
  const intptr_t commit = load_relaxed(&memory_stats.committed.current);
  const intptr_t peak = load_relaxed(&memory_stats.committed.peak);
  const size_t committed = commit < 0 ? 0 : (size_t)commit;
  store(elapsed_msecs, elapsed_ms());
  store(user_msecs, usage.user_ms);
  store(system_msecs, usage.system_ms);
  store(current_rss, usage.rss_bytes);
  store(peak_rss, size_max(usage.peak_rss_bytes, usage.rss_bytes));
  store(current_commit, committed);
  store(peak_commit, size_max(peak < 0 ? 0 : (size_t)peak, committed));
  store(page_faults, usage.page_faults);
}

API void mi_process_info_print_out(mi_output_fun* out, void* arg) {
  const out_t sink = message_sink(out, arg);
  size_t elapsed, user, system, rss, peak_rss, commit, peak_commit, faults;
  char rss_text[AMOUNT_CHARS], peak_rss_text[AMOUNT_CHARS], commit_text[AMOUNT_CHARS];
  char peak_commit_text[AMOUNT_CHARS];
  mi_process_info(&elapsed, &user, &system, &rss, &peak_rss, &commit, &peak_commit, &faults);
  out_printf(&sink, "process: %s, id %d\n", port_program_name(), port_process_id());
  format_bytes(rss_text, (int64_t)rss);
  format_bytes(peak_rss_text, (int64_t)peak_rss);
  format_bytes(commit_text, (int64_t)commit);
  format_bytes(peak_commit_text, (int64_t)peak_commit);
  out_printf(&sink, "process: elapsed %zu.%03zu s, user %zu.%03zu s, system %zu.%03zu s\n",
             elapsed / 1000, elapsed % 1000, user / 1000, user % 1000, system / 1000,
             system % 1000);
  out_printf(&sink, "process: resident %s, peak %s; committed %s, peak %s; page faults %zu\n",
             rss_text, peak_rss_text, commit_text, peak_commit_text, faults);
}

API void mi_process_info_print(void) { mi_process_info_print_out(NULL, NULL); }
