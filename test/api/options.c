/* test: runs-itself timeout=60 when="posix|wasm whole"
   Options: numbers, set and get, and the environment, where there are processes, by running
   itself again with MIMALLOC_ variables set. */
#define _GNU_SOURCE 1
#include "../system.h"
#include "api.h"

static void test_numbers(void) {
  CHECK(mi_option_show_errors == 0 && mi_option_show_stats == 1 && mi_option_verbose == 2);
  CHECK(mi_option_arena_eager_commit == 4 && mi_option_purge_decommits == 5);
  CHECK(mi_option_allow_large_os_pages == 6 && mi_option_reserve_huge_os_pages == 7);
  CHECK(mi_option_reserve_huge_os_pages_at == 8 && mi_option_reserve_os_memory == 9);
  CHECK(mi_option_purge_delay == 15 && mi_option_use_numa_nodes == 16 &&
        mi_option_disallow_os_alloc == 17);
  CHECK(mi_option_os_tag == 18 && mi_option_max_errors == 19 && mi_option_max_warnings == 20);
  CHECK(mi_option_destroy_on_exit == 22 && mi_option_arena_reserve == 23 &&
        mi_option_arena_purge_mult == 24);
  CHECK(mi_option_disallow_arena_alloc == 26 && mi_option_retry_on_oom == 27 &&
        mi_option_visit_abandoned == 28);
  CHECK(mi_option_guarded_min == 29 && mi_option_guarded_max == 30 &&
        mi_option_guarded_precise == 31);
  CHECK(mi_option_guarded_sample_rate == 32 && mi_option_guarded_sample_seed == 33);
  CHECK(mi_option_generic_collect == 34 && mi_option_page_reclaim_on_free == 35);
  CHECK(mi_option_page_full_retain == 36 && mi_option_page_max_candidates == 37 &&
        mi_option_max_vabits == 38);
  CHECK(mi_option_pagemap_commit == 39 && mi_option_page_commit_on_demand == 40);
  CHECK(mi_option_page_max_reclaim == 41 && mi_option_page_cross_thread_max_reclaim == 42);
  CHECK(mi_option_allow_thp == 43 && mi_option_minimal_purge_size == 44);
  CHECK(mi_option_arena_max_object_size == 45 && mi_option_arena_is_numa_local == 46);
  CHECK(mi_option_stats_merge_on_collect == 47 && mi_option_profile_alloc_interval == 48 &&
        mi_option_profile_inuse_interval == 49 && mi_option_profile_time_interval == 50);
  CHECK(mi_option_profile_sample_rate == 51 && mi_option_stats_merge_threshold == 52 &&
        mi_option_arena_purge_immediate_size == 53 && _mi_option_last == 54);
  CHECK(mi_option_corruption == 1000 && mi_option_fill_freed == 1001 &&
        mi_option_quarantine_size == 1002 && mi_option_show_leaks == 1003 &&
        mi_option_guarded_sample_bytes == 1004 &&
        mi_option_guarded_underflow == 1005); /* ours, out of the way of mimalloc's */
  CHECK(mi_option_large_os_pages == 6 && mi_option_eager_region_commit == 4 &&
        mi_option_reset_decommits == 5);
  CHECK(mi_option_reset_delay == 15 && mi_option_limit_os_alloc == 17 &&
        mi_option_abandoned_reclaim_on_free == 35);
}

