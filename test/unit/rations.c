/* test: timeout=120 env="MIMALLOC_GUARDED_SAMPLE_RATE=0"
   While samples or heartbeats are wanted malloc takes from rations: what is sampled comes exactly
   when it was drawn, whether rows are open or not; counts, visits and invariants are as without
   them; and what is left of rations goes back to its page. */
#include "../../src/static.c"

#include "../check.h"
#include "../system.h"

enum { LIVE = 4000, ROUNDS = 100000, LENGTH = 5000, RARE = 1000000000, CLASS = 64 };

static void* live[LIVE];
static size_t beats;

static void on_beat(bool force, unsigned long long heartbeat, void* arg) {
  (void)force, (void)heartbeat, (void)arg;
  beats++;
}

static void sample(size_t rate, size_t bytes) {
  mi_option_set(mi_option_guarded_sample_seed, 7);
  mi_option_set(mi_option_guarded_sample_bytes, (long)bytes);
  mi_option_set(mi_option_guarded_sample_rate, (long)rate);
}

static bool has_guards(const void* p) { return page_is_guarded(page_of(p)); }

static bool rows_are_open(void) { return theap_current()->rows.open; }

static void replace_some(size_t least, size_t most) {
  uint64_t random = most;
  for (size_t round = 0; round < ROUNDS; round++) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const size_t i = (size_t)(random >> 33) % LIVE;
    mi_free(live[i]);
    live[i] = mi_malloc(least + (size_t)(random >> 40) % (most - least + 1));
    CHECK(live[i] != NULL);
  }
}

/* Until rows are open, which may have to wait for a while after they were closed. How often. */
static size_t replace(size_t least, size_t most) {
  enum { TRIES = 20 };
  size_t tries = 0;
  do { replace_some(least, most); } while (++tries < TRIES && rows_are_open() != OPEN_ROWS);
  CHECK(rows_are_open() == OPEN_ROWS);
  return tries * ROUNDS;
}

static void fill(size_t size) {
  for (size_t i = 0; i < LIVE; i++) { live[i] = mi_malloc(size); }
}

static void empty(void) {
  for (size_t i = 0; i < LIVE; i++) { mi_free(live[i]); }
}

static bool count_block(const mi_heap_t* heap, const mi_heap_area_t* area, void* block,
                        size_t bytes, void* arg) {
  (void)heap, (void)area, (void)bytes;
  if (block != NULL && area->full_block_size == bin_bytes(bin_of(LENGTH + PAD_BYTES))) {
    ++*(size_t*)arg;
  }
  return true;
}

static size_t blocks_visited(void) {
  size_t count = 0;
  CHECK(mi_heap_visit_blocks(mi_heap_main(), true, count_block, &count));
  return count;
}

static mi_stat_count_t bin_counts(unsigned bin) {
  mi_stats_t stats = {.size = sizeof(stats), .version = MI_STAT_VERSION};
  CHECK(mi_stats_get(&stats));
  return stats.malloc_bins[bin];
}

/* Requests of the class that pass before the next one that is sampled. */
static size_t passing(unsigned bin) {
  const theap_t* theap = theap_current();
  size_t count = theap->rations->left[bin];
  for (const block_t* b = theap->rations->list[bin].free; b != NULL; b = b->next) { count++; }
  return count + (rows_are_open() ? ROW_STOP - theap->row[bin].taken : 0);
}

/* ---- when ---- */

static void comes_as_drawn(size_t size, bool zero) {
  const unsigned bin = bin_of(size + PAD_BYTES);
  for (int i = 0; i < 20; i++) {
    for (size_t left = passing(bin); left > 0; left--) {
      void* p = zero ? mi_zalloc(size) : mi_malloc(size);
      CHECK(!has_guards(p) && (!zero || ((char*)p)[size - 1] == 0));
      memset(p, 1, size);
      mi_free(p);
    }
    void* p = mi_malloc(size);
    CHECK(has_guards(p));
    mi_free(p);
  }
}

static void sampled_when_drawn(void) {
  sample(100, 0);
  for (size_t size = 16; size <= MEDIUM_REQUEST; size *= 2) { comes_as_drawn(size, size % 3 == 1); }
  fill(200);
  (void)replace(16, 1000);
  comes_as_drawn(200, false);
  comes_as_drawn(500, true);
  empty();
  sample(1, 0);
  void* p = mi_malloc(24);
  CHECK(has_guards(p) && passing(bin_of(24)) == 0);
  mi_free(p);
  sample(0, 0);
  CHECK(theap_current()->rations == NULL && verify_all());
}

/* A byte of the block that was not asked for samples nothing. */
static void only_bytes_asked_for(void) {
  sample(0, 4096);
  const unsigned bin = bin_of(CLASS);
  size_t sampled = 0, passed_by = 0;
  for (int i = 0; i < 400; i++) {
    for (size_t left = passing(bin); left > 0; left--) { mi_free(mi_malloc(CLASS - PAD_BYTES)); }
    const size_t at = theap_current()->rations->at[bin], size = CLASS - PAD_BYTES - GRANULE + 1;
    void* p = mi_malloc(size);
    CHECK(has_guards(p) == (at < size));
    sampled += has_guards(p);
    passed_by += !has_guards(p);
    mi_free(p);
  }
  CHECK(sampled > 250 && passed_by > 50);
  sample(0, 0);
}

