// Records of pages: where they lie, the free ones, and what the program keeps with them.
#include "../memory/meta.h"
#include "../port/lock.h"
#include "../service/random.h"
#include "page.h"

enum { RECORD_BYTES = (int)sizeof(page_t) + (HAS_CHECKS ? (int)sizeof(page_checks_t) : 0) };
enum { CHUNK_BYTES = 2048, CHUNK_PAGES = (CHUNK_BYTES - (int)sizeof(page_t)) / RECORD_BYTES };

enum { PLACE_MOST = 31 };
_Static_assert((int)CHUNK_PAGES <= (int)PLACE_MOST + 1, "a place has five bits");

// Records come in chunks, which are never freed, so that all pages can be visited. The first one
// lies beside what each program touches: see cmake/near.ld.in.
typedef struct page_chunk {
  struct page_chunk* next;
  _Atomic(page_words_t*) words;  // of each page; NULL: none are in use yet
  uint8_t padding[sizeof(page_t) - 2 * sizeof(void*)];
  uint8_t pages[CHUNK_PAGES * RECORD_BYTES];
} page_chunk_t;

static page_chunk_t ALIGNED(64) first_chunk;

static struct {
  lock_t lock;
  page_list_t free;
  _Atomic(page_chunk_t*) chunks;
  random_t random;
} records;

static page_t* chunk_page(page_chunk_t* chunk, int i) {
  return (page_t*)(void*)&chunk->pages[(size_t)i * RECORD_BYTES];
}

static void chunk_add(void) {
  const bool is_first = load_relaxed(&records.chunks) == NULL;
  page_chunk_t* chunk = is_first ? &first_chunk : (page_chunk_t*)meta_alloc(sizeof(page_chunk_t));
  if (chunk == NULL) { return; }
  chunk->next = load_relaxed(&records.chunks);
  for (int i = CHUNK_PAGES - 1; i >= 0; i--) {
    chunk_page(chunk, i)->place = (unsigned)i & (unsigned)PLACE_MOST;
    chunk_page(chunk, i)->next = load_relaxed(&records.free);
    store_relaxed(&records.free, chunk_page(chunk, i));
  }
  store_release(&records.chunks, chunk);  // [P1] out: the zeroed records
}

PRIVATE page_t* record_take(void) {
  lock_acquire(&records.lock);
  if (load_relaxed(&records.free) == NULL) { chunk_add(); }
  page_t* page = load_relaxed(&records.free);
  if (page != NULL) { store_relaxed(&records.free, page->next); }
  if (page != NULL && (CANARY || RANDOM_ORDER)) {
    page_checks(page)->key = random_next(&records.random);
    page_checks(page)->random = random_next(&records.random);
  }
  lock_release(&records.lock);
  return page;
}

static void records_push(page_list_t* list, page_t* first, page_t* last) {
  lock_acquire(&records.lock);
  last->next = load_relaxed(list);
  store_relaxed(list, first);
  lock_release(&records.lock);
}

PRIVATE void record_push(page_list_t* list, page_t* page) {
  store_relaxed(&page->owner, 0);
  records_push(list, page, page);
}

PRIVATE void records_give(page_t* first, page_t* last) { records_push(&records.free, first, last); }

PRIVATE page_t* record_pop(page_list_t* list) {
  if (load_relaxed(list) == NULL) { return NULL; }
  lock_acquire(&records.lock);
  page_t* page = load_relaxed(list);
  if (page != NULL) { store_relaxed(list, page->next); }
  lock_release(&records.lock);
  return page;
}

PRIVATE void record_give(page_t* page) { record_push(&records.free, page); }

PRIVATE void page_end(page_t* page, bool reached) {
  const span_t span = page_span(page);
  if (GUARD_PAGES) { page_checks(page)->guarded = false; }
  record_give(page);
  if (reached) {
    memory_give(span);
  } else {
    memory_give_unreachable(span);
  }
}

static void visit_records(bool all, page_visit_fun* visit, void* arg) {
  page_chunk_t* chunk = load_acquire(&records.chunks);  // [P1] in
  for (; chunk != NULL; chunk = chunk->next) {
    for (int i = 0; i < CHUNK_PAGES; i++) {
      page_t* page = chunk_page(chunk, i);
      if ((all || load_relaxed(&page->heap) != NULL) && !visit(page, arg)) { return; }
    }
  }
}

PRIVATE void page_visit_all(page_visit_fun* visit, void* arg) { visit_records(false, visit, arg); }

typedef struct address_search {
  uintptr_t address;
  page_t* found;
} address_search_t;

RACY static bool page_try_address(page_t* page, void* arg) {
  address_search_t* search = (address_search_t*)arg;
  const uintptr_t start = (uintptr_t)page->start;
  if (page_is_single(page) && search->address - start < page->block_bytes) { search->found = page; }
  return search->found == page_none();
}

PRIVATE page_t* page_large_around(const void* p) {
  address_search_t search = {(uintptr_t)p, page_none()};
  page_visit_all(page_try_address, &search);
  return search.found;
}

UNUSED PRIVATE void record_visit_all(page_visit_fun* visit, void* arg) {
  visit_records(true, visit, arg);
}

UNUSED PRIVATE page_records_t page_records(void) {
  return (page_records_t){&records.chunks, offsetof(page_chunk_t, pages), RECORD_BYTES,
                          CHUNK_PAGES};
}

static page_chunk_t* page_chunk(const page_t* page) {
  const size_t before = offsetof(page_chunk_t, pages) + (size_t)page->place * RECORD_BYTES;
  return (page_chunk_t*)(void*)((uintptr_t)page - before);
}

static _Atomic(bool) words_are_used;

// Of two threads that are the first, one gives its own back.
static page_words_t* words_begin(page_chunk_t* chunk) {
  enum { BYTES = CHUNK_PAGES * sizeof(page_words_t) };
  page_words_t* mine = (page_words_t*)meta_alloc(BYTES);
  page_words_t* other = NULL;
  if (mine == NULL) { return NULL; }
  while (!cas_acq_rel(&chunk->words, &other, mine)) {  // [U1] out: zeros; [U1] in
    if (other == NULL) { continue; }
    meta_free(mine, BYTES);
    return other;
  }
  return mine;
}

PRIVATE page_words_t* page_words(const page_t* page) {
  page_chunk_t* chunk = page_chunk(page);
  page_words_t* words = load_acquire(&chunk->words);  // [U1] in
  store_relaxed(&words_are_used, true);
  if (words == NULL) { words = words_begin(chunk); }
  return words == NULL ? NULL : &words[page->place];
}

static COLD void words_clear(const page_t* page) {
  page_words_t* words = load_acquire(&page_chunk(page)->words);  // [U1] in
  if (words != NULL) { words[page->place] = (page_words_t){{NULL, NULL}}; }
}

// The owner of a page that begins. Whoever used these words did so while a block of the former page
// of the record was live. The owner has seen the end of that block, and so the flag.
PRIVATE void page_clear_words(const page_t* page) {
  if (unlikely(load_relaxed(&words_are_used))) { words_clear(page); }
}

PRIVATE void page_rescue(void) {
  if (lock_is_left(&records.lock)) { store_relaxed(&records.free, NULL); }
}

PRIVATE void page_lock_for_fork(void) { lock_acquire(&records.lock); }

PRIVATE void page_unlock_after_fork(bool child) {
  if (child && records.random.seeded) { random_reseed(&records.random); }
  lock_after_fork(&records.lock, child);
}
