/* test: cflags="-Wno-unused-function" when="jumps whole" */
/* Options: the environment's words, names and mistakes; who wins; numbers that are no option's. */
#include "fake_port.h"

#include "../../src/service/format.c"
#include "../../src/service/options.c"
#include "../../src/service/message.c"
#include "../../src/service/environment.c"
#include "../../src/api/options.c"

#include "../check.h"

static long defaults[OPTION_COUNT];

/* Starts again, as a process with this environment would. */
#define START(...) start((const char*[]){__VA_ARGS__, NULL})

static void start(const char** environment) {
  for (int i = 0; i < OPTION_COUNT; i++) {
    store_relaxed(&option_values[i], defaults[i]);
    store_relaxed(&option_origins[i], ORIGIN_DEFAULT);
  }
  store_relaxed(&environment_is_read, false);
  store_relaxed(&warnings_seen, 0);
  fake_port.environment = environment;
  fake_port_written();
  options_init();
}

static void test_defaults(void) {
  CHECK(option_get(mi_option_purge_delay) == 1000); /* before any init */
  CHECK(option_size(mi_option_arena_reserve) ==
        (sizeof(void*) == 8 ? (size_t)1 << 30 : (size_t)128 << 20));
  CHECK(option_size(mi_option_guarded_max) == (size_t)1 << 30);
  CHECK(option_get(mi_option_guarded_sample_rate) == (GUARDED_BUILD ? 4000 : 0));
  CHECK(option_is_enabled(mi_option_show_errors) == (DEBUG_LEVEL > 0));
  CHECK(option_get(mi_option_page_max_reclaim) == -1 &&
        option_size(mi_option_page_max_reclaim) == 0);
}

static void test_empty_environment(void) {
  START("HOME=/root", "MIMALLO=1");
  options_init();
  CHECK(*fake_port_written() == 0);
}

static void test_words(void) {
  static const char* const yes[] = {"1", "on", "ON", "true", "True", "yes", " yes ", "+1", "\t1"};
  static const char* const no[] = {"0", "off", "Off", "false", "NO", "-0"};
  for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
    CHECK(option_set_text(mi_option_destroy_on_exit, yes[i]) &&
          mi_option_is_enabled(mi_option_destroy_on_exit));
  }
  for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
    CHECK(option_set_text(mi_option_purge_decommits, no[i]) &&
          !mi_option_is_enabled(mi_option_purge_decommits));
  }
}

typedef struct {
  const char* text;
  long kib; /* -1: refused */
} size_case_t;

static void test_sizes(void) {
  static const size_case_t cases[] = {
      {"64", 64},
      {"64k", 64},
      {"64KiB", 64},
      {"64 kb", 64},
      {"2M", 2048},
      {"2MiB", 2048},
      {"2mb ", 2048},
      {"1g", 1 << 20},
      {"1GIB", 1 << 20},
      {"0", 0},
      {"off", 0},
      {"", 7},
      {"  ", 7},
      {"-1", -1},
      {"1.5G", -1},
      {"k", -1},
      {"2X", -1},
      {"2Mx", -1},
      {"2 i", -1},
      {"0x10", -1},
      {"99999999999999999999", -1},
      {"9223372036854775807", -1},
      {"9007199254740992K", -1},
      {"8388608T", -1},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    option_set(mi_option_reserve_os_memory, 7);
    const bool accepted = option_set_text(mi_option_reserve_os_memory, cases[i].text);
    const long value = option_get(mi_option_reserve_os_memory);
    if (accepted != (cases[i].kib >= 0) || (value != (accepted ? cases[i].kib : 7))) {
      fprintf(stderr, "size \"%s\" gives %ld\n", cases[i].text, value);
      CHECK(!"size");
    }
  }
  option_set(mi_option_reserve_os_memory, LONG_MAX);
  const size_t most = (size_t)LONG_MAX > PTRDIFF_MAX / 1024 ? PTRDIFF_MAX : LONG_MAX * (size_t)1024;
  CHECK(option_size(mi_option_reserve_os_memory) == most);
  CHECK(option_set_text(mi_option_guarded_min, "100") && option_size(mi_option_guarded_min) == 100);
  CHECK(option_set_text(mi_option_guarded_min, "2k") && option_size(mi_option_guarded_min) == 2048);
}

