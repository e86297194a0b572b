/* test: timeout=240 cflags="-fsanitize=thread" */
// Open rows (W1 to W3 in src/heap/row.h): blocks that a thread gives back together, of a page that
// is nobody's or another thread's, while others free in it, allocate or leave; and pages whose
// owner has them on its row while another thread frees in them.
#include "world.h"

enum { FULL = SLICE_BYTES / BLOCK, BIN_SLOTS = 64 };
static void* row_slots[1 << 14];

static void open_rows(void) {
  theap_t* theap = theap_current();
  const unsigned bin = bin_of(BLOCK);
  theap->rows.slots = row_slots;
  rows_open(theap);
  theap->row[bin].end = theap->base[bin] + FULL;  // as if it had grown
  model_state(theap->base[bin], BIN_SLOTS * sizeof(void*));
}

// Thread 0 has filled one page, with slots 0 to 7, and has a block of another in slot 8. The rows
// of thread 1 are open.
static void full_page(void) {
  memset(row_slots, 0, sizeof(row_slots));
  world_begin();
  for (int i = 2; i >= 0; i--) { model_act_as(i), world_enter(); }
  for (int i = 0; i <= FULL; i++) { take(i, BLOCK); }
  model_act_as(1), open_rows();
  world_keeps_rows = true;
  world_ready();
}

// … and that page is thread 1's own.
static void own_page(void) {
  memset(row_slots, 0, sizeof(row_slots));
  world_begin();
  for (int i = 2; i >= 0; i--) { model_act_as(i), world_enter(); }
  model_act_as(1);
  for (int i = 0; i < FULL; i++) { take(i, BLOCK); }
  open_rows();
  world_keeps_rows = true;
  world_ready();
}

static void flush(void) { row_flush(theap_current(), bin_of(BLOCK)); }

// More than are returned one by one.
static void give_5_together(void) {
  for (int i = 0; i < 5; i++) { give(i); }
  flush();
}

static void give_5_and_close(void) {
  for (int i = 0; i < 5; i++) { give(i); }
  rows_flush(theap_current());
}

static void give_and_take(void) {
  give(0), give(1);
  take(9, BLOCK), take(10, BLOCK), take(11, BLOCK);
}

static void give_5(void) { give(5); }
static void give_6(void) { give(6); }
static void give_6_and_7(void) { give(6), give(7); }
static void give_5_and_take(void) {
  give(5);
  take(12, BLOCK);
}
static void give_5_and_leave(void) {
  give(5);
  thread_leave();
}
static void leave(void) { thread_leave(); }

static void counted(void) { world_check(); }

MODEL_MAIN(
    {"together_and_one", full_page, {give_6, give_5_together, give_5}, counted, 2, 0, 1000},
    {"together_and_take",
     full_page,
     {give_5_and_take, give_5_together, give_6},
     counted,
     2,
     0,
     1000},
    {"together_and_leave",
     full_page,
     {give_5_and_leave, give_5_together, give_6_and_7},
     counted,
     2,
     0,
     1000},
    {"close_and_free", full_page, {give_6_and_7, give_5_and_close, give_5}, counted, 2, 0, 1000},
    {"own_and_others", own_page, {give_5, give_and_take, give_6_and_7}, counted, 2, 0, 1000},
    {"own_and_leave", own_page, {give_5_and_leave, give_5_together, give_6}, counted, 2, 0, 1000},
    {"own_leaves", own_page, {give_5, leave, give_6_and_7}, counted, 2, 0, 1000})
