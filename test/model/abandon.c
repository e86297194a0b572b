/* test: timeout=240 cflags="-fsanitize=thread" */
// Pages that lose their owner: full ones, abandoned ones, the last block, reuse of the record. The
// product's own sources.
#include "world.h"

// Thread 0 has a full page of eight blocks in slots 0 to 7, seen as full; threads 1 and 2 have
// heaps.
static void enter_all(void) {
  world_begin();
  for (int i = 2; i >= 0; i--) { model_act_as(i), world_enter(); }
}

static void one_page(void) {
  enter_all();
  for (int i = 0; i < 8; i++) { take(i, BLOCK); }
  MODEL_CHECK(page_of(slots[0]) == page_of(slots[7]) && page_of(slots[0])->reserved == 8);
}

static void keep(int blocks) {
  for (int i = blocks; i < 8; i++) { give(i); }
}

static void full_page(void) {
  one_page();
  take(8, BLOCK);
  give(8);
  world_ready();
}
static void owned_by_0(void) {
  one_page();
  world_ready();
}
static void two_left(void) {
  one_page();
  keep(2);
  world_ready();
}
static void one_left(void) {
  one_page();
  keep(1);
  world_ready();
}
static void abandoned_with_two(void) {
  one_page();
  keep(2);
  thread_leave();
  world_ready();
}
static void abandoned_with_one(void) {
  one_page();
  keep(1);
  thread_leave();
  world_ready();
}
static void large_one(void) {
  enter_all();
  take(0, MEDIUM_MAX + 1);
  world_ready();
}

static void give_0(void) { give(0); }
static void give_1(void) { give(1); }
static void give_2(void) { give(2); }
static void give_0_and_1(void) {
  give(0);
  give(1);
}
static void give_2_and_3(void) {
  give(2);
  give(3);
}
static void take_9(void) { take(9, BLOCK); }
static void take_10(void) { take(10, BLOCK); }
static void take_10_and_back(void) {
  take(10, BLOCK);
  give(10);
}
static void take_11_and_back(void) {
  take(11, BLOCK / 2);
  give(11);
}
static void take_other_class(void) { take(12, BLOCK / 2); }
static void leave(void) { thread_leave(); }
static void take_9_and_leave(void) {
  take(9, BLOCK);
  thread_leave();
}
static void give_0_and_take_other(void) {
  give(0);
  take(13, BLOCK / 2);
}
static void give_1_and_take_other(void) {
  give(1);
  take(14, 2 * BLOCK);
}
static void collect(void) { thread_collect(thread_self_or_null(), COLLECT_HOLES); }

// Thread 0 has no heap any more in the abandoned ones: it enters again.
MODEL_MAIN(
    {"full_two_freers", full_page, {leave, give_0, give_1}, world_check, 2, 1, 5000},
    {"full_until_some_are_free",
     full_page,
     {take_10, give_0_and_1, give_2_and_3},
     world_check,
     2,
     0,
     5000},
    {"full_or_not", owned_by_0, {take_9, give_0, give_1}, world_check, 2, 1, 5000},
    {"full_and_collecting", owned_by_0, {collect, give_0_and_1, give_2}, world_check, 2, 0, 5000},
    {"leaving_and_freeing", two_left, {leave, give_0, give_1}, world_check, 3, 0, 5000},
    {"leaving_last_block", one_left, {leave, give_0}, world_check, 3, 1, 5000},
    {"leaving_and_taking", two_left, {leave, give_0_and_1, take_10}, world_check, 2, 0, 5000},
    {"abandoned_two_freers",
     abandoned_with_two,
     {give_0, give_1, take_10},
     world_check,
     2,
     0,
     5000},
    {"abandoned_last_block",
     abandoned_with_one,
     {take_10_and_back, give_0, take_other_class},
     world_check,
     2,
     0,
     5000},
    {"abandoned_two_takers",
     abandoned_with_two,
     {take_9_and_leave, take_10, give_0_and_1},
     world_check,
     2,
     0,
     5000},
    {"record_reused",
     one_left,
     {give_0_and_take_other, take_11_and_back, give_1},
     world_check,
     2,
     1,
     5000},
    {"record_reused_remotely",
     abandoned_with_two,
     {give_0_and_take_other, give_1_and_take_other, take_10},
     world_check,
     2,
     0,
     5000},
    {"large_block",
     large_one,
     {take_other_class, give_0, take_10_and_back},
     world_check,
     2,
     0,
     5000})
