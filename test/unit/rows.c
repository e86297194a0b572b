/* test: timeout=120 env="MIMALLOC_GUARDED_SAMPLE_RATE=0"
   Rows open where blocks are replaced at random, and close where the program only allocates or only
   frees; whatever is on them, counts, visits and invariants are as if it were on the lists of the
   pages, and it goes back when a theap is collected, its heap is destroyed or its thread ends.
   Threads that share blocks all the time put small ones of each other's pages on rows. */
#include "../../src/static.c"

#include "../check.h"
#include "../system.h"

enum { LIVE = 4000, ROUNDS = 200000, LENGTH = 5000, MANY = 120000 };

static uint64_t* live[LIVE];
static int errors;

static void on_error(int error, void* arg) { (void)error, (void)arg, errors++; }

static uint32_t next_random(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33);
}

static bool rows_are_open(void) { return theap_current()->rows.open; }

static uint64_t* tagged(mi_heap_t* heap, size_t size, uint64_t tag) {
  uint64_t* p = mi_heap_malloc(heap, size);
  CHECK(p != NULL);
  *p = tag;
  return p;
}

/* One of many blocks is freed and another allocated in its place; `most` is the largest size, or
   all have that size. */
static void replace(mi_heap_t* heap, size_t least, size_t most) {
  uint64_t random = most;
  for (uint64_t round = 0; round < ROUNDS; round++) {
    const size_t i = next_random(&random) % LIVE;
    CHECK(*live[i] >> 32 == i);
    mi_free(live[i]);
    live[i] = tagged(heap, least + next_random(&random) % (most - least + 1),
                     (uint64_t)i << 32 | (uint32_t)round);
  }
}

static void fill(mi_heap_t* heap, size_t size) {
  for (size_t i = 0; i < LIVE; i++) { live[i] = tagged(heap, size, (uint64_t)i << 32); }
}

static void empty(void) {
  for (size_t i = 0; i < LIVE; i++) {
    CHECK(*live[i] >> 32 == i);
    mi_free(live[i]);
  }
}

static size_t on_rows(void) {
  size_t blocks = 0;
  for (unsigned bin = 1; bin < ROW_COUNT; bin++) {
    blocks += row_view(theap_current(), bin).length;
  }
  return blocks;
}

static bool count_block(const mi_heap_t* heap, const mi_heap_area_t* area, void* block,
                        size_t bytes, void* arg) {
  (void)heap, (void)area, (void)bytes;
  if (block != NULL && area->block_size == bin_bytes(bin_of(LENGTH))) { ++*(size_t*)arg; }
  return true;
}

static size_t blocks_visited(void) {
  size_t count = 0;
  CHECK(mi_heap_visit_blocks(mi_heap_main(), true, count_block, &count));
  return count;
}

static mi_stat_count_t bin_counts(void) {
  mi_stats_t stats = {.size = sizeof(stats), .version = MI_STAT_VERSION};
  CHECK(mi_stats_get(&stats));
  return stats.malloc_bins[bin_of(LENGTH)];
}

/* Nobody else has blocks of LENGTH. */
static void counts_are_exact(void) {
  const int64_t before = bin_counts().total;
  fill(mi_heap_main(), LENGTH);
  replace(mi_heap_main(), LENGTH, LENGTH);
  CHECK(rows_are_open());
  CHECK(bin_counts().total - before == LIVE + ROUNDS && bin_counts().current == LIVE);
  CHECK(blocks_visited() == LIVE);
  CHECK(verify_all());
  empty();
  CHECK(bin_counts().current == 0 && blocks_visited() == 0);
}

static void misuse_is_noticed(void) {
  fill(mi_heap_main(), 200);
  replace(mi_heap_main(), 16, 1000);
  CHECK(rows_are_open());
  char* p = mi_malloc(200);
  mi_free(p);
  errors = 0;
  mi_free(p);
  CHECK(errors == 1);
  p = mi_malloc(200);
  mi_free(p + 8);
  CHECK(errors == 2);
  mi_free(p);
  empty();
  CHECK(errors == 2);
}

static void* blocks[MANY];

static void one_way_closes(void) {
  for (int freeing = 0; freeing < 2; freeing++) {
    for (int i = 0; freeing && i < MANY; i++) { blocks[i] = mi_malloc(200); }
    fill(mi_heap_main(), 200);
    replace(mi_heap_main(), 16, 1000);
    CHECK(rows_are_open());
    for (int i = 0; i < MANY; i++) {
      if (freeing) {
        mi_free(blocks[i]);
      } else {
        blocks[i] = mi_malloc(200);
      }
    }
    CHECK(!rows_are_open());
    for (int i = 0; !freeing && i < MANY; i++) { mi_free(blocks[i]); }
    empty();
  }
}

static void collecting_empties(void) {
  fill(mi_heap_main(), 200);
  replace(mi_heap_main(), 16, 1000);
  empty();
  mi_collect(true);
  CHECK(!rows_are_open() && on_rows() == 0 && verify_all());
}

static void heaps_have_their_own(void) {
  for (int destroying = 0; destroying < 2; destroying++) {
    mi_heap_t* heap = mi_heap_new();
    mi_heap_t* before = mi_heap_set_default(heap);
    fill(heap, 200);
    replace(heap, 16, 1000);
    CHECK(rows_are_open() && theap_current()->heap == heap);
    void* main_block = mi_heap_malloc(mi_heap_main(), 200);
    mi_free(main_block); /* not onto a row of the other heap */
    CHECK(verify_all());
    (void)mi_heap_set_default(before);
    if (destroying) {
      mi_heap_destroy(heap);
    } else {
      mi_heap_delete(heap);
      empty();
    }
    CHECK(verify_all());
  }
}

