/* test: timeout=240 cflags="-fsanitize=thread" */
// The lock (src/port/lock.h) on a port whose waiting is the scheduler's: mutual exclusion, no lost
// wake-up, no deadlock.
#undef MI_PORT_STRICT
#define MI_MODEL_ATOMICS        "../../test/model/atomics.h"
#define port_is_single_threaded port_is_single_threaded_as_the_machine
#include "../../src/port/port.h"
#undef port_is_single_threaded
static bool port_is_single_threaded(void) { return false; }
#include "../../src/port/lock.h"

static void port_wait(_Atomic(uint32_t)* word, uint32_t value) {
  model_wait(word, value, sizeof(value));
}
static void port_wake_one(_Atomic(uint32_t)* word) { model_wake_one(word, sizeof(uint32_t)); }

static lock_t lock, inner;
static int inside, entries, inner_entries;

static void setup(void) {
  memset(&lock, 0, sizeof(lock));
  memset(&inner, 0, sizeof(inner));
  inside = entries = inner_entries = 0;
  model_state(&lock, sizeof(lock));
  model_state(&inner, sizeof(inner));
  model_state(&inside, sizeof(inside));
  model_state(&entries, sizeof(entries));
  model_state(&inner_entries, sizeof(inner_entries));
}

static void enter(void) {
  lock_acquire(&lock);
  MODEL_CHECK(inside++ == 0);  // a race, too, if the lock lets two in or carries nothing
  entries++;
  MODEL_CHECK(--inside == 0);
  lock_release(&lock);
}

static void enter_twice(void) {
  enter();
  enter();
}

static void enter_both(void) {
  lock_acquire(&lock);
  lock_acquire(&inner);
  inner_entries++;
  lock_release(&inner);
  entries++;
  lock_release(&lock);
}

static void enter_inner(void) {
  lock_acquire(&inner);
  inner_entries++;
  lock_release(&inner);
}

static void entered(int wanted) {
  MODEL_CHECK(entries + inner_entries == wanted && inside == 0);
  MODEL_CHECK(load_relaxed(&lock.state) == LOCK_FREE && load_relaxed(&inner.state) == LOCK_FREE);
}

static void two(void) { entered(2); }
static void three(void) { entered(3); }
static void four(void) { entered(4); }

MODEL_MAIN({"two_threads", setup, {enter, enter}, two, -1, 2, 0},
           {"two_threads_twice", setup, {enter_twice, enter_twice}, four, 4, 1, 0},
           {"three_threads", setup, {enter, enter, enter}, three, 3, 1, 20000},
           {"four_threads", setup, {enter, enter, enter, enter}, four, 2, 0, 20000},
           {"two_locks", setup, {enter_both, enter, enter_inner}, four, 3, 0, 20000})
