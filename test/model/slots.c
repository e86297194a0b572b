/* test: timeout=240 cflags="-fsanitize=thread" */
// The slots of threads where there are no thread-local variables (src/port/unix_slots.h), in a
// table so small that threads are in each other's way: each finds its own, and what one leaves is
// another's to take.
#define MI_MODEL_ATOMICS "../../test/model/atomics.h"
#include "../../src/base/atomic.h"
#include "../../src/base/bits.h"

enum { ENOUGH_BYTES = 256 };

// By their places: 1 and 3 meet in the first level; 3, 8 and 11 do in the second one, too.
static uintptr_t ids[THREADS_MOST];
static uintptr_t port_thread_id(void) { return ids[m.self]; }

#define SLOT_FIRST_SHIFT  1
#define SLOT_GROWTH_SHIFT 1
#define SLOT_LEVELS       2
#define SLOT_WINDOW       1
#include "../../src/port/unix_slot.h"

static thread_slot_t fresh[THREADS_MOST][SLOT_COUNT(1)];

static size_t port_page_bytes(void) { return ENOUGH_BYTES; }
static int port_release(void* start, size_t bytes) { return start == NULL || bytes == 0; }

static int port_map(size_t bytes, size_t align, void** out) {
  thread_slot_t* slots = fresh[m.self];
  MODEL_CHECK(sizeof(fresh[0]) <= bytes && bytes == align);
  for (size_t i = 0; i < SLOT_COUNT(1); i++) {
    store_relaxed(&slots[i].id, 0);
    slots[i].value = NULL;
    slots[i].number = 0;
  }
  *out = slots;
  return 0;
}

#include "../../src/port/unix_slots.h"

static char words[THREADS_MOST];
static uint32_t numbers[THREADS_MOST][2], lives[THREADS_MOST];

static void begin(void) {
  memset((void*)port_slots, 0, sizeof(port_slots));
  memset((void*)slot_levels, 0, sizeof(slot_levels));
  memset((void*)fresh, 0xA5, sizeof(fresh));
  memset((void*)&slots_numbered, 0, sizeof(slots_numbered));
  memset(lives, 0, sizeof(lives));
  model_state((void*)port_slots, sizeof(port_slots));
  model_state((void*)slot_levels, sizeof(slot_levels));
  model_state((void*)fresh, sizeof(fresh));
  model_state((void*)&slots_numbered, sizeof(slots_numbered));
  model_state(numbers, sizeof(numbers));
  model_state(lives, sizeof(lives));
}

static void some_meet(void) {
  begin();
  ids[0] = 1, ids[1] = 3, ids[2] = 2;
}

static void all_meet(void) {
  begin();
  ids[0] = 3, ids[1] = 8, ids[2] = 11;
}

static bool live(void) {
  MODEL_CHECK(port_slot_get() == NULL);
  if (!port_slot_set(&words[m.self])) {
    MODEL_CHECK(port_slot_get() == NULL);
    return false;
  }
  MODEL_CHECK(port_slot_get() == &words[m.self]);
  const uint32_t number = port_thread_number();
  numbers[m.self][lives[m.self]++] = number;
  MODEL_CHECK(port_slot_set(words) && port_slot_get() == words && number == port_thread_number());
  MODEL_CHECK(port_slot_set(NULL));
  MODEL_CHECK(port_slot_get() == NULL);
  return true;
}

static void live_once(void) { MODEL_CHECK(live()); }
static void live_twice(void) {
  MODEL_CHECK(live());
  MODEL_CHECK(live());
}
static void try_to_live(void) { (void)live(); }

static bool is_another(uint32_t number, int thread, uint32_t life) {
  for (int i = 0; i < THREADS_MOST; i++) {
    for (uint32_t k = 0; k < lives[i]; k++) {
      if (numbers[i][k] == number && (i != thread || k != life)) { return true; }
    }
  }
  return false;
}

static void all_left(void) {
  for (int i = 0; i < THREADS_MOST; i++) {
    for (uint32_t k = 0; k < lives[i]; k++) { MODEL_CHECK(!is_another(numbers[i][k], i, k)); }
  }
  for (unsigned level = 0; level < SLOT_LEVELS; level++) {
    const thread_slot_t* slots = slot_level(level);
    for (size_t i = 0; slots != NULL && i < SLOT_COUNT(level); i++) {
      MODEL_CHECK(load_relaxed(&slots[i].id) == 0);
    }
  }
}

MODEL_MAIN({"two", some_meet, {live_once, live_once}, all_left, 3, 1, 0},
           {"two_twice", some_meet, {live_twice, live_twice}, all_left, 2, 1, 20000},
           {"three", some_meet, {live_once, live_once, live_once}, all_left, 2, 1, 20000},
           {"no_room", all_meet, {try_to_live, try_to_live, try_to_live}, all_left, 2, 1, 20000})
