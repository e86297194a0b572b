// The process as the program sees it: what happens as it starts and as it
// ends, what the user asked for in the environment, and the numbers of the process.
//
// None of this is needed to allocate: a program may do so before our constructor has run, and after
// our destructor. Tests: test/api/process.c, test/lifecycle.
#include "../heap/guard.h"
#include "../memory/arena.h"
#include "../service/message.h"
#include "../service/options.h"
#include "inspect.h"
#include "leaks.h"

// ---- start ----

static _Atomic(uint64_t) started_ns;  // 0: not yet

static uint64_t elapsed_ms(void) {
  const uint64_t now = port_clock_ns();
  uint64_t start = 0;
  while (start == 0 && !cas_relaxed(&started_ns, &start, now)) {}
  return start == 0 ? 0 : (now - start) / 1000000u;
}

static COLD void print_banner(void) {
  const out_t out = message_sink(NULL, NULL);
  const int version = mi_version();
  message_verbose("version %d.%d.%d, compiler %s", version / 10000, version / 100 % 100,
                  version % 100, __VERSION__);
  message_verbose("secure %d, debug %d, guarded %d", (int)SECURE_LEVEL, (int)DEBUG_LEVEL,
                  (int)GUARDED_BUILD);
  const size_t limit = port_address_limit();
  message_verbose("OS page of %zu KiB, %d NUMA nodes, address space limit %zu MiB%s",
                  port_page_bytes() / KiB, port_numa_count(), limit == SIZE_MAX ? 0 : limit / MiB,
                  limit == SIZE_MAX ? " (none)" : "");
  options_print(&out);
}

static COLD void reserve_what_options_say(void) {
  enum { MSECS_A_PAGE = 500 };
  const size_t pages = option_size(mi_option_reserve_huge_os_pages);
  const long node = option_get(mi_option_reserve_huge_os_pages_at);
  const size_t bytes = option_size(mi_option_reserve_os_memory);
  if (pages > 0 && node >= 0) {
    (void)mi_reserve_huge_os_pages_at(pages, (int)node, pages * MSECS_A_PAGE);
  } else if (pages > 0) {
    (void)mi_reserve_huge_os_pages_interleave(pages, 0, pages * MSECS_A_PAGE);
  }
  if (bytes > 0) {
    (void)mi_reserve_os_memory(bytes, true, option_is_enabled(mi_option_allow_large_os_pages));
  }
}

static bool will_print(void) {
  return option_is_enabled(mi_option_show_errors) || option_is_enabled(mi_option_verbose) ||
         option_is_enabled(mi_option_show_stats) || option_is_enabled(mi_option_show_leaks);
}

static bool will_print_at_end(void) {
  return option_is_enabled(mi_option_show_stats) || option_is_enabled(mi_option_show_leaks);
}

// Whoever comes first does it; the others do not wait.
static COLD void process_start(void) {
  static _Atomic(int) starts;
  process_init();
  if (add_relaxed(&starts, 1) != 0) { return; }
  (void)elapsed_ms();
  port_retry_for(option_get(mi_option_retry_on_oom));
  process_watch_fork();
  if (will_print()) { port_check_stderr(); }
  if (will_print_at_end()) { port_keep_stderr(); }
  if (option_is_enabled(mi_option_verbose)) { print_banner(); }
  guard_start_by_options();
  if (NOTE_BLOCKS && option_is_enabled(mi_option_show_leaks)) { traces_start(); }
  reserve_what_options_say();
}

// ---- end ----

// What other exit handlers and the C library still hold stays: it is in the main heap. So do the
// heaps that other threads, which still run, may be using.
static COLD void give_all_back(void) {
  if (!process_is_threaded()) { subproc_destroy_heaps(subproc_current()); }
  mi_collect(true);
}

static COLD void print_leaks(void) {
  const out_t out = message_sink(NULL, NULL);
  leaks_print(&out);
}

static COLD void process_end(void) {
  static _Atomic(int) ends;
  if (add_relaxed(&ends, 1) != 0) { return; }
  if (option_is_enabled(mi_option_show_stats)) { mi_stats_print_out(NULL, NULL); }
  if (option_is_enabled(mi_option_show_leaks)) { print_leaks(); }
  if (NOTE_BLOCKS) { quarantine_check(theap_current()); }
  if (option_is_enabled(mi_option_destroy_on_exit)) { give_all_back(); }
}

// ---- public ----

API void mi_process_init(void) { process_start(); }
API void mi_process_done(void) { process_end(); }

API void mi_register_output(mi_output_fun* out, void* arg) { message_register_output(out, arg); }
API void mi_register_error(mi_error_fun* fun, void* arg) { message_register_error(fun, arg); }

API int mi_version(void) { return MI_MALLOC_VERSION; }

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
