/* test: env="MIMALLOC_GUARDED_SAMPLE_RATE=0" when="threads stacks"
   Invariants: each is broken on purpose, and the walks of heap/verify.c and memory/verify.c say
   which; and they hold while pages and heaps come and go. */
#include "../../src/static.c"

#include <pthread.h>
#include <stdio.h>

#include "../check.h"

static char said[4000];

static void listen(const char* text, void* arg) {
  (void)arg;
  strncat(said, text, sizeof(said) - strlen(said) - 1);
}

static void on_error(int error, void* arg) { (void)error, (void)arg; /* else it would abort */ }

/* Everything holds, or just this is broken. */
static void expect(const char* number, int line) {
  char request[40];
  said[0] = 0;
  const bool holds = verify_all();
  snprintf(request, sizeof(request), "invariant %s is broken", number == NULL ? "" : number);
  const bool as_wanted = number == NULL ? holds && said[0] == 0 : !holds && strstr(said, request);
  if (!as_wanted) {
    fprintf(stderr, "verify.c:%d: expected %s, got: %s\n", line, number == NULL ? "peace" : number,
            said);
  }
  CHECK(as_wanted);
}

#define EXPECT(number) expect(number, __LINE__)

/* A field gets a wrong value, is looked at, and gets its own back. */
#define BREAK(number, field, wrong)       \
  do {                                    \
    __typeof__(field) kept = (field);     \
    (field) = (__typeof__(field))(wrong); \
    EXPECT(number);                       \
    (field) = kept;                       \
    EXPECT(NULL);                         \
  } while (0)

#define BREAK_ATOMIC(number, field, wrong)                                  \
  do {                                                                      \
    const __typeof__(load_relaxed(&(field))) kept = load_relaxed(&(field)); \
    store_relaxed(&(field), wrong);                                         \
    EXPECT(number);                                                         \
    store_relaxed(&(field), kept);                                          \
    EXPECT(NULL);                                                           \
  } while (0)

enum { BLOCKS = 2000 };
static void* blocks[BLOCKS];

static void fill_heap(mi_heap_t* heap) {
  for (int i = 0; i < BLOCKS; i++) { blocks[i] = mi_heap_malloc(heap, 1 + (size_t)i * 7 % 3000); }
  for (int i = 0; i < BLOCKS; i += 3) { mi_free(blocks[i]); }
}

static void empty_heap(void) {
  for (int i = 0; i < BLOCKS; i++) {
    if (i % 3 != 0) { mi_free(blocks[i]); }
  }
}

static bool has_two_free(const page_t* page) {
  return page_has_free(page) && block_next(page, page_free_list(page)) != NULL;
}

/* The page that serves the size next, with at least two free blocks. */
static page_t* page_for(size_t size) {
  enum { TRIES = 100 };
  page_t* page = page_none();
  for (int i = 0; i < TRIES && !has_two_free(page); i++) {
    CHECK(mi_malloc(size) != NULL); /* stays in use: in some builds what is freed would wait */
    page = theap_page_for(theap_current(), size);
  }
  CHECK(has_two_free(page));
  return page;
}

static void break_link(page_t* page, block_t* wrong) {
  block_t* first = page_free_list(page);
  block_t* kept = block_next(page, first);
  block_set_next(page, first, wrong);
  EXPECT("P3");
  block_set_next(page, first, kept);
  EXPECT(NULL);
}

static void test_pages(void) {
  page_t* page = page_for(500);
  BREAK("P1", page->capacity, page->reserved + 1);
  BREAK("P1", page->reserved, 2000);
  BREAK("P2", page->theap, NULL);
  BREAK_ATOMIC("P2", page->owner, (uintptr_t)64);
  block_t* first = page_free_list(page);
  break_link(page, first);
  if (!LINKS_APART) { break_link(page, (block_t*)(void*)((uint8_t*)first + 8)); }
  break_link(page, (block_t*)(void*)(page->start + page->capacity * page->block_bytes));
  BREAK("P1", page->counting, COUNT_ALL); /* a held page counts from PAGE_HELD */
  BREAK("H1", page->prev, NULL);
  BREAK_ATOMIC("P3", page->remote, remote_word(REMOTE_OWNED, REMOTE_COUNT_MAX) + REMOTE_HEAD);
}

static void test_other_pages(void) {
  page_t* first = page_for(2000);
  page_t* page = first->next;
  for (unsigned bin = 1; page == NULL && bin < BIN_COUNT; bin++) {
    first = theap_current()->first[bin];
    page = first == page_none() ? NULL : first->next;
  }
  CHECK(page != NULL); /* one that is not held counts */
  if (page == NULL) { return; }
  BREAK("P3", page->used, page->used - 1);
  BREAK("P2", page->next, first);
  BREAK("H1", theap_current()->count[page->bin], 1);
  BREAK("H1", theap_current()->direct[3], page);
  BREAK("W1", *theap_current()->base[5], page);
  BREAK("H1", theap_current()->sparse[page->bin], 1000);
  BREAK("H1", theap_current()->falling[0], page);
}

