// Pages of blocks: making, extending, releasing. See page.h.
#include "page.h"

#include <errno.h>

#include "../base/track.h"
#include "../memory/meta.h"
#include "../port/lock.h"
#include "../port/port.h"
#include "../service/message.h"
#include "../service/options.h"
#include "../service/random.h"

// ---- records ----

enum { RECORD_BYTES = (int)sizeof(page_t) + (HAS_CHECKS ? (int)sizeof(page_checks_t) : 0) };
enum { CHUNK_BYTES = 2048, CHUNK_PAGES = (CHUNK_BYTES - (int)sizeof(page_t)) / RECORD_BYTES };

enum { PLACE_MOST = 63 };
_Static_assert((int)CHUNK_PAGES <= (int)PLACE_MOST + 1, "a place has six bits");

// Records come in chunks, which are never freed, so that all pages can be visited.
typedef struct page_chunk {
  struct page_chunk* next;
  _Atomic(page_words_t*) words;  // of each page; NULL: none are in use yet
  uint8_t padding[sizeof(page_t) - 2 * sizeof(void*)];
  uint8_t pages[CHUNK_PAGES * RECORD_BYTES];
} page_chunk_t;

static struct {
  lock_t lock;
  page_t* free;
  _Atomic(page_chunk_t*) chunks;
  random_t random;
} records;

static page_t* chunk_page(page_chunk_t* chunk, int i) {
  return (page_t*)(void*)&chunk->pages[(size_t)i * RECORD_BYTES];
}

static void chunk_add(void) {
  page_chunk_t* chunk = (page_chunk_t*)meta_alloc(sizeof(page_chunk_t));
  if (chunk == NULL) { return; }
  chunk->next = load_relaxed(&records.chunks);
  for (int i = CHUNK_PAGES - 1; i >= 0; i--) {
    chunk_page(chunk, i)->place = (unsigned)i & (unsigned)PLACE_MOST;
    chunk_page(chunk, i)->next = records.free;
    records.free = chunk_page(chunk, i);
  }
  store_release(&records.chunks, chunk);  // [P1] out: the zeroed records
}

static page_t* record_take(void) {
  lock_acquire(&records.lock);
  if (records.free == NULL) { chunk_add(); }
  page_t* page = records.free;
  if (page != NULL) { records.free = page->next; }
  if (page != NULL && (CANARY || RANDOM_ORDER)) {
    page_checks(page)->key = random_next(&records.random);
    page_checks(page)->random = random_next(&records.random);
  }
  lock_release(&records.lock);
  return page;
}

static void record_push(page_t** list, page_t* page) {
  store_relaxed(&page->owner, 0);
  lock_acquire(&records.lock);
  page->next = *list;
  *list = page;
  lock_release(&records.lock);
}

// NULL if there is none.
static page_t* record_pop(page_t** list) {
  lock_acquire(&records.lock);
  page_t* page = *list;
  if (page != NULL) { *list = page->next; }
  lock_release(&records.lock);
  return page;
}

static void record_give(page_t* page) { record_push(&records.free, page); }

