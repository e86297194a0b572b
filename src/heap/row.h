// Rows: blocks that a thread has freed, and that its next requests get without a word to their
// page.
//
// A class has a row, an array of pointers; the block that was put last is taken first. For its page
// a block on a row stays in use.
//
//   base: NULL | block | block | top: block | … end
//
// CLOSED, as the rows of a theap begin, they take a few blocks of pages that are not the thread's
// own, which are most often full and nobody's: to give such a page one block back costs an atomic
// operation, and the page a way through the queues. A request takes from the row when its page has
// no block.
//
// OPEN, they take all blocks that the thread frees, and malloc takes from them first. That is for
// a program that replaces blocks at random: its pages are full or have a few free blocks, so that
// each serves a few requests only, on its way through the queue. Then the rows are opened
// (rows_judge). A row that is full grows, within what all may, or gives the older half back to the
// pages (row_make_room); one that is empty gets some from the first page (row_serve_open). The rows
// are closed when more blocks go these ways than are served (rows_pay): the program allocates or
// frees many in succession, which pages do better.
//
// In neither state do the fast paths ask for the state. To malloc an open row is a page with an
// empty list, and the pages of a theap with open rows do not name their owner as free expects it
// (page_is_mine).
//
// W1 a block is on one row, once, and on no list.
// W2 only the theap's thread changes a row. Others may read it: slots stay readable.
// W3 a block shorter than a few cache lines is of a page that the theap owned last: a line that two
//    threads share is not our doing. Where they have shared pages for long the blocks of all lie
//    between each other anyway; then rows take any block (rows_note_others, decision 035).
//
// All goes back when the theap is collected, abandoned, or becomes special; a row, when a page of
// its class has fallen empty; large blocks also when memory is wanted from the arenas. While memory
// on huge pages shrinks rows that are closed, and that of large blocks, take none (rows_shut).
#ifndef MI_HEAP_ROW_H
#define MI_HEAP_ROW_H

#include "heap.h"

#define ROWS_CLOSED UINT32_MAX  // no theap has this serial

enum {
  ROW_LOOKS = 256,    // at pages while the rows are closed, or at rows, until they are judged
  ROW_LEAST_BIN = 8,  // of 128 bytes: shorter blocks are not put on a row that is closed
  ROW_ANY_BIN = 24    // of 512 bytes: from here on blocks share no cache line
};
_Static_assert((9 + (ROW_ANY_BIN - 17) % 8) << ((ROW_ANY_BIN - 17) / 8 + 5) == 512,
               "the class of 512");

// Blocks of the class were taken from rows, which `taken` of the row does not have.
FAST void row_count_apart(theap_t* theap, unsigned bin, size_t count) {
  theap->taken[bin] += count;
  theap->rows.taken -= count;
}

FAST void row_set_taken(theap_t* theap, unsigned bin, size_t taken) {
  row_t* row = &theap->row[bin];
  row_count_apart(theap, bin, row->taken - taken);
  row->taken = taken;
}

// For the slow path.
FAST void* row_take(theap_t* theap, unsigned bin) {
  row_t* row = &theap->row[bin];
  void* block = *row->top;
  if (likely(block != NULL)) {
    row->top--;
    row_count_apart(theap, bin, 1);
  }
  return block;
}

// The list of what malloc takes for a page is empty: the block of an open row that was put last, or
// NULL.
FAST void* row_take_in_front(theap_t* theap, page_t* page) {
  row_t* row = (row_t*)(void*)page;
  if ((uintptr_t)row - (uintptr_t)theap >= sizeof(theap_t)) { return NULL; }
  void* block = *row->top;
  if (unlikely(block == NULL)) { return NULL; }
  if (unlikely(++row->taken == 0)) {
    row->taken = ROW_STOP;
    return NULL;
  }
  row->top--;
  return block;
}

// Returns true if the rows are open, and the block, of a page that the theap owned last, is on one.
FAST bool row_put_in_front(theap_t* theap, const page_t* page, void* block) {
  if (load_relaxed(&page->last_owner) != theap->open_serial) { return false; }
  row_t* row = &theap->row[page->bin];
  void** top = row->top;
  if (unlikely(has_any_bit(&page->mask, (uintptr_t)block)) || unlikely(*top == block) ||
      unlikely(top == row->end)) {
    return false;
  }
  top[1] = block;
  row->top = top + 1;
  return true;
}