static void test_numbers(void) {
  CHECK(option_set_text(mi_option_purge_delay, "-1") && mi_option_get(mi_option_purge_delay) == -1);
  CHECK(option_set_text(mi_option_purge_delay, " 250 ") &&
        mi_option_get(mi_option_purge_delay) == 250);
  static const char* const bad[] = {
      "abc", "12x", "--1", "+", "-", "1 2", "10ms", "99999999999999999999", "on1", "o"};
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
    CHECK(!option_set_text(mi_option_purge_delay, bad[i]));
  }
  CHECK(mi_option_get(mi_option_purge_delay) == 250);
}

static void test_names(void) {
  START("MIMALLOC_PURGE_DELAY=5", "MIMALLOC_LARGE_OS_PAGES=1", "MIMALLOC_LIMIT_OS_ALLOC=yes");
  CHECK(mi_option_get(mi_option_purge_delay) == 5);
  CHECK(mi_option_is_enabled(mi_option_allow_large_os_pages) &&
        mi_option_is_enabled(mi_option_disallow_os_alloc));
  START("MIMALLOC_RESET_DELAY=6", "MIMALLOC_PURGE_DELAY=7");
  CHECK(mi_option_get(mi_option_purge_delay) == 7); /* the present name wins */
  START("mimalloc_purge_delay=5");
  CHECK(mi_option_get(mi_option_purge_delay) == 5);
  START("MIMALLOC_purge_delay=6", "MIMALLOC_PURGE_DELAY=7", "Mimalloc_Large_OS_Pages=1");
  CHECK(mi_option_get(mi_option_purge_delay) == 6); /* the first one counts */
  CHECK(mi_option_is_enabled(mi_option_allow_large_os_pages));
}

/* Who asks for something and does not get it can know. */
static void test_no_effect(void) {
  START("MIMALLOC_EAGER_COMMIT=junk", "MIMALLOC_ALLOW_DECOMMIT=0", "MIMALLOC_PAGE_FULL_RETAIN=3");
  CHECK(*fake_port_written() == 0);
  START("MIMALLOC_EAGER_COMMIT=junk", "MIMALLOC_VERBOSE=1", "MIMALLOC_ALLOW_DECOMMIT=0",
        "MIMALLOC_PAGE_FULL_RETAIN=3", "MIMALLOC_PURGE_DELAY=3");
  const char* text = fake_port_written();
  CHECK(strstr(text, "option deprecated_eager_commit has no effect: it is of earlier") != NULL);
  CHECK(strstr(text, "option allow_decommit has no effect: it is of another version\n") != NULL);
  CHECK(strstr(text, "option page_full_retain has no effect: no thread") != NULL);
  CHECK(count_of(text, "\n") == 3);
  mi_option_set(mi_option_max_vabits, 40);
  mi_option_set_default(mi_option_page_max_candidates, 1);
  mi_option_set(mi_option_purge_delay, 4);
  CHECK(count_of(fake_port_written(), "has no effect") == 2);
  CHECK(mi_option_get(mi_option_max_vabits) == 40);
}

static void test_environment_not_known_yet(void) {
  start(NULL);
  CHECK(mi_option_get(mi_option_purge_delay) == defaults[option_index(mi_option_purge_delay)]);
  fake_port.environment = (const char*[]){"MIMALLOC_PURGE_DELAY=77", NULL};
  options_init();
  CHECK(option_get(mi_option_purge_delay) == 77);
}

static void test_set_uid(void) {
  fake_port.set_uid = true;
  START("MIMALLOC_VERBOSE=1", "MIMALLOC_NO_SUCH=1", "MIMALLOC_PURGE_DELAY=junk");
  CHECK(!mi_option_is_enabled(mi_option_verbose));
  CHECK(*fake_port_written() == 0);
  fake_port.set_uid = false;
}

static void test_bad_value(void) {
  START("MIMALLOC_PURGE_DELAY=soon", "MIMALLOC_ARENA_RESERVE=lots");
  const char* text = fake_port_written();
  CHECK(count_of(text, "\n") == 2);
  CHECK(strstr(text,
               "mimalloc: warning: MIMALLOC_PURGE_DELAY has the invalid value \"soon\"; it stays "
               "1000 ms\n") != NULL);
  CHECK(sizeof(void*) < 8 ||
        strstr(text, "MIMALLOC_ARENA_RESERVE has the invalid value \"lots\"; it stays 1.0 GiB\n"));
  CHECK(mi_option_get(mi_option_purge_delay) == 1000);
}