static void test_set_and_get(void) {
  CHECK(mi_option_get(mi_option_max_errors) == 32 &&
        mi_option_get(mi_option_generic_collect) == 10000);
  mi_option_set(mi_option_purge_delay, 123);
  CHECK(mi_option_get(mi_option_purge_delay) == 123);
  CHECK(mi_option_get_clamp(mi_option_purge_delay, 0, 100) == 100);
  CHECK(mi_option_get_clamp(mi_option_purge_delay, 200, 300) == 200);
  CHECK(mi_option_get_clamp(mi_option_purge_delay, 100, 200) == 123);
  mi_option_set(mi_option_purge_delay, -1);
  CHECK(mi_option_get(mi_option_purge_delay) == -1);
  mi_option_set_default(mi_option_purge_delay, 55); /* a value set by someone stays */
  CHECK(mi_option_get(mi_option_purge_delay) == -1);
  mi_option_set_default(mi_option_max_warnings, 77);
  CHECK(mi_option_get(mi_option_max_warnings) == 77);
  mi_option_enable(mi_option_visit_abandoned);
  CHECK(mi_option_is_enabled(mi_option_visit_abandoned) &&
        mi_option_get(mi_option_visit_abandoned) == 1);
  mi_option_disable(mi_option_visit_abandoned);
  CHECK(!mi_option_is_enabled(mi_option_visit_abandoned));
  mi_option_set_enabled(mi_option_visit_abandoned, true);
  CHECK(mi_option_is_enabled(mi_option_visit_abandoned));
  mi_option_set_enabled_default(mi_option_visit_abandoned, false);
  CHECK(mi_option_is_enabled(mi_option_visit_abandoned));
  mi_option_set_enabled_default(mi_option_destroy_on_exit, true);
  CHECK(mi_option_is_enabled(mi_option_destroy_on_exit));
  mi_option_set_enabled_default(mi_option_destroy_on_exit, false);
}

static void test_sizes(void) {
  mi_option_set(mi_option_arena_reserve, 1024); /* KiB */
  CHECK(mi_option_get_size(mi_option_arena_reserve) == MIB);
  mi_option_set(mi_option_arena_reserve, 64 * 1024);
  CHECK(mi_option_get_size(mi_option_arena_reserve) == 64 * MIB);
}

static void test_no_such_option(void) {
  const volatile int numbers[] = {-1, _mi_option_last, 1999};
  for (size_t i = 0; i < 3; i++) {
    const mi_option_t none = (mi_option_t)numbers[i];
    mi_option_set(none, 5);
    mi_option_set_default(none, 5);
    CHECK(mi_option_get(none) == 0 && !mi_option_is_enabled(none) && mi_option_get_size(none) == 0);
  }
}

typedef struct {
  char text[128 * KIB];
  size_t length;
} capture_t;

static void capture(const char* message, void* arg) {
  capture_t* c = arg;
  for (; *message != 0 && c->length + 1 < sizeof(c->text); message++) {
    c->text[c->length++] = *message;
  }
  c->text[c->length] = 0;
}

static void test_print(void) {
  static capture_t c;
  mi_options_print_out(capture, &c);
  CHECK(strstr(c.text, "purge_delay") != NULL && strstr(c.text, "show_errors") != NULL);
  CHECK(strstr(c.text, "arena_is_numa_local") != NULL);
  mi_register_output(capture, &c);
  c.length = 0;
  mi_options_print();
  CHECK(strstr(c.text, "purge_delay") != NULL);
  mi_register_output(NULL, NULL);
}

/* ---- the environment ---- */

/* The child prints `mi_option_get` and `mi_option_get_size` of the option with this number, and
 * whether a default set later applies. */
static int child(const char* number) {
  const mi_option_t option = (mi_option_t)atoi(number);
  void* p = mi_malloc(100);
  mi_free(p);
  printf("%ld %zu", mi_option_get(option), mi_option_get_size(option));
  mi_option_set_default(option, 4242);
  printf(" %d\n", mi_option_get(option) == 4242);
  return 0;
}

#if TEST_HAS_PROCESSES

typedef struct {
  long value;
  size_t size;
  int took_default;
  char errors[16 * KIB];
} outcome_t;

static void read_all(int fd, char* text, size_t capacity) {
  size_t length = 0;
  for (;;) {
    const ssize_t n = read(fd, text + length, capacity - 1 - length);
    if (n <= 0) { break; }
    length += (size_t)n;
  }
  text[length] = 0;
}