// The page has several blocks.
FAST bool row_suits_few(const theap_t* theap, const page_t* page) {
  return page->bin >= theap->rows.any_bin
             ? theap->heap == load_relaxed(&page->heap)
             : page->bin >= ROW_LEAST_BIN && load_relaxed(&page->last_owner) == theap->serial;
}

typedef enum { ROW_DONE, ROW_FULL, ROW_ODD } row_answer_t;

// The most of row_put, without a call. ROW_FULL: the block must go to its page, or is none.
// ROW_ODD: row_put has the answer.
FAST row_answer_t row_put_few(theap_t* theap, const page_t* page, void* block) {
  row_t* row = &theap->row[page->bin];
  void** top = row->top;
  if (page_is_single(page)) { return ROW_ODD; }
  if (!row_suits_few(theap, page)) { return ROW_FULL; }
  if (*top == block) { return ROW_ODD; }
  if (top == row->end) { return theap->rows.open ? ROW_ODD : ROW_FULL; }
  if (!page_block_is_valid(page, block)) { return ROW_FULL; }
  top[1] = block;
  row->top = top + 1;
  return ROW_DONE;
}

// So many blocks of a page that serves requests now are there because other threads freed them.
FAST void rows_learn_others(theap_t* theap, size_t count) { theap->rows.others += count; }

// ---- row.c ----
PRIVATE void rows_forget(theap_t* theap);  // without touching the blocks
PRIVATE void rows_free_slots(theap_t* theap);
// A page served so many requests while it was the first one of its queue.
PRIVATE void rows_learn(theap_t* theap, const page_t* page, size_t served);
// A page that all blocks had come back to is used again.
PRIVATE void rows_learn_reused(theap_t* theap);
// The rows are closed: are they to be opened?
PRIVATE void rows_judge(theap_t* theap);
// The rows are open, that of the class is empty: a block that comes from its first page, or NULL.
PRIVATE void* row_serve_open(theap_t* theap, unsigned bin);
// A free by the calling thread in a page that does not name it as its owner. False: the block must
// go to its page.
PRIVATE bool row_put(page_t* page, block_t* block);
PRIVATE bool row_has(const theap_t* theap, const block_t* block, unsigned bin);
// The page of a large block that is on the row, has so many slices, and is aligned so, or NULL. The
// block is the caller's.
PRIVATE page_t* row_take_large(theap_t* theap, size_t slices, size_t align);
// All blocks of the row, or of all rows, go to their pages. Then the rows are closed.
PRIVATE void row_flush_some(theap_t* theap, unsigned bin);
FAST void row_flush(theap_t* theap, unsigned bin) {
  if (KEEP_ROWS && theap->row[bin].top != theap->base[bin]) { row_flush_some(theap, bin); }
}
PRIVATE void rows_flush(theap_t* theap);
// Rows that are closed, and that of large blocks, give up their blocks and take no more; or they
// take some again.
PRIVATE void rows_shut(theap_t* theap, bool shut);

// The first page of the class has no block: one of the row, or NULL.
FAST void* row_serve(theap_t* theap, unsigned bin) {
  void* block = row_take(theap, bin);
  if (!OPEN_ROWS) { return block; }
  rows_t* rows = &theap->rows;
  if (rows->open) { return block != NULL ? block : row_serve_open(theap, bin); }
  rows->in_vain += block != NULL;
  rows->served += block != NULL;
  if (unlikely(++rows->looks >= ROW_LOOKS)) { rows_judge(theap); }
  return block;
}

// ---- readings by any thread, while the theap lives: about, unless its thread rests ----

typedef struct row_view {
  void** blocks;
  uint32_t length;
} row_view_t;
PRIVATE row_view_t row_view(const theap_t* theap, unsigned bin);
PRIVATE size_t row_bytes(row_view_t view, unsigned bin);

#endif
