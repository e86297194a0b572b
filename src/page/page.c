// Pages of blocks: making and releasing. See page.h.
#include "page.h"

#include "../base/track.h"
#include "../memory/meta.h"
#include "../port/port.h"

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

static uint8_t* guard_of(const page_t* page) { return page_memory(page) + bytes_to_guard(page); }

PRIVATE void page_guard(page_t* page) {
  const bool wanted = page_guard_bytes() != 0 && arena_can_protect(page->span_arena);
  if (!wanted || page_checks(page)->guarded) { return; }  // one that has waited has its guard
  page_checks(page)->guarded = port_guard(guard_of(page), page_guard_bytes()) == 0;
}

PRIVATE bool page_unguard(page_t* page) {
  page_checks_t* checks = page_checks(page);
  if (!GUARD_PAGES || !checks->guarded) { return true; }
  checks->guarded = port_unguard(guard_of(page), page_guard_bytes()) != 0;
  return !checks->guarded;
}

// ---- sizes ----

// Bytes of the blocks that a page is to have. The first pages of a class have four, but at most
// 128 KiB, so that a small heap stays small; those of a class in demand have eight, but at most 256
// KiB.
static size_t page_wanted(size_t block_bytes, bool in_demand) {
  enum { BLOCKS_LEAST = 4, BLOCKS_ROOMY = 8, BYTES_MOST = PAGE_MAX_SLICES * SLICE_BYTES };
  const size_t bytes = (in_demand ? BLOCKS_ROOMY : BLOCKS_LEAST) * block_bytes;
  const size_t most = in_demand ? BYTES_MOST : BYTES_MOST / 2;
  return likely(bytes <= most) ? bytes : most - most % block_bytes;
}

// Slices of a page: the fewest that hold those blocks, and 64 KiB if the class is in demand, with
// at most 1/32 lost at the end.
PRIVATE size_t page_slices(unsigned bin, unsigned room) {
  enum { LOSS_SHARE = 32 };
  const size_t block_bytes = bin_bytes(bin);
  const size_t guard = page_guard_bytes();
  const size_t unit = slices_rounded(1);
  const size_t bytes_wanted = page_wanted(block_bytes, room == ROOM_MOST) + guard;
  const size_t wanted = size_max(divide_up(bytes_wanted, SLICE_BYTES), room);
  const size_t least = align_up(wanted, unit);
  size_t best = least, best_loss = SIZE_MAX;
  for (size_t slices = least; slices <= PAGE_MAX_SLICES; slices += unit) {
    const size_t bytes = slices * SLICE_BYTES - guard;
    const size_t loss = bytes % block_bytes;
    if (loss <= bytes / LOSS_SHARE) { return slices; }
    if (loss * best < best_loss) { best = slices, best_loss = loss * slices; }
  }
  return best;
}

// ---- making and releasing ----

// Before more memory is touched pages go that wait for requests of other lengths.
static bool span_of_arena(uint32_t serial, span_request_t* request, span_t* span) {
  request->used = !request->zeroed && spare_has_extra();
  if (memory_take(request, span)) { return true; }
  if (!request->used) { return false; }
  page_release_list(spare_take_extra(serial));
  request->used = false;
  return memory_take(request, span);
}

static size_t request_slices(const page_request_t* request) {
  if (request->bin == BIN_LARGE) { return large_slices(request->bytes, request->shift); }
  return page_slices(request->bin, request->room);
}

static bool request_may_be_spare(const page_request_t* request) {
  return request->arena == NULL && request->numa_node == 0 && !request->direct &&
         !request->zeroed && request->serial != 0;
}

static bool span_for(const page_request_t* request, span_t* span) {
  span_request_t span_request = {.slices = request_slices(request),
                                 .align = request->align,
                                 .arena = request->arena,
                                 .zeroed = request->zeroed,
                                 .dense = !request->zeroed,
                                 .numa_node = request->numa_node};
  if (!request->direct) { return span_of_arena(request->serial, &span_request, span); }
  return (request->or_run && memory_take_again(&span_request, span)) ||
         memory_take_direct(&span_request, span);
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
  const size_t area = bytes_to_guard(page);
  page_set_free_list(page, NULL);
  page->bin = (uint8_t)bin;
  page->block_bytes = bin_bytes(bin);
  page->start = start + first_block_at(area, page->block_bytes);
  if (HOLES) { page->holes = 0; }
  page->reserved = (uint16_t)(area / page->block_bytes);
  page->used = page->capacity = 0;
  page_veil(page, false);
}

static void large_place(page_t* page, size_t align) {
  const size_t guard = page_guard_bytes();
  const size_t room = bytes_to_guard(page) - page->block_bytes;
  const bool at_end = guard > 0 && align <= guard && page->span_arena != NULL;
  page->start = page->span_start + (at_end ? align_down(room, guard) : 0);
}

static void page_fill_large(page_t* page, const page_request_t* request) {
  page_set_free_list(page, NULL);
  page->bin = BIN_LARGE;
  page->block_bytes = request->bytes;
  page->start = page->span_start + request->shift;
  if (request->at_end) { large_place(page, request->align); }
  page->capacity = page->reserved = 1;
  page->used = 0;
  page_veil(page, false);
}

// As each page begins.
static void page_reset(page_t* page) {
  page_clear_words(page);
  page->just_extended = page->kept = false;
  page->counting = COUNT_ALL;
  page->theap = NULL;
  page->next = page->prev = page->heap_next = page->heap_prev = NULL;
  store_relaxed(&page->owner, 0);
  store_relaxed(&page->remote, page_is_single(page) ? remote_word(REMOTE_FULL, 1) : REMOTE_OWNED);
}

