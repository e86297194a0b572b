/* test: timeout=240 cflags="-fsanitize=thread" */
// Rations (src/heap/ration.h): a thread takes blocks that were cut from the list of its page, gives
// them back, leaves, or another page becomes its first one, while others free blocks of that page.
#include "world.h"

enum { FULL = SLICE_BYTES / BLOCK };

// Thread 1 has a page, with slots 0 to 3; one more request, for slot 4, has made the three blocks
// that are left a ration.
static void own_page(void) {
  world_begin();
  for (int i = 2; i >= 0; i--) { model_act_as(i), world_enter(); }
  model_act_as(1);
  theap_t* theap = theap_current();
  for (int i = 0; i < FULL; i++) { take(i, BLOCK); }
  for (int i = FULL - 1; i >= 4; i--) { give(i); }
  theap->thread->has_heartbeat = true;
  theap_set_special(theap, SPECIAL_HEARTBEAT, true);
  model_state(theap->rations, sizeof(*theap->rations));
  take(4, BLOCK);
  MODEL_CHECK(theap->rations->list[bin_of(BLOCK)].free != NULL);
  world_ready();
}

static void take_and_give(void) {
  take(5, BLOCK), take(6, BLOCK);
  give(0);
}
static void take_all(void) {
  for (int i = 5; i <= FULL + 1; i++) { take(i, BLOCK); }
}
static void take_and_return(void) {
  take(5, BLOCK);
  rations_return(theap_current());
  give(5);
}
static void take_and_leave(void) {
  take(5, BLOCK);
  thread_leave();
}
// What the heartbeat calls uses the page that the request has found used up, and leaves a ration.
static bool was_called;
static void heartbeat_takes(bool force, unsigned long long heartbeat, void* arg) {
  (void)force, (void)heartbeat, (void)arg;
  if (was_called) { return; }
  was_called = true;
  for (int i = 0; i < FULL; i++) { take(2 * FULL + i, BLOCK); }
  for (int i = 1; i <= 3; i++) { give(3 * FULL - i); }
  take(3 * FULL, BLOCK);
}

static void own_page_and_heartbeat(void) {
  own_page();
  was_called = false;
  STATE(was_called);
  mi_register_deferred_free(heartbeat_takes, NULL);
}

static void give_1(void) { give(1); }
static void give_2_and_3(void) { give(2), give(3); }

MODEL_MAIN(
    {"take_and_give", own_page, {give_1, take_and_give, give_2_and_3}, world_check, 2, 0, 1000},
    {"take_all", own_page, {give_1, take_all, give_2_and_3}, world_check, 2, 0, 1000},
    {"return", own_page, {give_1, take_and_return, give_2_and_3}, world_check, 2, 0, 1000},
    {"heartbeat",
     own_page_and_heartbeat,
     {give_1, take_all, give_2_and_3},
     world_check,
     1,
     0,
     1000},
    {"leave", own_page, {give_1, take_and_leave, give_2_and_3}, world_check, 2, 0, 1000})
