/* test: timeout=60 when="release linux posix"
   Memory that the program gave, and whose function says no, is shared, or can't go back: that is no
   matter to requests from elsewhere, nor to what else is to go back. Needs arenas of the program's,
   mmap, and the release build's counts of what was purged. */
#include <sys/mman.h>
#include <unistd.h>

#include "api.h"

enum { GIVEN = 64 * 1024 * 1024, COUNT = 200, SIZE = 200 * 1000 };

static void* map(int flags, int file) {
  void* p = mmap(NULL, GIVEN, PROT_READ | PROT_WRITE, flags, file, 0);
  CHECK(p != MAP_FAILED);
  return p;
}

static void* map_plain(void) { return map(MAP_PRIVATE | MAP_ANONYMOUS, -1); }

static void* blocks[COUNT];

static void fill_blocks(mi_heap_t* heap) {
  for (int i = 0; i < COUNT; i++) {
    blocks[i] = mi_heap_malloc(heap, SIZE);
    CHECK(blocks[i] != NULL);
    memset(blocks[i], 1, SIZE);
  }
}

static void drop_blocks(void) {
  for (int i = 0; i < COUNT; i++) { mi_free(blocks[i]); }
}

static bool refuse_commit(bool commit, void* start, size_t size, bool* is_zero, void* arg) {
  (void)start, (void)size, (void)is_zero, (void)arg;
  return !commit;
}

static bool refuse_decommit(bool commit, void* start, size_t size, bool* is_zero, void* arg) {
  (void)start, (void)size, (void)arg;
  if (is_zero != NULL) { *is_zero = false; }
  return commit;
}

static void test_refused_commit(void) {
  CHECK(mi_manage_memory(map_plain(), GIVEN, false, false, true, -1, false, refuse_commit, NULL,
                         NULL));
  fill_blocks(mi_heap_main());
  drop_blocks();
}

static void test_refused_decommit(void) {
  mi_arena_id_t arena = NULL;
  CHECK(mi_manage_memory(map_plain(), GIVEN, false, false, true, -1, true, refuse_decommit, NULL,
                         &arena));
  fill_blocks(mi_heap_new_in_arena(arena));
  drop_blocks();
  fill_blocks(mi_heap_main());
  mi_collect(true);
  const int64_t before = stats_now().purged.total;
  drop_blocks();
  mi_collect(true);
  CHECK(stats_now().purged.total - before >= (int64_t)COUNT * SIZE);
}

/* What is free in it is more than what may stay dirty. */
static void test_pinned(void) {
  CHECK(mi_manage_os_memory_ex(map_plain(), GIVEN, true, true, false, -1, true, NULL));
  const int64_t before = stats_now().purge_calls.total;
  for (int round = 0; round < 100; round++) {
    for (int i = 0; i < 10; i++) { blocks[i] = mi_malloc(SIZE); }
    for (int i = 0; i < 10; i++) { mi_free(blocks[i]); }
  }
  CHECK(stats_now().purge_calls.total - before < 100);
}

/* The OS gives it back as it was. */
static void test_shared(bool committed) {
  mi_arena_id_t arena = NULL;
  void* p = map(MAP_SHARED | MAP_ANONYMOUS, -1);
  CHECK(committed || mprotect(p, GIVEN, PROT_NONE) == 0);
  CHECK(mi_manage_os_memory_ex(p, GIVEN, committed, false, true, -1, true, &arena));
  mi_heap_t* heap = mi_heap_new_in_arena(arena);
  fill_blocks(heap);
  drop_blocks();
  mi_collect(true);
  for (int i = 0; i < COUNT; i++) {
    blocks[i] = mi_heap_zalloc(heap, SIZE);
    CHECK(blocks[i] != NULL && is_zero(blocks[i], SIZE));
  }
  drop_blocks();
}

int main(void) {
  test_refused_commit();
  test_pinned();
  test_refused_decommit();
  test_shared(true);
  test_shared(false);
  return check_done();
}
