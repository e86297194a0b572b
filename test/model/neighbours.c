/* test: timeout=240 cflags="-fsanitize=thread" */
// The end of a block is looked at by who frees the block behind it, a thread that need not have
// anything to do with the first: C3 in src/page/check.h, as in secure builds.
#define MI_LINKS_APART 1
#define MI_CHECK_FREE  1
#define MI_CHECK_STATE 1
#define MI_CANARY      1
#include "world.h"

enum { FIRST, SECOND };

// Two threads with heaps; the first has two blocks, one behind the other.
static void begin(void) {
  world_begin();
  model_act_as(1), world_enter();
  model_act_as(0), world_enter();
  take(FIRST, BLOCK - PAD_BYTES);
  take(SECOND, BLOCK - PAD_BYTES);
  MODEL_CHECK((uint8_t*)slots[SECOND] == (uint8_t*)slots[FIRST] + BLOCK);
}

static void both(void) {
  begin();
  world_ready();
}

static void give_take_first(void) { give(FIRST), take(FIRST, BLOCK - PAD_BYTES); }
static void give_second(void) { give(SECOND); }

MODEL_MAIN({"first_again", both, {give_take_first, give_second}, world_check, 3, 2, 10000},
           {"both_freed", both, {give_second, give_take_first}, world_check, 3, 2, 10000})