static void test_full(void) {
  uint8_t* block = mi_malloc(100000);
  page_t* page = page_of(block);
  BREAK_ATOMIC("P2", page->owner, (uintptr_t)64);
  BREAK("H1", page->next, page);
  BREAK("P1", page->block_bytes, (size_t)1 << 30);
  BREAK_ATOMIC("H1", page->remote, REMOTE_FULL); /* nobody would come to own it */
  mi_free(block);
}

static void test_untouched(void) {
  page_t* page = NULL;
  void* block = mi_malloc(20000); /* of a class that nobody has used: fresh memory */
  page = page_of(block);
  uint8_t* last = page->start + page->reserved * page->block_bytes - 1;
  if (page->fresh_zero && page->capacity < page->reserved) { BREAK("P4", *last, 1); }
  CHECK(page->fresh_zero);
  mi_free(block);
}

/* One block after another, of which the first is freed: what it lay in is a free run. */
static void make_free_run(void) {
  void* first = mi_malloc(100000);
  CHECK(first != NULL && mi_malloc(100000) != NULL);
  mi_free(first);
  mi_collect(true);
  page_release_kept();
  memory_collect(true);
}

/* The first free run of at least three slices. */
static slice_t* free_run(arena_t* arena) {
  uint32_t at = 0;
  make_free_run();
  while (at < arena->frontier && (run_state(arena, at) == RUN_TAKEN || run_length(arena, at) < 3)) {
    at += run_length(arena, at);
  }
  CHECK(at < arena->frontier);
  return &arena->table[at];
}

static void test_map(void) {
  page_t* page = page_for(500);
  map_enter(page->start, 1, NULL);
  EXPECT("M1");
  map_enter(page->start, 1, page);
  const arena_t* arena = page->span_arena;
  const slice_t* run = free_run(page->span_arena);
  uint8_t* unused = arena->start + (size_t)(run - arena->table) * SLICE_BYTES;
  map_enter(unused, 1, page);
  EXPECT("M1");
  map_enter(unused, 1, NULL);
  EXPECT(NULL);
}

static void test_heaps(void) {
  mi_heap_t* heap = mi_heap_new();
  void* p = mi_heap_malloc(heap, 100);
  void* q = mi_heap_malloc(heap, 1000);
  EXPECT(NULL);
  BREAK("H3", heap->theaps->heap, &heap_main_static);
  BREAK("H2", heap->pages, heap->pages->heap_next);
  BREAK_ATOMIC("H4", heap->walk.state, LOCK_HELD);
  BREAK_ATOMIC("H2", page_of(p)->heap, &heap_main_static);
  mi_free(p);
  mi_free(q);
  mi_heap_destroy(heap);
  EXPECT(NULL);
}

static void* leave_half(void* arg) {
  (void)arg;
  fill_heap(mi_heap_main());
  return NULL;
}

static void test_abandoned(void) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, leave_half, NULL) == 0 && pthread_join(thread, NULL) == 0);
  mi_collect(true); /* what the thread left for the next one goes to the pool */
  EXPECT(NULL);
  unsigned bin = 1;
  heap_t* heap = mi_heap_main();
  while (bin < BIN_COUNT && load_relaxed(pool_first(heap, bin)) == NULL) { bin++; }
  CHECK(bin < BIN_COUNT);
  page_t* page = load_relaxed(pool_first(heap, bin));
  const uint32_t word = load_relaxed(&page->remote);
  BREAK_ATOMIC("P3", page->remote, word + REMOTE_ONE);
  BREAK("H1", page->prev, page);
  BREAK_ATOMIC("H1", *pool_first(heap, bin), NULL);
  empty_heap();
  EXPECT(NULL);
}

static void test_arenas(void) {
  arena_t* arena = page_for(500)->span_arena;
  slice_t* run = free_run(arena);
  BREAK("A1", arena->taken, arena->taken + 1);
  slice_t* last = run + (run->run >> 2) - 1;
  BREAK("A1", last->run, 4 << 2 | RUN_TAKEN);
  BREAK("A3", run->prev, arena->slices);
  BREAK("A3", arena->occupied[0][RUN_BINS / 64 - 1], (uint64_t)1 << 63);
  BREAK("A4", arena->frontier, arena->slices + 1);
  BREAK("A4", run->run, arena->slices << 2 | RUN_CLEAN);
  const unsigned state = run->run & 3;
  const slice_t kept[2] = {run[0], run[1]}; /* cut in two */
  const uint32_t rest = ((kept[0].run >> 2) - 1) << 2 | state;
  run[0].run = 1 << 2 | state;
  run[1].run = last->run = rest;
  EXPECT("A2");
  last->run = kept[0].run;
  run[0] = kept[0];
  run[1] = kept[1];
  EXPECT(NULL);
}

int main(void) {
  mi_option_enable(mi_option_show_errors);
  mi_option_set(mi_option_max_errors, -1);
  mi_register_output(listen, NULL);
  mi_register_error(on_error, NULL);
  EXPECT(NULL);
  fill_heap(mi_heap_main());
  EXPECT(NULL);
  test_untouched();
  test_pages();
  test_other_pages();
  test_full();
  mi_free(mi_malloc(500000)); /* for a free run, also where memory keeps its class */
  mi_collect(true);
  test_map();
  test_heaps();
  test_abandoned();
  test_arenas();
  mi_collect(true);
  EXPECT(NULL);
  return check_done();
}
