/* test: timeout=240 cflags="-fsanitize=thread" */
// Rations (src/heap/ration.h): a thread takes blocks that were cut from the list of its page, gives
// them back, leaves, or another page becomes its first one, while others free blocks of that page.
#include "world.h"

enum { FULL = SLICE_BYTES / BLOCK };

// Thread 1 has rations, and a page of which it uses four blocks, slots 0 to 3; the last request got
// the class a ration.
static void own_page(void) {
  world_begin();
  for (int i = 2; i >= 0; i--) { model_act_as(i), world_enter(); }
  model_act_as(1);
  theap_t* theap = theap_current();
  theap->thread->has_heartbeat = true;
  theap_set_special(theap, SPECIAL_HEARTBEAT, true);
  model_state(theap->rations, sizeof(*theap->rations));
  for (int i = 0; i < 4; i++) { take(i, BLOCK); }
  world_ready();
}

static void take_and_give(void) {
  take(4, BLOCK), take(5, BLOCK);
  give(0);
}
static void take_all(void) {
  for (int i = 4; i <= FULL; i++) { take(i, BLOCK); }
}
static void take_and_return(void) {
  take(4, BLOCK);
  rations_return(theap_current());
  give(4);
}
static void take_and_leave(void) {
  take(4, BLOCK);
  thread_leave();
}
static void give_1(void) { give(1); }
static void give_2_and_3(void) { give(2), give(3); }

MODEL_MAIN(
    {"take_and_give", own_page, {give_1, take_and_give, give_2_and_3}, world_check, 2, 0, 1000},
    {"take_all", own_page, {give_1, take_all, give_2_and_3}, world_check, 2, 0, 1000},
    {"return", own_page, {give_1, take_and_return, give_2_and_3}, world_check, 2, 0, 1000},
    {"leave", own_page, {give_1, take_and_leave, give_2_and_3}, world_check, 2, 0, 1000})
