/* test: timeout=60 when="release threads"
   Blocks are passed round between two threads, each of which replaces random ones of those that it
   has. So each frees what either has allocated, long ago. The memory of pages stays in proportion
   to what lives: what one thread returns to the other's pages does not pile up there. A thread that
   goes on with another's blocks keeps some of their pages, rather than give away each that it
   frees a block of. */
#include "../system.h"
#include "api.h"

enum { POOLS = 3, POOL = 1000, LONGEST = 16000, TURNS = 40000, EACH = 100 };
enum { TABLES = 2, TABLE = 5000, TABLE_LONGEST = 1000, TABLE_TURNS = 8000, TABLE_STAYS = 200 };

static test_barrier_t barrier;
typedef struct {
  void* block[TABLE];
  size_t bytes[TABLE];
} table_t;
static table_t tables[POOLS];
static size_t live;

static void replace(table_t* table, size_t i, size_t bytes) {
  mi_free(table->block[i]);
  live -= table->bytes[i];
  table->bytes[i] = bytes;
  table->block[i] = mi_malloc(bytes);
  live += bytes;
}

/* The longer the rarer. */
static void replace_in_pool(table_t* pool, size_t i, uint64_t* random) {
  replace(pool, i, 8 + random_below(random, LONGEST) * random_below(random, LONGEST) / LONGEST);
}

static void replace_in_table(table_t* table, size_t i, uint64_t* random) {
  replace(table, i, 8 + random_below(random, TABLE_LONGEST));
}

/* The threads take turns: one waits while the other works. */
static void take_turns_with_pools(int me) {
  uint64_t random = (uint64_t)me + 1;
  for (int turn = 0; turn < TURNS; turn++) {
    if (turn % 2 == me) {
      table_t* pool = &tables[turn % POOLS];
      for (int i = 0; i < EACH; i++) {
        replace_in_pool(pool, random_below(&random, POOL), &random);
      }
    }
    barrier_wait(&barrier);
  }
}

/* Each has a table for some turns, and then the other's. */
static void take_turns_with_tables(int me) {
  uint64_t random = (uint64_t)me + 1;
  for (int turn = 0; turn < TABLE_TURNS; turn++) {
    if (turn % 2 == me) {
      table_t* table = &tables[(me + turn / TABLE_STAYS) % TABLES];
      for (int i = 0; i < EACH; i++) {
        replace_in_table(table, random_below(&random, TABLE), &random);
      }
    }
    barrier_wait(&barrier);
  }
}

static void* work(void* unused) {
  take_turns_with_pools(1);
  take_turns_with_tables(1);
  return unused;
}

static void empty(table_t* table) {
  for (size_t i = 0; i < TABLE; i++) { replace(table, i, 0); }
}

static void test_pools(void) {
  take_turns_with_pools(0);
  const size_t pages = (size_t)stats_now().page_committed.current;
  printf("%zu KiB of pages for %zu KiB\n", pages / 1024, live / 1024);
  CHECK(pages < live * 9 / 4);
}

static void test_tables(void) {
  const int64_t before = stats_now().pages_abandoned.total;
  take_turns_with_tables(0);
  const int64_t abandoned = stats_now().pages_abandoned.total - before;
  printf("%lld pages abandoned\n", (long long)abandoned);
  CHECK(abandoned < TABLE_TURNS / 4);
}

int main(void) {
  test_thread_t thread;
  uint64_t random = 3;
  for (int pool = 0; pool < POOLS; pool++) {
    for (size_t i = 0; i < POOL; i++) { replace_in_pool(&tables[pool], i, &random); }
  }
  barrier_init(&barrier, 2);
  CHECK(thread_start(&thread, work, NULL));
  test_pools();
  for (int pool = 0; pool < POOLS; pool++) { empty(&tables[pool]); }
  for (int table = 0; table < TABLES; table++) {
    for (size_t i = 0; i < TABLE; i++) { replace_in_table(&tables[table], i, &random); }
  }
  test_tables();
  thread_join(thread);
  for (int pool = 0; pool < POOLS; pool++) { empty(&tables[pool]); }
  return check_done();
}
