/* test: timeout=240 cflags="-fsanitize=thread" */
// Records that threads leave with their pages: another thread takes one over, or its pages go to
// the pool, while blocks are freed in them. The product's own sources.
#include "world.h"

static void begin(void) {
  world_begin();
  world_recycled_most = 2;
}

// Thread 0 has four blocks of one page in slots 0 to 3; thread 2 has a heap, thread 1 none.
static void begin_one(void) {
  begin();
  model_act_as(2), world_enter();
  model_act_as(0), world_enter();
  for (int i = 0; i < 4; i++) { take(i, BLOCK); }
}

static void one_owner(void) {
  begin_one();
  world_ready();
}

// Thread 0 has ended.
static void one_recycled(void) {
  begin_one();
  thread_leave();
  world_ready();
}

// Threads 0 and 1 have two blocks each.
static void two_owners(void) {
  begin();
  model_act_as(2), world_enter();
  for (int i = 0; i < 2; i++) {
    model_act_as(i), world_enter();
    take(2 * i, BLOCK), take(2 * i + 1, BLOCK);
  }
  world_ready();
}

static void leave(void) { thread_leave(); }
static void leave_and_give_0(void) {
  thread_leave();
  give(0);
}
static void leave_and_return(void) {
  thread_leave();
  take(8, BLOCK);
}
static void give_1(void) { give(1); }
static void give_2_and_3(void) {
  give(2);
  give(3);
}
static void give_all(void) {
  for (int i = 0; i < 4; i++) { give(i); }
}
static void take_9(void) { take(9, BLOCK); }
static void take_9_and_leave(void) {
  take(9, BLOCK);
  thread_leave();
}
static void take_10_and_back(void) {
  take(10, BLOCK);
  give(10);
}
static void disband(void) { recycled_disband(); }
static void give_1_and_disband(void) {
  give(1);
  recycled_disband();
}

// Nothing is left once all have gone.
static void ended(void) {
  MODEL_CHECK(registry.recycled_count <= world_recycled_most);
  world_end(2);
  MODEL_CHECK(registry.recycled == NULL && registry.recycled_count == 0 &&
              registry.recycled_slices == 0);
  MODEL_CHECK(heap_main_static.theaps == NULL && load_relaxed(&thread_count) == 0);
}

MODEL_MAIN(
    {"leave_and_begin", one_owner, {leave, take_9, give_1}, ended, 2, 1, 5000},
    {"leave_and_free", one_owner, {leave_and_give_0, take_9, give_2_and_3}, ended, 2, 0, 5000},
    {"leave_and_return", one_owner, {leave_and_return, take_9, give_1}, ended, 2, 0, 5000},
    {"leave_and_disband", one_owner, {leave, take_9, give_1_and_disband}, ended, 2, 0, 5000},
    {"begin_twice", one_recycled, {take_9, take_10_and_back, give_all}, ended, 2, 0, 5000},
    {"begin_and_disband", one_recycled, {take_9_and_leave, give_1, disband}, ended, 2, 0, 5000},
    {"two_leave", two_owners, {leave, leave_and_return, give_all}, ended, 2, 0, 5000})
