/* test: timeout=60 when="release linux threads posix" env="MIMALLOC_PURGE_DELAY=100000"
   What a few options change: who takes over a page by freeing in it, what goes back at once, and
   whether the map of addresses is resident from the start, which not every port can see to. */
#define _GNU_SOURCE 1
#include "api.h"

#include <pthread.h>
#include <sys/mman.h>

enum { COUNT = 20000, LIMIT = 32 };

static size_t size = 64;
static void* blocks[COUNT];

static void* fill_pages(void* unused) {
  for (int i = 0; i < COUNT; i++) { blocks[i] = mi_malloc(size); }
  return unused;
}

/* How many pages the calling thread takes over as it frees one block in eight of full pages. */
static int64_t claims_of_freeing(bool own) {
  pthread_t thread;
  if (own) {
    (void)fill_pages(NULL);
  } else {
    CHECK(pthread_create(&thread, NULL, fill_pages, NULL) == 0);
    pthread_join(thread, NULL);
  }
  const int64_t before = stats_now().pages_reclaim_on_free.total;
  for (int i = 0; i < COUNT / 2; i += 8) { mi_free(blocks[i]); }
  const int64_t claims = stats_now().pages_reclaim_on_free.total - before;
  for (int i = 0; i < COUNT; i++) {
    if (i >= COUNT / 2 || i % 8 != 0) { mi_free(blocks[i]); }
  }
  mi_collect(true);
  return claims;
}

static void test_reclaim(void) {
  CHECK(mi_option_get(mi_option_page_reclaim_on_free) == 1);
  CHECK(claims_of_freeing(true) > 0 && claims_of_freeing(false) > 0);
  mi_option_set(mi_option_page_reclaim_on_free, 0);
  CHECK(claims_of_freeing(true) > 0 && claims_of_freeing(false) == 0);
  mi_option_set(mi_option_page_reclaim_on_free, -1);
  CHECK(claims_of_freeing(true) == 0 && claims_of_freeing(false) == 0);
  mi_option_set(mi_option_page_reclaim_on_free, 1);
  mi_option_set(mi_option_page_max_reclaim, 0);
  CHECK(claims_of_freeing(true) == 0 && claims_of_freeing(false) > 0);
  mi_option_set(mi_option_page_max_reclaim, -1);
  mi_option_set(mi_option_page_cross_thread_max_reclaim, 0);
  CHECK(claims_of_freeing(true) > 0 && claims_of_freeing(false) == 0);
}

static void free_each(int from, int to, int of) {
  for (int i = 0; i < COUNT; i++) {
    if (i % of >= from && i % of < to) { mi_free(blocks[i]); }
  }
}

/* Beyond the limit a page is passed on, though not for a single free block: somebody would claim it
   for that one, and so for each of its blocks. With a few more free blocks others can use it. */
static void test_passed_on(size_t bytes) {
  enum { EACH = 64, SOME = 40 }; /* a page has as many blocks, or twice as many */
  static void* mine[COUNT];
  pthread_t thread;
  const size_t usual = size;
  size = bytes;
  CHECK(mi_option_get(mi_option_page_cross_thread_max_reclaim) == LIMIT);
  for (int i = 0; i < COUNT; i++) { mine[i] = mi_malloc(size); }
  CHECK(pthread_create(&thread, NULL, fill_pages, NULL) == 0);
  pthread_join(thread, NULL);
  const int64_t before = stats_now().pages_abandoned.total;
  const int64_t committed = stats_now().page_committed.current;
  free_each(0, 1, EACH);
  CHECK(stats_now().pages_abandoned.total == before);
  free_each(1, SOME, EACH);
  CHECK(stats_now().pages_abandoned.current > COUNT / EACH / 3);
  free_each(SOME, EACH, EACH);
  CHECK(stats_now().page_committed.current < committed - COUNT * (int64_t)bytes / 4 * 3);
  for (int i = 0; i < COUNT; i++) { mi_free(mine[i]); }
  size = usual;
}

/* Bytes that go back to the OS as a block of 3 MiB is freed. */
static int64_t purged_by_free(void) {
  void* p = mi_malloc(3 * MIB);
  memset(p, 1, 3 * MIB);
  const int64_t before = stats_now().purged.total;
  mi_free(p);
  return stats_now().purged.total - before;
}

static void test_immediate(void) {
  mi_collect(true);
  CHECK(purged_by_free() == 0);
  mi_option_set(mi_option_arena_purge_immediate_size, 2 * KIB);
  CHECK(purged_by_free() >= 2 * MIB);
  mi_option_set(mi_option_arena_purge_immediate_size, 200 * KIB);
  CHECK(purged_by_free() == 0);
}

/* What the process has more when memory in a region of 4 GiB without any of ours becomes ours. */
static size_t resident_by_map(uintptr_t region) {
  void* hint = (void*)(region << 32);
  void* start = mmap(hint, 8 * MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  const size_t before = resident_bytes();
  CHECK(start == hint && mi_manage_os_memory(start, 8 * MIB, false, false, true, -1));
  return resident_bytes() - before;
}

static void test_map(void) {
  if (sizeof(void*) < 8 || UNDER_SANITIZER) { return; }
  CHECK(resident_by_map(0x1001) < MIB);
  mi_option_enable(mi_option_pagemap_commit);
  /* An emulator takes the advice, and ignores it. */
  CHECK(getenv("MI_EMULATED") != NULL || resident_by_map(0x1003) >= 3 * MIB / 2);
}

int main(void) {
  mi_free(mi_malloc(1));
  test_passed_on(1024);
  test_reclaim();
  test_immediate();
  test_map();
  return check_done();
}
