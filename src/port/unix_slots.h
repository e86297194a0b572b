// The slots of unix_slot.h, for the port that includes this: how threads come by theirs.
#ifndef MI_PORT_UNIX_SLOTS_H
#define MI_PORT_UNIX_SLOTS_H

#include "unix_slot.h"

HIDDEN thread_slot_t port_slots[SLOT_COUNT(0)];
static _Atomic(thread_slot_t*) slot_levels[SLOT_LEVELS];  // but for the first
static _Atomic(uint32_t) slots_numbered;

// NULL: it is not there yet.
static thread_slot_t* slot_level(unsigned level) {
  return level == 0 ? port_slots : load_acquire(&slot_levels[level]);  // [S2] in: zeros
}

static thread_slot_t* slot_find_in(thread_slot_t* slots, unsigned level, uintptr_t id) {
  thread_slot_t* slot = &slots[slot_place(id, level)];
  for (int i = 0; i < SLOT_WINDOW; i++) {
    if (load_relaxed(&slot[i].id) == id) { return &slot[i]; }
  }
  return NULL;
}

HIDDEN NOINLINE thread_slot_t* port_slot_find(uintptr_t id) {
  thread_slot_t *slots = NULL, *found = NULL;
  for (unsigned level = 0; found == NULL && level < SLOT_LEVELS; level++) {
    slots = slot_level(level);
    if (slots == NULL) { return NULL; }
    found = slot_find_in(slots, level, id);
  }
  return found;
}

static thread_slot_t* slot_take_in(thread_slot_t* slots, unsigned level, uintptr_t id) {
  thread_slot_t* slot = &slots[slot_place(id, level)];
  for (int i = 0; i < SLOT_WINDOW; i++) {
    uintptr_t id_there = load_relaxed(&slot[i].id);
    while (id_there == 0) {
      if (cas_acquire(&slot[i].id, &id_there, id)) { return &slot[i]; }  // [S1] in
    }
  }
  return NULL;
}

// The level, which another thread may have added; NULL: out of memory.
static thread_slot_t* slot_add_level(unsigned level) {
  const size_t bytes = align_up(SLOT_COUNT(level) * sizeof(thread_slot_t), port_page_bytes());
  void* fresh = NULL;
  if (port_map(bytes, port_page_bytes(), &fresh) != 0) { return slot_level(level); }
  thread_slot_t* before = NULL;
  while (before == NULL) {
    if (cas_release(&slot_levels[level], &before, (thread_slot_t*)fresh)) {  // [S2] out: zeros
      return (thread_slot_t*)fresh;
    }
  }
  (void)port_release(fresh, bytes);
  return slot_level(level);
}

static thread_slot_t* slot_take(uintptr_t id) {
  thread_slot_t* slot = NULL;
  for (unsigned level = 0; slot == NULL && level < SLOT_LEVELS; level++) {
    thread_slot_t* slots = slot_level(level);
    if (slots == NULL) { slots = slot_add_level(level); }
    if (slots == NULL) { return NULL; }
    slot = slot_take_in(slots, level, id);
  }
  return slot;
}

PRIVATE bool port_slot_set(void* value) {
  const uintptr_t id = port_thread_id();
  thread_slot_t* slot = port_slot_find(id);
  if (slot == NULL && value != NULL) {
    slot = slot_take(id);
    if (slot == NULL) { return false; }
    slot->number = 0;
  }
  if (slot == NULL) { return true; }
  slot->value = value;
  if (value == NULL) { store_release(&slot->id, 0); }  // [S1] out: we are done with it
  return true;
}

// A thread that has not asked for memory has no slot, but its id.
PRIVATE uint32_t port_thread_number(void) {
  const uintptr_t id = port_thread_id();
  thread_slot_t* slot = port_slot_find(id);
  if (slot == NULL) { return (uint32_t)(id >> 4) | 1; }
  if (slot->number == 0) { slot->number = add_relaxed(&slots_numbered, 1) + 1; }
  return slot->number;
}

// Other threads are not in the child of a fork, and later ones may get their ids.
PRIVATE void port_forget_threads(void) {
  const thread_slot_t* self = port_slot_find(port_thread_id());
  for (unsigned level = 0; level < SLOT_LEVELS; level++) {
    thread_slot_t* slots = slot_level(level);
    for (size_t i = 0; slots != NULL && i < SLOT_COUNT(level); i++) {
      if (&slots[i] != self) { store_relaxed(&slots[i].id, 0); }
    }
  }
}

#endif
