// Rows. See row.h.
#include "row.h"

#include <errno.h>

#include "../memory/meta.h"
#include "../service/message.h"
#include "ration.h"

enum {
  OPEN_BLOCKS = 128,                 // of an open row, at most
  OPEN_BYTES = 256 << 10,            // about their bytes, once it has grown
  FIRST_BYTES = 4 << 10,             // about their bytes, when it is opened
  GROWTH_LEAST = 256 << 10,          // bytes by which the rows of a theap may have grown, in all,
  GROWTH_SHARE = 4,                  // or one part in so many of its pages
  REFILL_MOST = 16,                  // blocks
  LARGE_BYTES = 1024 << 10,          // of the row of large blocks
  LARGE_BYTES_THREADED = 256 << 10,  // the same among threads
  SERVED_LEAST = 5,                  // requests for each look, on average, or the rows are opened
  REST_MOST = 256,                   // windows of looks
  SHARED_LONG = 8                    // windows of looks
};

// ---- slots ----

static size_t row_length(const theap_t* theap, unsigned bin) {
  return (size_t)(theap->row[bin].top - theap->base[bin]);
}

static size_t row_blocks(size_t bytes, unsigned bin) {
  return size_max(size_min(bytes / bin_bytes(bin), OPEN_BLOCKS), ROW_FEW);
}

static size_t open_first(unsigned bin) { return row_blocks(FIRST_BYTES, bin); }
static size_t open_most(unsigned bin) { return row_blocks(OPEN_BYTES, bin); }

static void** row_few(const theap_t* theap, unsigned bin) {
  return theap->few + (size_t)bin * (ROW_FEW + 1);
}

static size_t few_most(unsigned bin) { return bin == BIN_LARGE ? ROW_LARGE : ROW_FEW; }

static size_t slots_bytes(void) {
  size_t slots = 0;
  for (unsigned bin = 1; bin < BIN_COUNT; bin++) { slots += open_most(bin) + 1; }
  return slots * sizeof(void*);
}

// The row has its blocks in other slots from now on.
static void row_move(theap_t* theap, unsigned bin, void** base, size_t room) {
  row_t* row = &theap->row[bin];
  const size_t length = row_length(theap, bin);
  memcpy(base + 1, theap->base[bin] + 1, length * sizeof(*base));
  theap->base[bin] = base;
  row->top = base + length;
  row->end = base + room;
}

static size_t taken_from_rows(const theap_t* theap) {
  size_t taken = 0;
  for (unsigned bin = 1; bin < BIN_COUNT; bin++) { taken += theap->row[bin].taken; }
  return taken;
}

// What was counted since the rows were judged counts no more.
static void looks_begin(theap_t* theap) {
  rows_t* rows = &theap->rows;
  rows->looks = rows->in_vain = 0;
  rows->served = rows->moved = rows->others = 0;
  rows->taken = taken_from_rows(theap);
}

static void rows_set_closed(theap_t* theap) {
  theap->rows.open = false;
  theap->rows.any_bin = ROW_ANY_BIN;
  theap->open_serial = ROWS_CLOSED;
}

PRIVATE void rows_forget(theap_t* theap) {
  for (unsigned bin = 0; bin < ROW_COUNT; bin++) {
    void** few = row_few(theap, bin);
    theap->base[bin] = few;
    theap->row[bin].top = few;
    theap->row[bin].end = few + few_most(bin);
  }
  rows_set_closed(theap);
  theap->rows.large_bytes = 0;
  rations_forget(theap);
}

PRIVATE void rows_free_slots(theap_t* theap) {
  if (theap->rows.slots != NULL) { meta_free(theap->rows.slots, slots_bytes()); }
  theap->rows.slots = NULL;
}

// ---- back to the pages ----

// Blocks of a page that is not the thread's, linked, so that one atomic operation gives all back.
typedef struct parcel {
  page_t* page;  // NULL: none
  chain_t chain;
} parcel_t;

static void parcel_add(parcel_t* parcel, page_t* page, block_t* block) {
  chain_t* chain = &parcel->chain;
  if (parcel->page == NULL) {
    parcel->page = page;
    *chain = (chain_t){.last = block, .link = block_link(page, block)};
  } else {
    block_set_next(page, block, chain->first);
  }
  chain->first = block;
  chain->head = block_as_link(page, block);
  chain->count++;
}

static void parcel_send(parcel_t* parcel) {
  if (parcel->page != NULL) { chain_send(parcel->page, parcel->chain); }
  parcel->page = NULL;
}