static void page_fill(page_t* page, const page_request_t* request, const span_t* span) {
  page->span_arena = span->arena;
  page->span_start = span->start;
  page->span_slices = (uint32_t)span->slices;
  if (request->bin == BIN_LARGE) {
    page_fill_large(page, request);
  } else {
    page_cut(page, span->start, request->bin);
  }
  page->fresh_zero = span->is_zero;
  if (FILL_BLOCKS) { store_relaxed(&page_checks(page)->preserved, 0); }
  page_reset(page);
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
  return page_bytes(page) - page->capacity * page->block_bytes;
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

// ---- pages begin, and end ----

// Guards leave no huge pages. Instead a page of a class in demand becomes resident at once, which
// costs one system call in place of a fault for each OS page.
static void page_populate(const page_t* page) {
  if (!GUARD_PAGES || page->span_arena == NULL) { return; }
  (void)port_populate(page_memory(page), bytes_to_guard(page));
}

static page_t* page_of_spare(const page_request_t* request, span_t* span) {
  if (!request_may_be_spare(request)) { return NULL; }
  page_t* page = spare_take(request, request_slices(request), span);
  if (page != NULL && unlikely(page_holes(page) != 0)) { memory_refault_hole(); }
  return page;
}

static page_t* large_of_waiting(const page_request_t* request, span_t* span) {
  if (WAITING_LARGE) { return waiting_take(request, span); }
  return SPARE_LARGE ? page_of_spare(request, span) : NULL;
}

// A record and memory for it; NULL if out of memory.
static page_t* page_begin(const page_request_t* request, span_t* span) {
  page_t* page = request->bin == BIN_LARGE ? large_of_waiting(request, span) : NULL;
  if (page != NULL) { return page; }
  page = record_take();
  if (page == NULL) { return NULL; }
  if (span_for(request, span)) { return page; }
  record_give(page);
  return NULL;
}

static page_t* page_start(page_t* page, const page_request_t* request, const span_t* span) {
  page_fill(page, request, span);
  if (!checks_begin(page, page->reserved)) {
    page_release_memory(page);
    return NULL;
  }
  page_guard(page);
  take_untouched(page);
  if (request->room == ROOM_MOST && span->is_zero) { page_populate(page); }
  page_map(page, page);
  track_hide(span->start, span->slices * SLICE_BYTES);
  return page;
}

PRIVATE page_t* page_new(const page_request_t* request) {
  span_t span;
  page_t* page = page_begin(request, &span);
  return page == NULL ? NULL : page_start(page, request, &span);
}

PRIVATE page_t* page_reuse(const page_request_t* request) {
  span_t span;
  page_t* page = page_of_spare(request, &span);
  if (page == NULL) { return NULL; }
  const bool zeroed = HAS_CHECKS && page_checks(page)->zeroed;
  page = page_start(page, request, &span);
  if (HAS_CHECKS && page != NULL) { page_checks(page)->zeroed = zeroed; }
  return page;
}

static void page_drop_checks(page_t* page) {
  if (!LINKS_APART) { return; }
  memory_lock();  // see checks_replace
  checks_free(page_checks(page));
  memory_unlock();
}

PRIVATE void page_release_memory(page_t* page) {
  page_drop_checks(page);
  if (!KEEP_CLASS || !spare_decommit(page)) { page_end(page, page_unguard(page)); }
}

PRIVATE void page_release_unreachable(page_t* page) {
  page_drop_checks(page);
  page_end(page, false);
}

// The first ones of a list of pages that waited, or might, go together. Returns the others.
static NOINLINE page_t* release_some(page_t* list) {
  enum { TOGETHER_MOST = 16 };
  span_t spans[TOGETHER_MOST];
  size_t count = 0;
  page_t *last = list, *rest = list;
  for (; rest != NULL && count < TOGETHER_MOST; rest = rest->next) {
    last = rest;
    store_relaxed(&last->owner, 0);
    spans[count++] = page_span(last);
  }
  records_give(list, last);
  memory_give_all(spans, count);
  return rest;
}

PRIVATE void page_release_list(page_t* list) {
  while (list != NULL) {
    if (SPARE_LARGE && list->next != NULL) {
      list = release_some(list);
      continue;
    }
    page_t* page = list;
    list = page->next;
    page_release_memory(page);
  }
}

PRIVATE void page_release_spare(void) {
  page_release_list(spare_take_all());
  if (WAITING_LARGE) { waiting_flush_near(); }
}

PRIVATE void page_release_unwanted(void) {
  page_release_list(spare_take_unwanted());
  if (WAITING_LARGE) { waiting_flush_old(); }
}

PRIVATE void page_release_kept(void) {
  page_release_spare();
  if (WAITING_LARGE) { waiting_flush(INT64_MAX); }
  if (KEEP_CLASS) { spare_end_decommitted(); }
}

// ---- as the library goes ----

static bool record_unload(page_t* page, void* everything) {
  if (NOTE_BLOCKS) { checks_free(page_checks(page)); }
  if (*(const bool*)everything && load_relaxed(&page->heap) != NULL && page->span_arena == NULL) {
    (void)port_release(page_memory(page), page_bytes(page));
  }
  return true;
}

UNUSED PRIVATE void pages_unload(bool everything) { record_visit_all(record_unload, &everything); }

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
  if (!freed) { page_drop_checks(page); }  // of its blocks some are said to be live
  give_untouched(page);
  if (page_holes(page) != 0) { page_drop_holes(page); }
  page_map(page, NULL);
  note_recent(page);
  if (SPARE_LARGE || !page_is_single(page)) {
    page_release_list(spare_put(page));
  } else if (!WAITING_LARGE || !waiting_put(page)) {
    page_release_memory(page);
  }
}