PRIVATE void page_visit_all(page_visit_fun* visit, void* arg) {
  page_chunk_t* chunk = load_acquire(&records.chunks);  // [P1] in
  for (; chunk != NULL; chunk = chunk->next) {
    for (int i = 0; i < CHUNK_PAGES; i++) {
      page_t* page = chunk_page(chunk, i);
      if (load_relaxed(&page->heap) != NULL && !visit(page, arg)) { return; }
    }
  }
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
// of the record was live, whose end the owner has seen, and so the flag.
static void page_clear_words(const page_t* page) {
  if (unlikely(load_relaxed(&words_are_used))) { words_clear(page); }
}

PRIVATE void page_rescue(void) {
  if (lock_is_left(&records.lock)) { records.free = NULL; }
}

PRIVATE void page_lock_for_fork(void) { lock_acquire(&records.lock); }

PRIVATE void page_unlock_after_fork(bool child) {
  if (child && records.random.seeded) { random_reseed(&records.random); }
  lock_after_fork(&records.lock, child);
}

// ---- what is known of each block ----

// A few sizes for each doubling, so that few kinds of record come about.
static size_t notes_rounded(size_t bytes) {
  enum { LEAST = 64 };
  return bytes <= LEAST ? LEAST : quarter_up(bytes);
}

static size_t links_bytes(uint32_t room) { return notes_rounded((room + 1) * sizeof(link_t)); }

// Notes are long: those that fill a mapping come from the OS, and go back to it.
static bool notes_are_mapped(size_t bytes) {
  return PORT_CAN_RELEASE && bytes >= port_granularity();
}

static size_t notes_bytes(uint32_t room) {
  const size_t bytes = room * sizeof(note_t);
  return notes_are_mapped(bytes) ? align_up(bytes, port_granularity()) : notes_rounded(bytes);
}

static note_t* notes_alloc(uint32_t room) {
  const size_t bytes = notes_bytes(room);
  void* notes = NULL;
  if (!notes_are_mapped(bytes)) { return (note_t*)meta_alloc(bytes); }
  return port_map(bytes, port_page_bytes(), &notes) == 0 ? (note_t*)notes : NULL;
}

static void notes_free(note_t* notes, uint32_t room) {
  const size_t bytes = notes_bytes(room);
  if (notes_are_mapped(bytes)) {
    (void)port_release(notes, bytes);
  } else {
    meta_free(notes, bytes);
  }
}

static void checks_free(page_checks_t* checks) {
  if (!LINKS_APART) { return; }
  if (checks->room > 1) { meta_free((void*)(uintptr_t)checks->links, links_bytes(checks->room)); }
  if (NOTE_BLOCKS && checks->room > 0) { notes_free(checks->notes, checks->room); }
  checks->room = 0;
}

static bool checks_alloc(page_checks_t* checks, uint32_t count) {
  checks->links = count == 1 ? checks->single : (link_t*)meta_alloc(links_bytes(count));
  checks->notes = NOTE_BLOCKS ? notes_alloc(count) : NULL;
  checks->room = count;
  if (checks->links != NULL && (!NOTE_BLOCKS || checks->notes != NULL)) { return true; }
  if (checks->links != NULL && count > 1) {
    meta_free((void*)(uintptr_t)checks->links, links_bytes(count));
  }
  if (checks->notes != NULL) { notes_free(checks->notes, count); }
  checks->room = 0;
  return false;
}

// Who looks at a page that others own holds the memory lock.
static bool checks_replace(page_checks_t* checks, uint32_t count) {
  memory_lock();
  checks_free(checks);
  const bool ok = checks_alloc(checks, count);
  memory_unlock();
  return ok;
}

// For `count` blocks, none of which is live. False if out of memory.
static bool checks_begin(page_t* page, uint32_t count) {
  page_checks_t* checks = page_checks(page);
  if (!HAS_CHECKS) { return true; }
  const bool single = page->bin == BIN_LARGE;
  checks_set_size(checks, single ? 1 : page->block_bytes);
  checks->limit = count;
  checks->zeroed = false;
  checks->later = checks->later_end = checks->seen = 0;
  if (!LINKS_APART) { return true; }
  if (checks->room < count || (checks->room == 1) != (count == 1)) {
    return checks_replace(checks, count);
  }
  if (NOTE_BLOCKS) { memset(checks->notes, 0, count * sizeof(note_t)); }
  return true;
}

// ---- guards ----

// None where an OS page is longer than a slice: that would be half of a page of blocks.
PRIVATE size_t page_guard_bytes(void) {
  const size_t bytes = GUARD_PAGES ? port_page_bytes() : 0;
  return bytes <= SLICE_BYTES ? bytes : 0;
}

static uint8_t* guard_of(const page_t* page) {
  return page_memory(page) + page->span_slices * SLICE_BYTES - page_guard_bytes();
}

PRIVATE void page_guard(page_t* page) {
  if (page_guard_bytes() == 0 || !arena_can_protect(page->span_arena)) { return; }
  page_checks(page)->guarded = port_guard(guard_of(page), page_guard_bytes()) == 0;
}

PRIVATE bool page_unguard(page_t* page) {
  page_checks_t* checks = page_checks(page);
  if (!GUARD_PAGES || !checks->guarded) { return true; }
  checks->guarded = port_unguard(guard_of(page), page_guard_bytes()) != 0;
  return !checks->guarded;
}

// ---- sizes ----

// Slices of a page: the fewest that hold four blocks with at most 1/32 lost at the end. The first
// pages of a class are small, so that a small heap stays small; a class in demand gets 64 KiB and
// eight blocks.
PRIVATE size_t page_slices(unsigned bin, unsigned room) {
  enum { BLOCKS_LEAST = 4, BLOCKS_ROOMY = 8, LOSS_SHARE = 32 };
  const size_t block_bytes = bin_bytes(bin);
  const size_t blocks = room == ROOM_MOST ? BLOCKS_ROOMY : BLOCKS_LEAST;
  const size_t guard = page_guard_bytes();
  const size_t least = size_max(divide_up(blocks * block_bytes + guard, SLICE_BYTES), room);
  size_t best = least, best_loss = SIZE_MAX;
  for (size_t slices = least; slices <= PAGE_MAX_SLICES; slices++) {
    const size_t bytes = slices * SLICE_BYTES - guard;
    const size_t loss = bytes % block_bytes;
    if (loss <= bytes / LOSS_SHARE) { return slices; }
    if (loss * best < best_loss) { best = slices, best_loss = loss * slices; }
  }
  return best;
}

// ---- making and releasing ----

static bool span_for(const page_request_t* request, span_t* span) {
  size_t slices = large_slices(request->bytes, request->shift);
  if (request->bin != BIN_LARGE) { slices = page_slices(request->bin, request->room); }
  const span_request_t span_request = {.slices = slices,
                                       .align = request->align,
                                       .arena = request->arena,
                                       .zeroed = request->zeroed,
                                       .dense = !request->zeroed,
                                       .numa_node = request->numa_node};
  return request->direct ? memory_take_direct(span_request, span) : memory_take(span_request, span);
}

// Bits that are 0 in the address of each block: those below the largest power of two that divides
// its size, as far as pages start and end on such multiples, and those that no address has.
RACY static uintptr_t page_mask(const page_t* page) {
  const uintptr_t high = sizeof(void*) == 8 ? (uintptr_t)0 - ((uintptr_t)1 << 24 << 24) : 0;
  const size_t unit = page->block_bytes & (0 - page->block_bytes);
  return page_is_single(page) ? UINTPTR_MAX >> 1 : high | (size_min(unit, SLICE_BYTES) - 1);
}

SHARED_DATA_DEF(_Atomic(int), perturb_value);

PRIVATE void page_veil(page_t* page, bool veiled) {
  store_relaxed(&page->mask, veiled ? UINTPTR_MAX : page_mask(page));
}

RACY PRIVATE bool page_has_block(const page_t* page, const void* p) {
  if (page_is_single(page) || !page_is_veiled(page)) { return page_block_is_valid(page, p); }
  return (page_mask(page) & (uintptr_t)p) == 0 && page_starts_at(page, p);
}

PRIVATE void block_perturb_taken(void* p, size_t size) {
  const int value = perturb_now();
  if (value != 0) { memset(p, value ^ 0xFF, size); }
}

// The first word becomes a link; one that is there already, of a block that is freed twice, stays.
PRIVATE void block_perturb_freed(const page_t* page, void* p) {
  const int value = perturb_now();
  const size_t from = LINKS_APART ? 0 : sizeof(block_t);
  if (value != 0) { memset((uint8_t*)p + from, value, page_room(page) - from); }
}

// The last block ends at the guard, if that leaves the blocks aligned as their size is.
static size_t first_block_at(size_t area, size_t block_bytes) {
  const size_t aligned = block_bytes & (0 - block_bytes);
  return aligned <= page_guard_bytes() ? area % block_bytes : 0;
}

// Cuts the page's memory into blocks.
static void page_cut(page_t* page, uint8_t* start, unsigned bin) {
  const size_t area = page->span_slices * SLICE_BYTES - page_guard_bytes();
  page_set_free_list(page, NULL);
  page->bin = (uint8_t)bin;
  page->block_bytes = bin_bytes(bin);
  page->start = start + first_block_at(area, page->block_bytes);
  if (HOLES) { page->holes = 0; }
  page->reserved = (uint16_t)(area / page->block_bytes);
  page->used = page->capacity = 0;
  page->just_extended = false;
  page_veil(page, false);
}

static void large_place(page_t* page, size_t align) {
  const size_t guard = page_guard_bytes();
  const size_t room = page->span_slices * SLICE_BYTES - guard - page->block_bytes;
  const bool at_end = guard > 0 && align <= guard && page->span_arena != NULL;
  page->start = page->span_start + (at_end ? align_down(room, guard) : 0);
}

static void page_fill_large(page_t* page, const page_request_t* request) {
  page_set_free_list(page, NULL);
  page->bin = BIN_LARGE;
  page->block_bytes = request->bytes;
  page->start = page->span_start + request->shift;
  if (request->at_end) { large_place(page, request->align); }
  page->used = page->capacity = page->reserved = 1;
  page->just_extended = false;
  page_veil(page, false);
}

static void page_fill(page_t* page, const page_request_t* request, const span_t* span) {
  const bool single = request->bin == BIN_LARGE;
  page->span_arena = span->arena;
  page->span_start = span->start;
  page->span_slices = (uint32_t)span->slices;
  if (single) {
    page_fill_large(page, request);
  } else {
    page_cut(page, span->start, request->bin);
  }
  page_clear_words(page);
  page->fresh_zero = span->is_zero;
  page->kept = false;
  page->counting = COUNT_ALL;
  if (FILL_BLOCKS) { store_relaxed(&page_checks(page)->preserved, 0); }
  page->theap = NULL;
  page->next = page->prev = page->heap_next = page->heap_prev = NULL;
  store_relaxed(&page->owner, 0);
  store_relaxed(&page->remote, single ? REMOTE_FULL : REMOTE_OWNED);
}

// Only the first slice of a large block is entered: nothing else in it is the start of a block. In
// builds for memory tools the program's block starts after a label, see heap/tracked.h.
static void page_map(const page_t* page, const page_t* entry) {
  enum { LEAD_MOST = 4 << 10 };
  const size_t lead = TRACKED ? size_min(LEAD_MOST, page->block_bytes - 1) : 0;
  const size_t heads = ((uintptr_t)page->start % SLICE_BYTES + lead) / SLICE_BYTES + 1;
  const bool single = page->bin == BIN_LARGE;
  map_enter(single ? page->start : page_memory(page), single ? heads : page->span_slices, entry);
}

PRIVATE void page_move_large(page_t* page, size_t align) {
  page_map(page, NULL);
  large_place(page, align);
  page_map(page, page);
}

// What of a page with several blocks was never touched.
static size_t untouched_bytes(const page_t* page) {
  if (!page->fresh_zero || page_is_single(page)) { return 0; }
  return page->span_slices * SLICE_BYTES - page->capacity * page->block_bytes;
}

static void take_untouched(const page_t* page) {
  const size_t bytes = untouched_bytes(page);
  if (bytes != 0) { (void)add_relaxed(&memory_untouched, bytes); }
}

static void give_untouched(const page_t* page) {
  const size_t bytes = untouched_bytes(page);
  if (bytes != 0) { (void)sub_relaxed(&memory_untouched, bytes); }
}

// All blocks were freed: what of their page was in use is zero then, but for the canaries.
static bool is_zeroed(const page_t* page) {
  return ZERO_FREED && KEEP_CLASS &&
         (page->fresh_zero || page_checks(page)->zeroed || page->capacity == page->reserved);
}

PRIVATE bool page_recut(page_t* page, unsigned bin) {
  const bool zeroed = is_zeroed(page);
  give_untouched(page);
  if (page_holes(page) != 0) { page_drop_holes(page); }
  page_cut(page, page_memory(page), bin);
  page_clear_words(page);
  page->fresh_zero = false;
  store_relaxed(&page->remote, REMOTE_OWNED);
  if (!checks_begin(page, page->reserved)) { return false; }
  if (HAS_CHECKS) { page_checks(page)->zeroed = zeroed; }
  return true;
}

// ---- pages without blocks ----

// Under records.lock, linked by `next`. A few wait as they are for their class: guards that go and
// come cost two system calls. Where memory keeps its class the others wait too, inaccessible and
// without memory. And those whose guards the OS would not take away wait until it does.
static page_t *ready_pages[BIN_COUNT], *kept_pages[BIN_COUNT], *stuck_pages;
static _Atomic(size_t) ready_slices;
enum { PAGES_WAIT = GUARD_PAGES || KEEP_CLASS };
enum { READY_MOST = 8 << 20 >> SLICE_SHIFT };
enum { READY_LEAST = KEEP_CLASS ? READY_MOST : READY_MOST / 8 };

// Slices of pages that went as there were too many, and of those how many were wanted again, about:
// so many more may wait, until memory has to grow.
static _Atomic(intptr_t) ready_gone;
static _Atomic(size_t) ready_refaults;

static size_t ready_limit(void) {
  return size_min(READY_LEAST + load_relaxed(&ready_refaults), READY_MOST);
}

static void ready_note_refault(size_t slices) {
  if (KEEP_CLASS || load_relaxed(&ready_gone) < (intptr_t)slices) { return; }
  (void)sub_relaxed(&ready_gone, (intptr_t)slices);
  (void)add_relaxed(&ready_refaults, slices);
}

// Whatever of it is inaccessible comes back; non-zero if it does not.
static int page_reach(page_t* page) {
  const int error = port_unguard(page_memory(page), page->span_slices * SLICE_BYTES);
  page_checks(page)->guarded = error != 0;
  return error;
}

// Memory of arenas that all heaps share.
static bool may_wait(const page_t* page) {
  const arena_t* arena = page->span_arena;
  return PAGES_WAIT && arena != NULL && !arena->exclusive && arena_can_protect(arena);
}

static bool large_may_wait(const page_t* page) {
  return WAITING_LARGE && page_is_single(page) && page_checks(page)->guarded && may_wait(page);
}

static bool small_may_wait(const page_t* page) { return !page_is_single(page) && may_wait(page); }

static page_t* ready_take(unsigned bin) {
  page_t* page = record_pop(&ready_pages[bin]);
  if (page != NULL) { (void)sub_relaxed(&ready_slices, page->span_slices); }
  return page;
}

// Returns false if the OS did not want to, or if address space is limited, and the program may need
// it for other things.
static bool kept_put(page_t* page) {
  if (port_address_limit() != SIZE_MAX) { return false; }
  const bool kept = port_guard(page_memory(page), page->span_slices * SLICE_BYTES) == 0;
  if (!kept && page_reach(page) == 0) { return false; }
  record_push(kept ? &kept_pages[page->bin] : &stuck_pages, page);
  return true;
}

// NULL if there is none.
static page_t* kept_take(const page_request_t* request, span_t* span) {
  if (request->bin == BIN_LARGE) { return WAITING_LARGE ? waiting_take(request, span) : NULL; }
  if (request->direct || request->arena != NULL) { return NULL; }
  page_t* page = ready_take(request->bin);
  if (page != NULL) {
    *span = page_span(page);
    return page;
  }
  page = KEEP_CLASS ? record_pop(&kept_pages[request->bin]) : NULL;
  if (page == NULL) { return NULL; }
  *span = page_span(page);
  span->is_zero = true;
  if (page_reach(page) == 0) { return page; }
  record_push(&stuck_pages, page);
  return NULL;
}

// Guards leave no huge pages. Instead a page of a class in demand becomes resident at once, which
// costs one system call in place of a fault for each OS page.
static void page_populate(const page_t* page) {
  if (!GUARD_PAGES || page->span_arena == NULL) { return; }
  const size_t bytes = page->span_slices * SLICE_BYTES - page_guard_bytes();
  (void)port_populate(page_memory(page), bytes);
}

// A record and memory for it; NULL if out of memory.
static page_t* page_begin(const page_request_t* request, span_t* span) {
  page_t* page = PAGES_WAIT ? kept_take(request, span) : NULL;
  if (page != NULL) { return page; }
  page = record_take();
  if (page == NULL) { return NULL; }
  if (span_for(request, span)) {
    if (PAGES_WAIT && request->bin != BIN_LARGE) { ready_note_refault(span->slices); }
    return page;
  }
  record_give(page);
  return NULL;
}

PRIVATE page_t* page_new(page_request_t request) {
  span_t span;
  page_t* page = page_begin(&request, &span);
  if (page == NULL) { return NULL; }
  const bool is_ready = PAGES_WAIT && page_checks(page)->guarded;
  const bool zeroed = is_ready && page_checks(page)->zeroed;
  page_fill(page, &request, &span);
  if (!checks_begin(page, page->reserved)) {
    page_release_memory(page);  // one that was ready has its guard
    return NULL;
  }
  if (is_ready) {
    page_checks(page)->zeroed = zeroed;
  } else {
    page_guard(page);
  }
  take_untouched(page);
  if (request.room == ROOM_MOST && span.is_zero) { page_populate(page); }
  page_map(page, page);
  track_hide(span.start, span.slices * SLICE_BYTES);
  return page;
}

static void page_end(page_t* page) {
  const span_t span = page_span(page);
  record_give(page);
  memory_give(span);
}

PRIVATE void page_release_stuck(void) {
  page_t* page = NULL;
  if (!GUARD_PAGES && !KEEP_CLASS) { return; }
  while ((page = record_pop(&stuck_pages)) != NULL && page_reach(page) == 0) { page_end(page); }
  if (page != NULL) { record_push(&stuck_pages, page); }
}

PRIVATE void page_release_memory(page_t* page) {
  if (LINKS_APART) {
    memory_lock();  // see checks_replace
    checks_free(page_checks(page));
    memory_unlock();
  }
  if (KEEP_CLASS && small_may_wait(page) && kept_put(page)) { return; }
  if (page_unguard(page)) {
    page_end(page);
  } else {
    record_push(&stuck_pages, page);
  }
}

// Those of other classes make room first.
static void ready_shrink(unsigned bin) {
  for (unsigned i = 1; i <= BIN_COUNT; i++) {
    const unsigned other = (bin + i) % BIN_COUNT;
    while (load_relaxed(&ready_slices) > ready_limit()) {
      page_t* page = ready_take(other);
      if (page == NULL) { break; }
      (void)add_relaxed(&ready_gone, (intptr_t)page->span_slices);
      page_release_memory(page);
    }
  }
}

static void ready_put(page_t* page) {
  const unsigned bin = page->bin;
  (void)add_relaxed(&ready_slices, page->span_slices);
  record_push(&ready_pages[bin], page);
  if (load_relaxed(&ready_slices) > ready_limit()) { ready_shrink(bin); }
}

PRIVATE void page_release_ready(void) {
  store_relaxed(&ready_gone, 0);
  store_relaxed(&ready_refaults, 0);
  for (unsigned bin = 0; PAGES_WAIT && bin < BIN_COUNT; bin++) {
    for (page_t* page = NULL; (page = ready_take(bin)) != NULL;) { page_release_memory(page); }
  }
  if (WAITING_LARGE) { waiting_flush_near(); }
}

PRIVATE void page_release_kept(void) {
  page_release_ready();
  if (WAITING_LARGE) { waiting_flush(INT64_MAX); }
  for (unsigned bin = 0; KEEP_CLASS && bin < BIN_COUNT; bin++) {
    for (page_t* page = NULL; (page = record_pop(&kept_pages[bin])) != NULL;) {
      record_push(&stuck_pages, page);
    }
  }
  page_release_stuck();
}

// ---- as the library goes ----

static void record_unload(page_t* page, bool everything) {
  if (NOTE_BLOCKS) { checks_free(page_checks(page)); }
  if (everything && load_relaxed(&page->heap) != NULL && page->span_arena == NULL) {
    (void)port_release(page->span_start, page->span_slices * SLICE_BYTES);
  }
}

UNUSED PRIVATE void pages_unload(bool everything) {
  page_chunk_t* chunk = load_relaxed(&records.chunks);
  for (; chunk != NULL; chunk = chunk->next) {
    for (int i = 0; i < CHUNK_PAGES; i++) { record_unload(chunk_page(chunk, i), everything); }
  }
}

// ---- large blocks that were freed a moment ago: for a message about the next free ----

enum { RECENT_LARGE = 32 };
static _Atomic(uintptr_t) recent_large[RECENT_LARGE];

static void note_recent(const page_t* page) {
  static _Atomic(uint32_t) count;
  if (!CHECK_STATE || page->bin != BIN_LARGE) { return; }
  store_relaxed(&recent_large[add_relaxed(&count, 1) % RECENT_LARGE], (uintptr_t)page->start);
}

PRIVATE bool page_was_large(const void* p) {
  for (int i = 0; CHECK_STATE && i < RECENT_LARGE; i++) {
    if (load_relaxed(&recent_large[i]) == (uintptr_t)p) { return true; }
  }
  return false;
}

PRIVATE void page_release(page_t* page, bool freed) {
  if (HAS_CHECKS) { page_checks(page)->zeroed = freed && is_zeroed(page); }
  give_untouched(page);
  if (page_holes(page) != 0) { page_drop_holes(page); }
  page_map(page, NULL);
  note_recent(page);
  if (small_may_wait(page)) {
    ready_put(page);
  } else if (!large_may_wait(page) || !waiting_put(page)) {
    page_release_memory(page);
  }
}

// ---- blocks ----

static block_t* block_at(const page_t* page, size_t index) {
  return (block_t*)(void*)(page->start + index * page->block_bytes);
}

// Where memory was in use before it costs less to go further, and in the long pages of a class in
// demand further still. Where the order is random there must be some to choose from.
static size_t extend_least(const page_t* page) {
  enum { USED_BLOCKS = 4, RANDOM_BLOCKS = 8, LONG_BYTES = 32 << 10, LONG_BLOCKS = 16 };
  if (RANDOM_ORDER) { return RANDOM_BLOCKS; }
  if (page->fresh_zero) { return 1; }
  if (page->span_slices < ROOM_MOST) { return USED_BLOCKS; }
  return size_max(size_min(LONG_BYTES / page->block_bytes, LONG_BLOCKS), USED_BLOCKS);
}

// About 4 KiB at a time, so that memory that is not needed yet stays untouched.
static uint32_t extend_count(const page_t* page) {
  enum { EXTEND_BYTES = 4 << 10 };
  const uint32_t count = (uint32_t)size_max(EXTEND_BYTES / page->block_bytes, extend_least(page));
  const uint32_t left = (uint32_t)(page->reserved - page->capacity);
  return count < left ? count : left;
}

// A list of free blocks in the making, which becomes `free`.
typedef struct sequence {
  page_t* page;
  uint32_t last;  // the number of its last block; 0: none
} sequence_t;

static void sequence_add(sequence_t* sequence, uint32_t number) {
  page_t* page = sequence->page;
  if (sequence->last == 0) {
    page_set_free_list(page, block_at(page, number - 1));
  } else if (LINKS_APART) {
    store_relaxed(&page_checks(page)->links[sequence->last], (uint16_t)number);
  } else {
    block_at(page, sequence->last - 1)->next = block_at(page, number - 1);
  }
  sequence->last = number;
}

// The blocks from `first` on whose bits are set.
static void sequence_add_bits(sequence_t* sequence, uint32_t first, uint64_t bits) {
  for (; bits != 0; bits &= bits - 1) { sequence_add(sequence, first + low_bit(bits) + 1); }
}

// The same in random order: each comes in one of two turns, in FULL of four. Within a turn the
// addresses go up, as processors like it: see docs/decisions/014.
static void sequence_add_shuffled(sequence_t* sequence, uint32_t first, uint64_t bits) {
  uint64_t* random = &page_checks(sequence->page)->random;
  const uint64_t early = quick_bits(random),
                 sooner = QUARANTINE ? quick_bits(random) : ~(uint64_t)0;
  sequence_add_bits(sequence, first, bits & early & sooner);
  sequence_add_bits(sequence, first, bits & early & ~sooner);
  sequence_add_bits(sequence, first, bits & ~early & sooner);
  sequence_add_bits(sequence, first, bits & ~early & ~sooner);
}

static void sequence_add_group(sequence_t* sequence, uint32_t first, uint64_t bits) {
  if (RANDOM_ORDER) {
    sequence_add_shuffled(sequence, first, bits);
  } else {
    sequence_add_bits(sequence, first, bits);
  }
}

// `rest` follows the list.
static void sequence_end(const sequence_t* sequence, block_t* rest) {
  if (sequence->last != 0) {
    block_set_next(sequence->page, block_at(sequence->page, sequence->last - 1), rest);
  }
}

static void link_shuffled(page_t* page, uint32_t count) {
  enum { GROUP = 64 };
  sequence_t sequence = {.page = page};
  block_t* rest = page_free_list(page);
  for (uint32_t at = 0; at < count; at += GROUP) {
    const uint32_t left = count - at;
    const uint64_t all = left >= GROUP ? ~(uint64_t)0 : ((uint64_t)1 << left) - 1;
    sequence_add_group(&sequence, page->capacity + at, all);
  }
  sequence_end(&sequence, rest);
}

PRIVATE void page_link_blocks(page_t* page, uint32_t first, uint32_t count) {
  const size_t block_bytes = page->block_bytes;
  block_t* block = block_at(page, first);
  block_t* const last = block_at(page, first + count - 1);
  block_t* const before = page_free_list(page);
  page_set_free_list(page, block);
  while (block != last) {
    block_t* next = (block_t*)(void*)((uint8_t*)block + block_bytes);
    block_set_next(page, block, next);
    block = next;
  }
  block_set_next(page, last, before);
}

static void set_canaries(const page_t* page, uint32_t count) {
  track_quiet();
  for (uint32_t i = 0; HAS_CANARIES && i < count; i++) {
    canary_set(page, canary_of(page, block_at(page, page->capacity + i)));
  }
  track_loud();
}

PRIVATE void page_extend(page_t* page) {
  const uint32_t count = extend_count(page);
  if (ZERO_FREED && !page->fresh_zero && !page_checks(page)->zeroed) {
    memset(block_at(page, page->capacity), 0, count * page->block_bytes);
  }
  set_canaries(page, count);
  if (RANDOM_ORDER) {
    link_shuffled(page, count);
  } else {
    page_link_blocks(page, page->capacity, count);
  }
  page->capacity = (uint16_t)(page->capacity + count);
  page->just_extended = true;
  if (!COUNT_EACH) { heap_shift(load_relaxed(&page->heap), page, (intptr_t)count); }
  if (page->fresh_zero) { (void)sub_relaxed(&memory_untouched, count * page->block_bytes); }
  stat_add(&memory_stats.pages_extended, 1);
}

// A program that frees a block twice, or writes to one that it freed, may close a list to a circle:
// whoever follows one to its end counts the blocks, from list_most down.
static uint32_t list_most(const page_t* page) { return page->capacity + 1u; }

// Looks at a block of a list before anything is read from it.
static void list_look(const page_t* page, const block_t* block) {
  const size_t offset = page_offset(page, block);
  if (unlikely(offset >= page->capacity * page->block_bytes || offset % GRANULE != 0)) {
    report_bad_link(page, block);
  }
}

static void list_count(const page_t* page, const block_t* block, uint32_t* left) {
  list_look(page, block);
  if (unlikely(--*left == 0)) { report_endless_list(page); }
}

// `left` less the length of the list.
static uint32_t list_rest(const page_t* page, const block_t* block, uint32_t left) {
  track_quiet();
  for (; block != NULL; block = block_next(page, block)) { list_count(page, block, &left); }
  track_loud();
  return left;
}

// A list, and then another one.
static block_t* list_join(const page_t* page, block_t* list, block_t* rest) {
  uint32_t left = list_most(page);
  if (list == NULL || rest == NULL) { return list == NULL ? rest : list; }
  track_quiet();
  block_t* last = list;
  for (block_t* next = block_next(page, last); next != NULL; next = block_next(page, last)) {
    list_count(page, next, &left);
    last = next;
  }
  block_set_next(page, last, rest);
  track_loud();
  return list;
}

// Puts a list in front of `free`.
static void page_prepend(page_t* page, block_t* list) {
  if (list != NULL) { page_set_free_list(page, list_join(page, list, page_free_list(page))); }
}

// A link that leads elsewhere shows at once; an endless list is as good as any other here.
PRIVATE block_t* page_cut_list(page_t* page, uint32_t most, uint32_t* count) {
  block_t *first = page_free_list(page), *last = NULL, *next = first;
  uint32_t left = most;
  while (left != 0 && next != NULL) {
    list_look(page, next);
    last = next;
    next = block_next(page, last);
    left--;
  }
  *count = most - left;
  if (last == NULL) { return NULL; }
  block_set_next(page, last, NULL);
  page_set_free_list(page, next);
  return first;
}

PRIVATE size_t page_add_list(page_t* page, block_t* list) {
  if (list == NULL) { return 0; }
  const uint32_t most = list_most(page), left = list_rest(page, list, most);
  page_prepend(page, list);
  return most - left;
}

static void page_take_later(page_t* page) {
  page_checks_t* checks = page_checks(page);
  if (!REUSE_LATER) { return; }
  page_prepend(page, page_later(page));
  checks->later = checks->later_end = checks->seen = 0;
}

PRIVATE void page_take_waiting(page_t* page) {
  page_checks_t* checks = page_checks(page);
  const uint32_t newest = checks->later;
  const uint32_t others = newest == 0 ? 0 : load_relaxed(&checks->links[newest]);
  if (others == 0) { return; }
  if (checks->later_end == 0) {
    page_prepend(page, link_block(page, others));
  } else {
    store_relaxed(&checks->links[checks->later_end], (uint16_t)page->free_number);
    page->free_number = others;
  }
  store_relaxed(&checks->links[newest], 0);
  checks->later_end = (uint16_t)newest;
  checks->seen = 0;
}

PRIVATE void page_add_returned(page_t* page, block_t* list) {
  if (REUSE_LATER) {
    list = list_join(page, list, page_later(page));
    page_checks(page)->later = (uint16_t)block_as_link(page, list);
  } else {
    page_prepend(page, list);
  }
}

static void page_empty_remote(page_t* page) {
  const uint32_t word = remote_take(&page->remote);
  if (word == REMOTE_OWNED) { return; }
  if (!page_is_held(page)) { page_count_all(page); }
  page_add_returned(page, page_remote_list(page, word));
  page->used -= remote_count(word);
}

PRIVATE void page_take_remote(page_t* page) {
  page_empty_remote(page);
  page_take_later(page);
}

PRIVATE void page_restore(page_t* page, uint32_t claimed) {
  page_prepend(page, page_remote_list(page, claimed));
  page->used = remote_count(claimed);
}

PRIVATE uint32_t page_used(const page_t* page) {
  if (!page_is_held(page)) { return page->used + page_uncounted(page); }
  const uint32_t left = list_rest(page, page_free_list(page), list_most(page));
  const uint32_t in_holes = page_holes(page) == 0 ? 0 : page_hole_blocks(page);
  return list_rest(page, page_later(page), left) - 1 - in_holes;
}

PRIVATE void page_count_all(page_t* page) {
  page->used = page_used(page);
  page->counting = COUNT_ALL;
}

// The list leads through the page in the order of frees, with a cache miss at each step, each of
// which waits for the one before. These loads do not wait for each other: a list of 655 blocks
// takes a tenth of the time afterwards. (Prefetches do not help: processors drop them.)
RACY static void page_touch_blocks(const page_t* page) {
  enum { LINE = 64 };
  const size_t step = size_max(page->block_bytes, LINE), bytes = page->capacity * page->block_bytes;
  for (size_t at = 0; at < bytes; at += step) {
    (void)*(const volatile uint8_t*)(page->start + at);
  }
}

PRIVATE void page_free_bits(const page_t* page, block_bits_t* bits) {
  const uint32_t block_bytes = (uint32_t)page->block_bytes;
  uint32_t left = list_most(page);
  if (!LINKS_APART && !TRACKED) { page_touch_blocks(page); }
  bits_clear(bits, page->capacity);
  for (const block_t* block = page_free_list(page); block != NULL;
       block = block_next(page, block)) {
    list_count(page, block, &left);
    bits_set(bits, (uint32_t)page_offset(page, block) / block_bytes, true);
  }
}

PRIVATE void page_list_bits(page_t* page, const block_bits_t* bits) {
  sequence_t sequence = {.page = page};
  page_set_free_list(page, NULL);
  for (uint32_t word = 0; word < divide_up(page->capacity, 64); word++) {
    sequence_add_group(&sequence, word * 64, bits->words[word]);
  }
  sequence_end(&sequence, NULL);
}

PRIVATE void page_sort_free(page_t* page) {
  block_bits_t bits;
  page_free_bits(page, &bits);
  page_list_bits(page, &bits);
}

// Now and then never-used blocks come first though there are others.
static bool extends_anyway(const page_t* page) {
  enum { ONE_IN = 16 };
  return RANDOM_ORDER && quick_below(&page_checks(page)->random, ONE_IN) == 0;
}

// The block that was freed last is all that the page has. It is ripe if it was so at an earlier
// look too: others have been handed out since.
static void page_take_ripe(page_t* page) {
  page_checks_t* checks = page_checks(page);
  if (!REUSE_LATER || page_has_free(page)) { return; }
  if (checks->later != 0 && checks->later == checks->seen) {
    page_take_later(page);
  } else {
    checks->seen = checks->later;
  }
}

PRIVATE bool page_has_room(page_t* page) {
  if (page_has_free(page)) { return true; }
  page_empty_remote(page);
  if (REUSE_LATER) { page_take_waiting(page); }
  while (unlikely(page_holes(page) != 0) && !page_has_free(page)) { page_take_hole(page); }
  if (page->capacity < page->reserved && (!page_has_free(page) || extends_anyway(page))) {
    page_extend(page);
  }
  page_take_ripe(page);
  return page_has_free(page);
}
