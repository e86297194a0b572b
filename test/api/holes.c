/* test: timeout=60 when="release linux threads"
   OS pages inside pages of blocks that no block in use touches go back to the system when memory is
   collected, and come back when their blocks are wanted: no live block changes, none is handed out
   twice, and those that are counted stay right. Of pages that frees leave with few blocks they go
   at these frees, without a further call. */
#include "../system.h"
#include "api.h"

#include <pthread.h>
#include <sys/wait.h>

enum { TOTAL = 40 << 20, ROUNDS = 4 };
static const struct {
  size_t size, keep; /* one block in so many is kept */
  size_t most;       /* of 100 parts that may stay */
} cases[] = {{1000, 50, 20}, {4000, 20, 16}, {8000, 8, 26},  {20000, 4, 40},
             {100, 100, 60}, {16, 2000, 40}, {48, 1000, 40}, {60000, 3, 50}};

typedef struct {
  unsigned char* block;
  unsigned char mark;
} slot_t;

static slot_t* slots;
static size_t count, size, others, before;

static void allocate_slot(size_t i, unsigned char mark) {
  slots[i] = (slot_t){mi_malloc(size), mark};
  CHECK(slots[i].block != NULL);
  memset(slots[i].block, mark, size);
}

static bool is_intact(size_t i) {
  for (size_t at = 0; at < size; at++) {
    if (slots[i].block[at] != slots[i].mark) { return false; }
  }
  return true;
}

static void free_all_but(size_t keep) {
  for (size_t i = 0; i < count; i++) {
    if (i % keep == 0 || slots[i].block == NULL) { continue; }
    mi_free(slots[i].block);
    slots[i].block = NULL;
  }
}

static bool count_block(const mi_heap_t* heap, const mi_heap_area_t* area, void* block,
                        size_t block_size, void* arg) {
  (void)heap, (void)block_size;
  *(size_t*)arg += block != NULL && area->block_size == mi_good_size(size);
  return true;
}

static size_t visited(void) {
  size_t blocks = 0;
  CHECK(mi_heap_visit_blocks(mi_heap_main(), true, count_block, &blocks));
  return blocks;
}

/* Every block that is live is as it was; they are visited, and no other. */
static void check_all(void) {
  size_t live = 0;
  for (size_t i = 0; i < count; i++) {
    if (slots[i].block == NULL) { continue; }
    live++;
    CHECK(is_intact(i));
  }
  CHECK(visited() == others + live);
}

static void begin(size_t block_bytes) {
  size = block_bytes;
  count = TOTAL / size;
  slots = calloc(count, sizeof(slot_t));
  memset(slots, 0, count * sizeof(slot_t)); /* resident from now on */
  mi_collect(true);
  others = visited();
  before = resident_bytes();
}

static void end(void) {
  for (size_t i = 0; i < count; i++) { mi_free(slots[i].block); }
  CHECK(visited() == others);
  free(slots);
}

static size_t added(void) {
  const size_t now = resident_bytes();
  return now > before ? now - before : 0;
}

static void test_case(size_t which) {
  begin(cases[which].size);
  for (size_t i = 0; i < count; i++) { allocate_slot(i, (unsigned char)(i | 1)); }
  const size_t full = added();
  for (size_t round = 1; round <= ROUNDS; round++) {
    free_all_but(cases[which].keep);
    mi_collect(true);
    const size_t left = added();
    if (round == 1) { printf("%zu: %zu of %zu KiB stay\n", size, left >> 10, full >> 10); }
    CHECK(left <= full / 100 * cases[which].most);
    check_all();
    for (size_t i = 0; i < count; i += round) {
      if (slots[i].block == NULL) { allocate_slot(i, (unsigned char)(i | 8)); }
    }
    check_all();
    mi_collect(true);
    check_all();
  }
  end();
}

/* In the order of addresses, if the stride is 1. */
static void test_by_frees(size_t block_bytes, size_t stride) {
  begin(block_bytes);
  for (size_t i = 0; i < count; i++) { allocate_slot(i, (unsigned char)(i | 1)); }
  const size_t full = added();
  for (size_t i = 0, at = 0; i < count; i++, at = (at + stride) % count) {
    if (at % 50 == 0) { continue; }
    mi_free(slots[at].block);
    slots[at].block = NULL;
  }
  const size_t left = added();
  printf("%zu, by frees alone: %zu of %zu KiB stay\n", size, left >> 10, full >> 10);
  CHECK(left <= full / 100 * 40);
  check_all();
  for (size_t i = 0; i < count; i++) {
    if (slots[i].block == NULL) { allocate_slot(i, (unsigned char)(i | 8)); }
  }
  check_all();
  end();
}

static void* leave_blocks(void* unused) {
  for (size_t i = 0; i < count; i++) { allocate_slot(i, (unsigned char)(i | 1)); }
  free_all_but(50);
  return unused;
}

/* Of pages that an ended thread left the OS pages go too. */
static void test_left(void) {
  pthread_t thread;
  begin(1000);
  CHECK(pthread_create(&thread, NULL, leave_blocks, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  mi_collect(true);
  CHECK(added() < TOTAL / 5);
  check_all();
  end();
}

/* In a process of its own: once memory has been wanted again soon after it went, it stays for a
   second. */
static void test_by_frees_alone(size_t block_bytes, size_t stride) {
  int status = 0;
  const pid_t child = fork();
  if (child == 0) {
    test_by_frees(block_bytes, stride);
    exit(check_done());
  }
  CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

int main(void) {
  if (os_pages_exceed(4096)) { return 77; }
  setvbuf(stdout, NULL, _IONBF, 0);                     /* its buffer would be visited, too */
  const bool are_small = sysconf(_SC_PAGESIZE) <= 4096; /* else such blocks leave few holes */
  for (size_t bytes = 1000; are_small && bytes <= 16000; bytes *= 2) {
    test_by_frees_alone(bytes, 1);
    test_by_frees_alone(bytes, 7919);
  }
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) { test_case(i); }
  test_left();
  return check_done();
}
