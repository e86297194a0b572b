// A word for each thread, where the compiler has no thread-local variables that are reached without
// a call of the C library: the slots of port.h, in a table by the threads' ids.
//
//   port_slots (level 0) --full around the thread's place--> level 1, larger --> level 2 --> …
//
// S1 an entry is the thread's whose id it has, or free (0). Who ends frees it.
// S2 a thread's entry is in the window that begins at its place in some level, and in one only:
//    nobody else enters or frees a thread's id. So who does not find itself is not there.
// S3 `value` and `number` are touched by the entry's thread only. Who frees an entry [S1] leaves it
//    to who takes it [S1].
// A level is never taken away. Model: test/model/slots.c.
#ifndef MI_PORT_UNIX_SLOT_H
#define MI_PORT_UNIX_SLOT_H

#include "../base/atomic.h"
#include "../base/attributes.h"

#ifndef SLOT_FIRST_SHIFT  // which the model has smaller
enum { SLOT_FIRST_SHIFT = 8, SLOT_GROWTH_SHIFT = 4, SLOT_LEVELS = 4, SLOT_WINDOW = 8 };
#endif
#define SLOT_COUNT(level) \
  (((size_t)1 << (SLOT_FIRST_SHIFT + (level) * SLOT_GROWTH_SHIFT)) + SLOT_WINDOW)

typedef struct thread_slot {
  _Atomic(uintptr_t) id;
  void* value;
  uint32_t number;
} thread_slot_t;

extern HIDDEN thread_slot_t port_slots[SLOT_COUNT(0)];

FAST size_t slot_place(uintptr_t id, unsigned level) {
  const uint64_t spread = (uint64_t)id * 0x9E3779B97F4A7C15u;  // golden ratio, after D. Knuth
  return (size_t)(spread >> (64 - SLOT_FIRST_SHIFT - level * SLOT_GROWTH_SHIFT));
}

// The calling thread's; NULL: it has none.
HIDDEN thread_slot_t* port_slot_find(uintptr_t id);
PRIVATE bool port_slot_set(void* value);

FAST void* port_slot_get(void) {
  const uintptr_t id = port_thread_id();
  thread_slot_t* slot = &port_slots[slot_place(id, 0)];
  if (unlikely(load_relaxed(&slot->id) != id)) { slot = port_slot_find(id); }
  return slot == NULL ? NULL : slot->value;
}

#endif
