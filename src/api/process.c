// What happens as the process starts and as it ends, and what the environment asks for then.
//
// None of this is needed to allocate: a program may do so before our constructor has run, and after
// our destructor. Tests: test/api/process.c, test/lifecycle.
#include "../heap/guard.h"
#include "../memory/arena.h"
#include "../service/message.h"
#include "../service/options.h"
#include "leaks.h"
#include "usage.h"

// ---- start ----

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
  options_init();  // an earlier call may not have known the environment
  if (add_relaxed(&starts, 1) != 0) { return; }
  usage_begin();
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