static const char* program;

static void become_child(mi_option_t option, char* const* environment, const int out[2],
                         const int err[2]) {
  char number[16];
  snprintf(number, sizeof(number), "%d", (int)option);
  char* arguments[] = {(char[]){"options"}, number, NULL};
  dup2(out[1], 1);
  dup2(err[1], 2);
  close(out[0]);
  close(err[0]);
  execve(program, arguments, environment); /* /proc/self/exe may be a tool that runs us */
  _exit(127);
}

/* `first` and `second` are "NAME=value" or NULL. */
static const outcome_t* run(mi_option_t option, const char* first, const char* second) {
  static outcome_t outcome;
  char a[100];
  char b[100];
  snprintf(a, sizeof(a), "%s", first == NULL ? "EMPTY=1" : first);
  snprintf(b, sizeof(b), "%s", second == NULL ? "EMPTY2=1" : second);
  char* environment[] = {a, b, NULL};
  int out[2];
  int err[2];
  CHECK(pipe(out) == 0 && pipe(err) == 0);
  const pid_t pid = fork();
  if (pid == 0) { become_child(option, environment, out, err); }
  close(out[1]);
  close(err[1]);
  char text[1000];
  read_all(out[0], text, sizeof(text));
  read_all(err[0], outcome.errors, sizeof(outcome.errors));
  close(out[0]);
  close(err[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK(sscanf(text, "%ld %zu %d", &outcome.value, &outcome.size, &outcome.took_default) == 3);
  return &outcome;
}

static size_t lines_with(const char* text, const char* word) {
  size_t lines = 0;
  while (*text != 0) {
    const char* end = strchrnul(text, '\n');
    char line[1000];
    snprintf(line, sizeof(line), "%.*s", (int)(end - text), text);
    lines += strcasestr(line, word) != NULL ? 1 : 0;
    text = *end == 0 ? end : end + 1;
  }
  return lines;
}

static void test_environment_values(void) {
  static const struct {
    const char* variable;
    mi_option_t option;
    long value;
  } cases[] = {
      {"MIMALLOC_PURGE_DELAY=77", mi_option_purge_delay, 77},
      {"MIMALLOC_PURGE_DELAY=-1", mi_option_purge_delay, -1},
      {"MIMALLOC_PURGE_DELAY=0", mi_option_purge_delay, 0},
      {"MIMALLOC_PURGE_DECOMMITS=off", mi_option_purge_decommits, 0},
      {"MIMALLOC_PURGE_DECOMMITS=no", mi_option_purge_decommits, 0},
      {"MIMALLOC_PURGE_DECOMMITS=false", mi_option_purge_decommits, 0},
      {"MIMALLOC_PURGE_DECOMMITS=0", mi_option_purge_decommits, 0},
      {"MIMALLOC_VISIT_ABANDONED=on", mi_option_visit_abandoned, 1},
      {"MIMALLOC_VISIT_ABANDONED=yes", mi_option_visit_abandoned, 1},
      {"MIMALLOC_VISIT_ABANDONED=true", mi_option_visit_abandoned, 1},
      {"MIMALLOC_VISIT_ABANDONED=1", mi_option_visit_abandoned, 1},
      {"MIMALLOC_GENERIC_COLLECT=500", mi_option_generic_collect, 500},
      {"MIMALLOC_RESET_DELAY=33", mi_option_purge_delay, 33}, /* legacy names */
      {"MIMALLOC_RESET_DECOMMITS=0", mi_option_purge_decommits, 0},
      {"MIMALLOC_LARGE_OS_PAGES=1", mi_option_allow_large_os_pages, 1},
      {"MIMALLOC_EAGER_REGION_COMMIT=1", mi_option_arena_eager_commit, 1},
      {"MIMALLOC_ABANDONED_RECLAIM_ON_FREE=1", mi_option_page_reclaim_on_free, 1},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    const outcome_t* outcome = run(cases[i].option, cases[i].variable, NULL);
    if (outcome->value != cases[i].value || outcome->errors[0] != 0 || outcome->took_default) {
      fprintf(stderr, "%s gives %ld; errors: %s\n", cases[i].variable, outcome->value,
              outcome->errors);
    }
    CHECK(outcome->value == cases[i].value && outcome->errors[0] == 0);
    CHECK(!outcome->took_default); /* what the user set stays */
  }
  CHECK(run(mi_option_max_errors, NULL, NULL)->value == 32);
  CHECK(run(mi_option_max_errors, NULL, NULL)->took_default);
}

static void test_environment_sizes(void) {
  static const struct {
    const char* variable;
    size_t size;
  } cases[] = {
      {"MIMALLOC_ARENA_RESERVE=64M", 64 * (size_t)MIB},
      {"MIMALLOC_ARENA_RESERVE=1G", 1024 * (size_t)MIB},
      {"MIMALLOC_ARENA_RESERVE=32768K", 32 * (size_t)MIB},
      {"MIMALLOC_ARENA_RESERVE=65536", 64 * (size_t)MIB},
      {"MIMALLOC_ARENA_RESERVE=64m", 64 * (size_t)MIB},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    CHECK(run(mi_option_arena_reserve, cases[i].variable, NULL)->size == cases[i].size);
  }
}

static void test_environment_errors(void) {
  const long purge_delay = run(mi_option_purge_delay, NULL, NULL)->value;
  static const char* const bad[] = {"MIMALLOC_PURGE_DELAY=banana", "MIMALLOC_PURGE_DELAY=12x34",
                                    "MIMALLOC_PURGE_DELAY=99999999999999999999999999"};
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
    CHECK(run(mi_option_purge_delay, bad[i], NULL)->value == purge_delay);
    const outcome_t* outcome = run(mi_option_purge_delay, bad[i], "MIMALLOC_SHOW_ERRORS=1");
    CHECK(outcome->value == purge_delay);
    CHECK(lines_with(outcome->errors, "purge_delay") == 1);
  }
  CHECK(run(mi_option_purge_delay, "MIMALLOC_NO_SUCH_OPTION=1", NULL)->errors[0] == 0);
  const outcome_t* verbose =
      run(mi_option_purge_delay, "MIMALLOC_NO_SUCH_OPTION=1", "MIMALLOC_VERBOSE=1");
  CHECK(lines_with(verbose->errors, "no_such_option") == 1);
  verbose = run(mi_option_purge_delay, "MIMALLOC_PAGE_RESET=1",
                "MIMALLOC_VERBOSE=1"); /* of 2.x: accepted */
  CHECK(verbose->errors[0] != 0 && lines_with(verbose->errors, "page_reset has no effect") == 1);
}

static void test_verbose(void) {
  const outcome_t* outcome =
      run(mi_option_purge_delay, "MIMALLOC_VERBOSE=1", "MIMALLOC_PURGE_DELAY=4321");
  CHECK(lines_with(outcome->errors, "purge_delay") >= 1 &&
        lines_with(outcome->errors, "4321") >= 1);
  outcome = run(mi_option_show_stats, "MIMALLOC_SHOW_STATS=1", NULL);
  CHECK(strlen(outcome->errors) > 200 && outcome->value == 1); /* the table at exit */
}

static void test_environment(void) {
  test_environment_values();
  test_environment_sizes();
  test_environment_errors();
  test_verbose();
}

#else

static const char* program;
static void test_environment(void) {}

#endif

int main(int argc, char** argv) {
  program = strchr(argv[0], '/') != NULL ? argv[0] : "/proc/self/exe";
  if (argc > 1) { return child(argv[1]); }
  test_numbers();
  test_environment();
  test_set_and_get();
  test_sizes();
  test_no_such_option();
  test_print();
  return check_done();
}