static void test_unknown_name(void) {
  START("MIMALLOC_NO_SUCH=1", "MIMALLOC_PURGE_DELAYS=3", "MIMALLOC_SHOW_ERRORS=0");
  CHECK(*fake_port_written() == 0);
  START("MIMALLOC_NO_SUCH=1", "MIMALLOC_VERBOSE=1", "MIMALLOC_PURGE_DELAYS=3",
        "MIMALLOC_DISABLE_REDIRECT=1");
  const char* text = fake_port_written();
  CHECK(strstr(text, "option disable_redirect has no effect") != NULL);
  CHECK(strstr(text, "mimalloc: warning: unknown option MIMALLOC_NO_SUCH\n") != NULL);
  CHECK(strstr(text, "mimalloc: warning: unknown option MIMALLOC_PURGE_DELAYS\n") != NULL);
  CHECK(count_of(text, "\n") == 3);
}

static void test_precedence(void) {
  START("MIMALLOC_PURGE_DELAY=5");
  mi_option_set_default(mi_option_purge_delay, 77);
  CHECK(mi_option_get(mi_option_purge_delay) == 5); /* the user's choice stays */
  mi_option_set(mi_option_purge_delay, 8);
  CHECK(mi_option_get(mi_option_purge_delay) == 8); /* the program's wins */
  mi_option_set_default(mi_option_generic_collect, 1);
  mi_option_set_default(mi_option_generic_collect, 2);
  CHECK(mi_option_get(mi_option_generic_collect) == 2);
  mi_option_set(mi_option_generic_collect, 3);
  mi_option_set_enabled_default(mi_option_generic_collect, false);
  CHECK(mi_option_get(mi_option_generic_collect) == 3);
}

static void test_interface(void) {
  START("MIMALLOC_ARENA_RESERVE=2M");
  CHECK(mi_option_get(mi_option_arena_reserve) == 2048 &&
        mi_option_get_size(mi_option_arena_reserve) == 2048 * 1024);
  CHECK(mi_option_get_clamp(mi_option_arena_reserve, 0, 10) == 10);
  CHECK(mi_option_get_clamp(mi_option_arena_reserve, 4096, 9999) == 4096);
  CHECK(mi_option_get_clamp(mi_option_arena_reserve, 0, 9999) == 2048);
  mi_option_enable(mi_option_show_stats);
  CHECK(mi_option_is_enabled(mi_option_show_stats));
  mi_option_disable(mi_option_show_stats);
  CHECK(!mi_option_is_enabled(mi_option_show_stats));
}

enum { OPTION_AFTER_LAST = OPTION_COUNT - _mi_option_last + OPTION_OURS };

static void test_no_option(void) {
  CHECK(OPTION_AT(OPTION_COUNT - 1) == (mi_option_t)(OPTION_AFTER_LAST - 1));
  CHECK(option_index(mi_option_corruption) == (unsigned)_mi_option_last);
  static const int numbers[] = {
      -1,  _mi_option_last,   _mi_option_last + 1,   900,     953,    OPTION_OURS - 1,
      999, OPTION_AFTER_LAST, OPTION_AFTER_LAST + 1, INT_MAX, INT_MIN};
  for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
    const mi_option_t option = (mi_option_t)numbers[i];
    mi_option_set(option, 3);
    mi_option_set_default(option, 3);
    mi_option_enable(option);
    CHECK(mi_option_get(option) == 0 && mi_option_get_size(option) == 0 &&
          !mi_option_is_enabled(option));
    CHECK(mi_option_get_clamp(option, 1, 2) == 1);
  }
}

static void append(const char* text, void* arg) { strcat(arg, text); }

static void test_print(void) {
  static char all[1 << 14];
  START("MIMALLOC_PURGE_DELAY=5");
  mi_option_set(mi_option_max_errors, -1);
  mi_options_print_out(&append, all);
  CHECK(strstr(all, "purge_delay                          5 ms  environment  wait") != NULL);
  CHECK(strstr(all, "max_errors                             -1  program ") != NULL);
  CHECK(strstr(all, "deprecated") == NULL);
  CHECK(*fake_port_written() == 0);
  mi_options_print();
  CHECK(strcmp(fake_port_written(), all) == 0);
}

int main(void) {
  for (int i = 0; i < OPTION_COUNT; i++) { defaults[i] = load_relaxed(&option_values[i]); }
  test_defaults();
  test_empty_environment();
  test_words();
  test_sizes();
  test_numbers();
  test_names();
  test_no_effect();
  test_environment_not_known_yet();
  test_set_uid();
  test_bad_value();
  test_unknown_name();
  test_precedence();
  test_interface();
  test_no_option();
  test_print();
  return check_done();
}