/* Nothing of a class may be sampled: its requests do not all take the slow path for that. */
static void unsuited_class_is_left_alone(void) {
  enum { REQUESTS = 5000 };
  const unsigned bin = bin_of(CLASS);
  size_t due = 0;
  mi_option_set(mi_option_guarded_min, LENGTH);
  sample(100, 0);
  for (int i = 0; i < REQUESTS; i++) {
    mi_free(mi_malloc(CLASS - PAD_BYTES));
    due += passing(bin) == 0;
  }
  CHECK(theap_current()->rations != NULL && due < REQUESTS / 10);
  mi_option_set(mi_option_guarded_min, 0);
  sample(0, 0);
}

/* ---- counts ---- */

static void counts_are_exact(void) {
  const unsigned bin = bin_of(LENGTH + PAD_BYTES);
  sample(RARE, 0);
  for (int again = 0; again < 2; again++) {
    const int64_t before = bin_counts(bin).total;
    fill(LENGTH);
    CHECK(bin_counts(bin).total - before == LIVE && bin_counts(bin).current == LIVE);
    CHECK(blocks_visited() == LIVE && verify_all());
    const int64_t replaced = (int64_t)replace(LENGTH, LENGTH);
    CHECK(bin_counts(bin).total - before == LIVE + replaced && bin_counts(bin).current == LIVE);
    CHECK(blocks_visited() == LIVE && verify_all());
    CHECK(theap_current()->rations != NULL);
    if (again) { sample(0, 0); } /* ends with rows open, and rations out */
    empty();
    CHECK(bin_counts(bin).current == 0 && blocks_visited() == 0 && verify_all());
  }
}

static void collecting_returns(void) {
  const unsigned bin = bin_of(CLASS);
  sample(RARE, 0);
  const int64_t before = bin_counts(bin).current;
  void* p[10];
  for (int i = 0; i < 10; i++) { p[i] = mi_malloc(CLASS - PAD_BYTES); }
  const theap_t* theap = theap_current();
  CHECK((theap->rations->list[bin].free != NULL) == RATION_LISTS);
  CHECK(bin_counts(bin).current == before + 10);
  const size_t left = passing(bin);
  mi_collect(false);
  CHECK(theap->rations->list[bin].free == NULL && passing(bin) == left);
  CHECK(bin_counts(bin).current == before + 10 && verify_all());
  for (int i = 0; i < 10; i++) { mi_free(p[i]); }
  sample(0, 0);
}

/* A theap with rations that ends: what is left of them is no live block. */
static void heaps_end(void) {
  sample(RARE, 0);
  for (int destroying = 0; destroying < 2; destroying++) {
    mi_heap_t* heap = mi_heap_new();
    void* p = mi_heap_malloc(heap, LENGTH);
    CHECK(p != NULL && mi_heap_malloc(heap, CLASS) != NULL);
    if (destroying) {
      mi_heap_destroy(heap);
    } else {
      mi_heap_delete(heap);
      CHECK(blocks_visited() == 1);
      mi_free(p);
    }
    CHECK(blocks_visited() == 0 && verify_all());
  }
  sample(0, 0);
}

static void* allocate_and_end(void* arg) {
  (void)arg;
  for (int i = 0; i < 10; i++) { live[i] = mi_malloc(LENGTH); }
  CHECK(theap_current()->rations != NULL);
  return NULL;
}

static void threads_end(void) {
  sample(RARE, 0);
  test_thread_t thread;
  CHECK(thread_start(&thread, allocate_and_end, NULL));
  (void)thread_join(thread);
  CHECK(blocks_visited() == 10 && verify_all());
  for (int i = 0; i < 10; i++) { mi_free(live[i]); }
  CHECK(blocks_visited() == 0);
  sample(0, 0);
}

/* ---- heartbeats ---- */

static void beats_are_regular(size_t least, size_t most) {
  enum { EVERY = 64, REQUESTS = 6400 };
  size_t last = beats;
  for (int i = 0; i < REQUESTS; i++) {
    mi_free(mi_malloc(least + (size_t)i % (most - least + 1)));
    if (i % EVERY == EVERY - 1) {
      CHECK(beats > last);
      last = beats;
    }
  }
}

static void heartbeats(void) {
  mi_register_deferred_free(on_beat, NULL);
  mi_free(mi_malloc(MEDIUM_MAX * 2)); /* the thread notices in its slow path */
  for (int i = 0; theap_current()->rations == NULL && i < 100; i++) { mi_collect(false); }
  CHECK(theap_current()->rations != NULL);
  beats_are_regular(16, 16);
  beats_are_regular(MEDIUM_REQUEST, MEDIUM_REQUEST);
  fill(200);
  (void)replace(16, 1000);
  beats_are_regular(200, 200);
  empty();
  mi_register_deferred_free(NULL, NULL);
  for (int i = 0; i < 100; i++) { mi_free(mi_malloc(MEDIUM_MAX * 2)); }
  CHECK(theap_current()->rations == NULL && verify_all());
}

int main(void) {
  if (os_pages_exceed(16384)) { return 77; }
  if (SMALL || TRACKED) { return 77; }
  mi_free(mi_malloc(1));
  if (PORT_CAN_RELEASE) { /* where memory only grows there are no guards */
    sampled_when_drawn();
    only_bytes_asked_for();
    unsuited_class_is_left_alone();
  }
  counts_are_exact();
  collecting_returns();
  heaps_end();
  if (HAS_THREADS) { threads_end(); }
  heartbeats();
  return check_done();
}