static void* replace_and_end(void* arg) {
  (void)arg;
  fill(mi_heap_main(), LENGTH);
  replace(mi_heap_main(), LENGTH, LENGTH);
  CHECK(rows_are_open());
  empty();
  return NULL;
}

static void thread_leaves_nothing(void) {
  test_thread_t thread;
  CHECK(thread_start(&thread, replace_and_end, NULL));
  (void)thread_join(thread);
  CHECK(bin_counts().current == 0 && verify_all());
  mi_collect(true);
  CHECK(blocks_visited() == 0);
}

/* Two threads take turns. Either both replace the blocks of one table, so that each finds there
   what the other one has put; or each has half of it, and replaces one block in eight in the other
   half; or each has half of it, and they exchange the halves now and then. */
typedef enum { SHARE_ALL, SHARE_FEW, SHARE_NONE } share_t;
enum { TURNS = 8000, TURNS_WITH_A_HALF = 1000, TURN_ROUNDS = 300, SMALL_BLOCK = 200 };

static share_t shared;
static size_t shares_from[2];  // turns of that thread, or TURNS
static test_barrier_t turn_ends;

static bool takes_small_ones_of_others(void) {
  return rows_are_open() && theap_current()->rows.any_bin == 1;
}

static size_t place_for(size_t half, uint64_t* random) {
  const size_t at = next_random(random) % LIVE;
  const bool anywhere =
      shared == SHARE_ALL || (shared == SHARE_FEW && next_random(random) % 4 == 0);
  return anywhere ? at : half * LIVE / 2 + at / 2;
}

static void take_turn(size_t half) {
  static uint64_t random = 1;
  for (int i = 0; i < TURN_ROUNDS; i++) {
    const size_t at = place_for(half, &random);
    mi_free(live[at]);
    live[at] = mi_malloc(1 + next_random(&random) % SMALL_BLOCK);
    CHECK(live[at] != NULL);
  }
}

static void* take_turns(void* arg) {
  const size_t index = (size_t)(uintptr_t)arg;
  for (size_t turn = 0; turn < TURNS; turn++) {
    barrier_wait(&turn_ends);
    if (turn % 2 != index) { continue; }
    take_turn(shared == SHARE_NONE ? (turn / TURNS_WITH_A_HALF + index) % 2 : index);
    if (takes_small_ones_of_others()) { shares_from[index] = size_min(shares_from[index], turn); }
  }
  CHECK(takes_small_ones_of_others() == (shared != SHARE_NONE));
  return NULL;
}

static void small_blocks_of_others(share_t how) {
  shared = how;
  fill(mi_heap_main(), SMALL_BLOCK);
  barrier_init(&turn_ends, 2);
  test_thread_t threads[2];
  shares_from[0] = shares_from[1] = TURNS;
  for (uintptr_t i = 0; i < 2; i++) { CHECK(thread_start(&threads[i], take_turns, (void*)i)); }
  for (int i = 0; i < 2; i++) { (void)thread_join(threads[i]); }
  for (size_t i = 0; i < LIVE; i++) { mi_free(live[i]); }
  mi_collect(true);
  CHECK(verify_all());
}

/* The first threads that share find it out; others of the heap follow. */
static void others_follow(void) {
  small_blocks_of_others(SHARE_ALL);
  const size_t first = size_max(shares_from[0], shares_from[1]);
  small_blocks_of_others(SHARE_ALL);
  const size_t then = size_max(shares_from[0], shares_from[1]);
  CHECK(first < TURNS && then < first / 3);
}

/* While memory on huge pages shrinks rows take no blocks, and do so again afterwards, though they
   were opened in between. */
static void shut_while_memory_shrinks(void) {
  enum { LARGE = 100 * 1000 };
  theap_t* theap = theap_current();
  const row_t* row = &theap->row[BIN_LARGE];
  void* block = mi_malloc(LARGE);
  mi_free(mi_malloc(LARGE));
  CHECK(*row->top != NULL);
  store_relaxed(&memory_trend, MEMORY_SHRINKS_HUGE);
  theap_follow_trend(theap);
  CHECK(*row->top == NULL);
  mi_free(block);
  CHECK(*row->top == NULL);
  rows_open(theap);
  store_relaxed(&memory_trend, MEMORY_STAYS);
  theap_follow_trend(theap);
  mi_free(mi_malloc(LARGE));
  CHECK(*row->top != NULL);
  mi_collect(true);
  CHECK(verify_all());
}

int main(void) {
  if (os_pages_exceed(16384)) { return 77; }
  if (!OPEN_ROWS) { return 77; }
  mi_register_error(on_error, NULL);
  counts_are_exact();
  misuse_is_noticed();
  one_way_closes();
  collecting_empties();
  heaps_have_their_own();
  shut_while_memory_shrinks();
  if (HAS_THREADS) {
    thread_leaves_nothing();
    others_follow();
    small_blocks_of_others(SHARE_NONE);
    small_blocks_of_others(SHARE_FEW);
  }
  return check_done();
}
