// Blocks freed twice. Harm: two owners get the same block.
#include <pthread.h>
#include <stdlib.h>

#include "misuse.h"

// Others of the page are in use: else it is given back, and the second free meets no block at all.
static void keep_two(size_t n) {
  keep_new(n);
  keep_new(n);
}

static void df_immediate(size_t n) {
  keep_two(n);
  char* p = take(n);
  misuse_free(p);
  misuse_free(p);
  expect_heap_whole(n);
}

static void df_interleaved(size_t n) {
  keep_two(n);
  char *a = take(n), *b = take(n);
  misuse_free(a);
  misuse_free(b);
  misuse_free(a);
  expect_heap_whole(n);
}

static void df_delayed(size_t n) {
  char* crowd[CROWD_MAX];
  const int count = crowd_of(n);
  for (int i = 0; i < count; i++) { crowd[i] = take(n); }
  for (int i = 0; i < count / 2; i++) { misuse_free(crowd[i]); }
  misuse_free(crowd[1]);
  for (int i = count / 2; i < count; i++) { keep(crowd[i], n); }
  expect_heap_whole(n);
}

static void df_full_page(size_t n) {
  keep_many(n);
  char* p = take(n);
  keep_many(n);
  misuse_free(p);
  misuse_free(p);
  expect_heap_whole(n);
}

// The second free comes when somebody else holds the block.
static void df_after_reuse(size_t n) {
  keep_two(n);
  char* p = take(n);
  misuse_free(p);
  bool is_reused = false;
  for (int i = 0; i < crowd_of(n) && !is_reused; i++) { is_reused = keep_new(n) == p; }
  misuse_free(p);
  expect_heap_whole(n);
}

static void df_local_remote(size_t n) {
  start_helper();
  keep_two(n);
  char* p = take(n);
  free(p);
  free_by_other_thread(p);
  expect_heap_whole(n);
}

static void df_remote_local(size_t n) {
  start_helper();
  keep_two(n);
  char* p = take(n);
  free_by_other_thread(p);
  free(p);
  expect_heap_whole(n);
}

// As df_remote_local, but the owner's page has no free block: then a free by another thread takes
// another way.
static void df_remote_local_full(size_t n) {
  start_helper();
  keep_many(n);
  char* p = take(n);
  keep_many(n);
  free_by_other_thread(p);
  free(p);
  expect_heap_whole(n);
}

static void allocate_for(void* arg) {
  char** p = arg;
  *p = take((size_t)*p);
}

static void df_dead_owner(size_t n) {
  char* p = (char*)n;
  run_on_thread(allocate_for, &p);
  free(p);
  free(p);
  expect_heap_whole(n);
}

// Somebody else has more blocks of the page.
static void df_dead_owner_shared(size_t n) {
  char *p = (char*)n, *q = (char*)n;
  run_on_thread(allocate_for, &p);
  run_on_thread(allocate_for, &q);
  keep(q, n);
  free(p);
  free(p);
  expect_heap_whole(n);
}

// ---- two threads at the same moment ----

enum { RACE_ROUNDS = 100 };
static void* raced[RACE_ROUNDS];
static int race_rounds, race_arrived;

static void race_free(void) {
  for (int i = 0; i < race_rounds; i++) {
    __atomic_add_fetch(&race_arrived, 1, __ATOMIC_SEQ_CST);
    for (int spins = 0; __atomic_load_n(&race_arrived, __ATOMIC_SEQ_CST) < 2 * (i + 1); spins++) {
      if (spins > 1000) { sched_yield(); }
    }
    free(raced[i]);
  }
}

static void* race_main(void* arg) {
  (void)arg;
  race_free();
  return NULL;
}

static void df_race(size_t n) {
  pthread_t other;
  race_rounds = n > 1000000 ? 6 : RACE_ROUNDS;
  for (int i = 0; i < race_rounds; i++) { raced[i] = take(n); }
  if (pthread_create(&other, NULL, race_main, NULL) != 0) { not_here("no thread"); }
  race_free();
  pthread_join(other, NULL);
  expect_heap_whole(n);
}

static void df_race_remote(size_t n) {
  pthread_t threads[2];
  race_rounds = n > 1000000 ? 6 : RACE_ROUNDS;
  for (int i = 0; i < race_rounds; i++) { raced[i] = take(n); }
  for (int i = 0; i < 2; i++) {
    if (pthread_create(&threads[i], NULL, race_main, NULL) != 0) { not_here("no thread"); }
  }
  for (int i = 0; i < 2; i++) { pthread_join(threads[i], NULL); }
  expect_heap_whole(n);
}

// ---- realloc ----

static void df_by_realloc(size_t n) {
  keep_two(n);
  char* p = take(n);
  misuse_free(p);
  keep(realloc(p, 2 * n), 2 * n);
  expect_heap_whole(n);
}

const misuse_t double_free_misuses[] = {
    {"df_immediate", df_immediate},
    {"df_interleaved", df_interleaved},
    {"df_delayed", df_delayed},
    {"df_full_page", df_full_page},
    {"df_after_reuse", df_after_reuse},
    {"df_local_remote", df_local_remote},
    {"df_remote_local", df_remote_local},
    {"df_remote_local_full", df_remote_local_full},
    {"df_dead_owner", df_dead_owner},
    {"df_dead_owner_shared", df_dead_owner_shared},
    {"df_race", df_race},
    {"df_race_remote", df_race_remote},
    {"df_by_realloc", df_by_realloc},
    {NULL, NULL},
};