static void parcels_send(void* const* blocks, size_t count) {
  enum { PARCELS = 16 };
  parcel_t parcels[PARCELS];
  for (size_t i = 0; i < PARCELS; i++) { parcels[i].page = NULL; }
  for (size_t i = 0; i < count; i++) {
    block_t* block = (block_t*)blocks[i];
    page_t* page = page_of(block);
    if (page_is_mine(page)) {
      block_return_to_page(page, block);
    } else {
      parcel_t* parcel = &parcels[(uintptr_t)page / sizeof(page_t) % PARCELS];
      if (parcel->page != page) { parcel_send(parcel); }
      parcel_add(parcel, page, block);
    }
  }
  for (size_t i = 0; i < PARCELS; i++) { parcel_send(&parcels[i]); }
}

// The `count` blocks that were put first leave the row.
static void row_drop(theap_t* theap, unsigned bin, size_t count, void** blocks) {
  void** first = theap->base[bin] + 1;
  memcpy(blocks, first, count * sizeof(*blocks));
  theap->row[bin].top -= count;
  memmove(first, first + count, row_length(theap, bin) * sizeof(*blocks));
}

// Apart from row_shed, since some threads have stacks of 2 KiB. A row that is closed needs no such
// room there.
static NOINLINE void row_shed_many(theap_t* theap, unsigned bin, size_t count) {
  void* blocks[OPEN_BLOCKS];
  row_drop(theap, bin, count, blocks);
  parcels_send(blocks, count);
}

// The `count` blocks that were put first go to their pages.
static void row_shed(theap_t* theap, unsigned bin, size_t count) {
  void* blocks[ROW_FEW];
  if (count > ROW_FEW) {
    row_shed_many(theap, bin, count);
    return;
  }
  row_drop(theap, bin, count, blocks);
  while (count-- > 0) { block_return_to_page(page_of(blocks[count]), (block_t*)blocks[count]); }
}

// If another thread freed the block too, only its address may be left.
static void large_return(block_t* block) {
  page_t* page = page_of(block);
  if (likely(page != page_none() && page_block_is_valid(page, block))) {
    block_return_to_page(page, block);
  } else {
    message_error(EAGAIN, "double free of %p, a block that is no more", (void*)block);
  }
}

static void row_flush_large(theap_t* theap, size_t count) {
  void* blocks[ROW_LARGE];
  row_drop(theap, BIN_LARGE, count, blocks);
  theap->rows.large_bytes = 0;
  while (count-- > 0) { large_return((block_t*)blocks[count]); }
}

PRIVATE void row_flush_some(theap_t* theap, unsigned bin) {
  const size_t length = row_length(theap, bin);
  if (bin == BIN_LARGE) {
    row_flush_large(theap, length);
  } else {
    row_shed(theap, bin, length);
  }
}

// ---- open and closed ----

// Were many of the blocks that were served since the rows were judged freed by other threads? Of a
// thread that goes on with the blocks of another one they are too, but a few times in succession
// only: then its blocks lie in pages of its own. Where another thread has shared for so long once
// is enough: until it does, each thread would leave behind what it has had in use.
static void rows_note_others(theap_t* theap, size_t served) {
  enum { MANY_SHARE = 32 };
  rows_t* rows = &theap->rows;
  _Atomic(bool)* known = &theap->heap->threads_share;
  const uint32_t before = rows->shared, more = load_relaxed(known) ? SHARED_LONG : 1;
  const bool many = rows->others * MANY_SHARE > served;
  rows->shared = many ? (uint32_t)size_min(before + more, SHARED_LONG) : before / 2;
  if (rows->shared == SHARED_LONG) { store_relaxed(known, true); }
  if (rows->shared == 0 && before != 0) { store_relaxed(known, false); }
}

// The rows are open.
static void rows_follow_others(rows_t* rows) {
  if (rows->shared == SHARED_LONG) { rows->any_bin = 1; }
}

// Without memory they stay closed.
static COLD void rows_open(theap_t* theap) {
  rows_t* rows = &theap->rows;
  if (rows->slots == NULL) { rows->slots = (void**)meta_alloc(slots_bytes()); }
  if (rows->slots == NULL) { return; }
  void** base = rows->slots;
  rations_return(theap);
  for (unsigned bin = 1; bin < BIN_COUNT; bin++) {
    row_move(theap, bin, base, open_first(bin));
    row_set_taken(theap, bin, theap->rations == NULL ? 0 : ROW_STOP);
    base += open_most(bin) + 1;
  }
  rows->growth = 0;
  memset(rows->missed, 0, sizeof(rows->missed));
  rows->open = true;
  rows_follow_others(rows);
  theap->open_serial = theap->serial;
  theap_follow_rows(theap);
}

static COLD void rows_close(theap_t* theap) {
  rations_return(theap);
  for (unsigned bin = 1; bin < BIN_COUNT; bin++) {
    row_flush(theap, bin);
    row_move(theap, bin, row_few(theap, bin), ROW_FEW);
  }
  rows_set_closed(theap);
  theap_follow_rows(theap);
  looks_begin(theap);
}

