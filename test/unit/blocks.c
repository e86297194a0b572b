/* test: when="posix linux|unix|strict|macos" env="MIMALLOC_GUARDED_SAMPLE_RATE=0" */
// What checked builds know of a block: its state, what ends it, and the guard behind a large one.
// See src/page/check.h and page.h. What comes of it when a program errs is tested in test/misuse.
#undef MI_SECURE
#define MI_SECURE 4
#undef MI_DEBUG
#define MI_DEBUG 0
#undef MI_TRACK_VALGRIND
#undef MI_TRACK_ASAN
#include "../../src/static.c"

#include "../check.h"

enum { SIZE = 100, CROWD = 64 };

static char said[4000];

static void listen(const char* text, void* arg) {
  (void)arg;
  strncat(said, text, sizeof(said) - strlen(said) - 1);
}

static void on_error(int error, void* arg) { (void)error, (void)arg; /* else it would abort */ }

static void expect_refused(void* p, const char* words) {
  said[0] = 0;
  mi_free(p);
  CHECK(strstr(said, words) != NULL);
}

static void test_states(void) {
  block_t* p = mi_malloc(SIZE);
  page_t* page = page_of(p);
  CHECK(load_relaxed(block_link(page, p)) == LINK_LIVE && block_is_intact(page, p));
  CHECK(block_depart(page, p) && !block_depart(page, p));
  CHECK(load_relaxed(block_link(page, p)) == LINK_AWAY && !block_is_intact(page, p));
  expect_refused(p, "double free");
  block_return(page, p);
  CHECK(block_is_intact(page, p));
  mi_free(p);
  CHECK(load_relaxed(block_link(page, p)) < LINK_AWAY && !block_is_intact(page, p));
  expect_refused(p, "double free");
}

/* A block after which another one of the crowd lies; the crowd's place of that one. */
static int find_neighbours(uint8_t** crowd, uint8_t** lower) {
  for (int i = 0; i < CROWD; i++) {
    for (int k = 0; k < CROWD; k++) {
      *lower = crowd[i];
      if (crowd[k] == crowd[i] + page_of(crowd[i])->block_bytes) { return k; }
    }
  }
  return -1;
}

static void test_ends(void) {
  uint8_t *crowd[CROWD], *lower = NULL;
  for (int i = 0; i < CROWD; i++) { crowd[i] = mi_malloc(SIZE); }
  const int at = find_neighbours(crowd, &lower);
  CHECK(at >= 0);
  if (at < 0) { return; }
  uint8_t* upper = crowd[at];
  const page_t* page = page_of(lower);
  CHECK(page == page_of(upper) && *canary_of(page, lower) != *canary_of(page, upper));
  CHECK(block_is_intact(page, lower) && block_is_intact(page, upper));
  *canary_of(page, lower) ^= 1;
  CHECK(!block_is_intact(page, lower) && !block_is_intact(page, upper));
  expect_refused(lower, "seen at its free");
  expect_refused(upper, "seen at its neighbour's free");
  *canary_of(page, lower) ^= 1;
  mi_free(lower);
  CHECK(block_is_intact(page, upper));
  *canary_of(page, lower) ^= 1; /* of a block that is free */
  expect_refused(upper, "seen at its neighbour's free");
  *canary_of(page, lower) ^= 1;
  for (int i = 0; i < CROWD; i++) {
    if (crowd[i] != lower) { mi_free(crowd[i]); }
  }
}

static void test_guard(void) {
  const size_t bytes = 16 * port_page_bytes();
  void* p = mi_malloc(bytes);
  const page_t* page = page_of(p);
  CHECK(page_is_single(page) && page_checks(page)->guarded);
  CHECK((uint8_t*)p + bytes == guard_of(page));
  mi_free(p);
}

int main(void) {
  mi_option_enable(mi_option_show_errors);
  mi_option_set(mi_option_max_errors, -1);
  mi_register_output(listen, NULL);
  mi_register_error(on_error, NULL);
  test_states();
  test_ends();
  if (page_guard_bytes() > 0) { test_guard(); }
  return check_done();
}