PRIVATE void rows_flush(theap_t* theap) {
  quarantine_flush(theap);
  rations_return(theap);
  for (unsigned bin = 0; bin < ROW_COUNT; bin++) { row_flush(theap, bin); }
  if (OPEN_ROWS && theap->rows.open) { rows_close(theap); }
}

PRIVATE void rows_shut(theap_t* theap, bool shut) {
  for (unsigned bin = theap->rows.open ? BIN_LARGE : 1; bin < ROW_COUNT; bin++) {
    row_flush(theap, bin);
    theap->row[bin].end = theap->base[bin] + (shut ? 0 : few_most(bin));
  }
}

// Unless the rows are open: so many looks, which together served so many requests.
static void rows_look(rows_t* rows, uint32_t looks, size_t served, bool in_vain) {
  if (rows->open) { return; }
  rows->looks += looks;
  rows->served += served;
  rows->in_vain += in_vain ? looks : 0;
}

PRIVATE void rows_learn(theap_t* theap, const page_t* page, size_t served) {
  enum { FEW_SERVED = 16 };
  const size_t few = size_max(size_min(page->capacity / 4u, FEW_SERVED), 1);
  rows_look(&theap->rows, 1, served, served <= few);
}

// What a page costs that comes and goes is counted as so many looks in vain.
PRIVATE void rows_learn_reused(theap_t* theap) {
  enum { REUSED_LOOKS = 4 };
  rows_look(&theap->rows, REUSED_LOOKS, 0, true);
}

PRIVATE NOINLINE void rows_judge(theap_t* theap) {
  rows_t* rows = &theap->rows;
  rows_note_others(theap, rows->served);
  const bool few = rows->in_vain >= rows->looks / 2 && rows->served / SERVED_LEAST < rows->looks;
  if (rows->rest != 0) {
    rows->rest--;
  } else if ((few || rows->shared == SHARED_LONG) && !theap_fills(theap)) {
    rows_open(theap);
  }
  looks_begin(theap);
}

// So many blocks are going to pages, or came from them. False: more than were served, and the rows
// are closed; for twice as long as the last time.
static bool rows_pay(theap_t* theap, size_t moved) {
  rows_t* rows = &theap->rows;
  rows->moved += moved;
  if (++rows->looks < ROW_LOOKS) { return true; }
  // It is negative while some of the blocks that pages gave wait on a row.
  const intptr_t served = (intptr_t)(taken_from_rows(theap) - rows->taken);
  const bool pays = served >= (intptr_t)rows->moved;
  rows_note_others(theap, rows->moved + (served > 0 ? (size_t)served : 0));
  rows_follow_others(rows);
  looks_begin(theap);
  if (pays) {
    rows->next_rest /= 2;
    return true;
  }
  rows->rest = rows->next_rest;
  rows->next_rest = (uint32_t)size_min(rows->next_rest * 2u + 1, REST_MOST);
  rows_close(theap);
  return false;
}

// What comes from the page counts as taken there. The first of the blocks is taken first.
static size_t row_refill(theap_t* theap, unsigned bin) {
  row_t* row = &theap->row[bin];
  page_t* page = theap->first[bin];
  const size_t most = size_min(open_first(bin) / 2, REFILL_MOST);
  void* blocks[REFILL_MOST] = {NULL};
  size_t count = 0;
  block_t* block = NULL;
  while (count < most && (block = page_pop(page)) != NULL) { blocks[count++] = block; }
  for (size_t i = count; i-- > 0;) { *++row->top = blocks[i]; }
  row_count_apart(theap, bin, 0 - count);
  return count;
}

PRIVATE void* row_serve_open(theap_t* theap, unsigned bin) {
  theap->rows.missed[bin] = true;
  (void)rows_pay(theap, row_refill(theap, bin));
  return row_take(theap, bin);
}

// By so many bytes in all.
static bool rows_may_have_grown(const theap_t* theap, size_t bytes) {
  return bytes <= GROWTH_LEAST || bytes <= theap->slices * SLICE_BYTES / GROWTH_SHARE;
}

// Returns false if no request has found it empty since it was full last, or if it is as long as it
// may be, or all rows together are.
static bool row_grow(theap_t* theap, unsigned bin) {
  const bool missed = theap->rows.missed[bin];
  theap->rows.missed[bin] = false;
  row_t* row = &theap->row[bin];
  const size_t room = (size_t)(row->end - theap->base[bin]);
  const size_t more = size_min(room, open_most(bin) - room);
  const size_t grown = theap->rows.growth + more * bin_bytes(bin);
  if (!missed || more == 0 || !rows_may_have_grown(theap, grown)) { return false; }
  theap->rows.growth = grown;
  row->end += more;
  return true;
}

// The rows are open. False: they were closed.
static NOINLINE bool row_make_room(theap_t* theap, unsigned bin) {
  const size_t half = row_length(theap, bin) / 2;
  if (!rows_pay(theap, half)) { return false; }
  if (!row_grow(theap, bin)) { row_shed(theap, bin, half); }
  return true;
}

// ---- any block ----

// A large block is one that malloc_large can use as it is. A theap that fills what is freed does so
// when the page goes.
FAST bool row_suits(const theap_t* theap, const page_t* page) {
  if (!page_is_single(page)) { return row_suits_few(theap, page); }
  const bool plain = GUARD_PAGES || page->start == page->span_start;
  return theap->heap == load_relaxed(&page->heap) && page->span_arena != NULL && plain &&
         !theap_fills(theap);
}

static bool row_has_room_for_large(const theap_t* theap, const page_t* page) {
  const size_t bytes = theap->rows.large_bytes + page->block_bytes;
  return theap->row[BIN_LARGE].top != theap->row[BIN_LARGE].end && bytes <= LARGE_BYTES &&
         (bytes <= LARGE_BYTES_THREADED || !process_is_threaded());
}

FAST bool row_has_room(theap_t* theap, const page_t* page) {
  if (page_is_single(page)) { return row_has_room_for_large(theap, page); }
  const row_t* row = &theap->row[page->bin];
  return row->top != row->end || (theap->rows.open && row_make_room(theap, page->bin));
}

// The block was freed already. Among large ones it is looked for, which is little beside what one
// costs that comes and goes without the row.
FAST bool row_knows(const row_t* row, const page_t* page, const block_t* block) {
  void** slot = row->top;
  while (page_is_single(page) && *slot != NULL && *slot != block) { slot--; }
  return *slot == block;
}

FAST bool row_push(theap_t* theap, page_t* page, block_t* block) {
  row_t* row = &theap->row[page->bin];
  if (unlikely(row_knows(row, page, block))) {
    report_bad_block(page, block, "free");
    return true;
  }
  if (!row_has_room(theap, page)) { return false; }
  *++row->top = block;
  if (page_is_single(page)) { theap->rows.large_bytes += page->block_bytes; }
  return true;
}

// Secure builds: the block that was put last is not in the row of its class, so that it is not used
// next. It is the only one of row 0, which no class has, until another one is put.
FAST bool row_hold(theap_t* theap, page_t* page, block_t* block) {
  row_t* newest = &theap->row[0];
  block_t* older = (block_t*)*newest->top;
  if (!HOLD_NEWEST) { return row_push(theap, page, block); }
  if (page_is_single(page) && !row_has_room_for_large(theap, page)) { return false; }
  newest->top = theap->base[0] + 1;
  *newest->top = block;
  if (older != NULL && !row_push(theap, page_of(older), older)) {
    block_return_to_page(page_of(older), older);
  }
  return true;
}

PRIVATE bool row_put(page_t* page, block_t* block) {
  theap_t* theap = theap_current();
  return row_suits(theap, page) && (CHECK_FREE || page_block_is_valid(page, block)) &&
         row_hold(theap, page, block);
}

PRIVATE page_t* row_take_large(theap_t* theap, size_t slices, size_t align) {
  row_t* row = &theap->row[BIN_LARGE];
  for (void** slot = row->top; *slot != NULL; slot--) {
    page_t* page = page_of(*slot);
    if (page->span_slices == slices_rounded(slices) && is_aligned(page->span_start, align)) {
      *slot = *row->top--;
      theap->rows.large_bytes -= page->block_bytes;
      return page;
    }
  }
  return NULL;
}

// ---- readings ----

PRIVATE bool row_has(const theap_t* theap, const block_t* block, unsigned bin) {
  const row_view_t row = row_view(theap, bin);
  bool found = false;
  for (uint32_t i = 0; i < row.length; i++) { found = found || row.blocks[i] == block; }
  return found;
}

// Rows that are opened or closed at this moment may seem to be empty.
PRIVATE RACY row_view_t row_view(const theap_t* theap, unsigned bin) {
  void** base = theap->base[bin];
  const size_t length = (size_t)(theap->row[bin].top - base);
  const bool is_open = theap->rows.open && bin < BIN_COUNT;
  const size_t most = is_open ? open_most(bin) : few_most(bin);
  return (row_view_t){base + 1, length <= most ? (uint32_t)length : 0};
}

PRIVATE RACY size_t row_bytes(row_view_t view, unsigned bin) {
  if (bin < BIN_COUNT) { return view.length * bin_bytes(bin); }
  size_t bytes = 0;
  for (uint32_t i = 0; i < view.length; i++) { bytes += page_of(view.blocks[i])->block_bytes; }
  return bytes;
}
