// A lock for slow paths: one word, legal from zeroed memory, no library call unless contended, and
// no atomic operation while there is one thread.
//
// 0 free --lock_acquire--> 1 held --lock_wait--> 2 held, someone may sleep --lock_release--> 0
//
// After U. Drepper, "Futexes Are Tricky" (2011), section 5, mutex2. Acquire [L1] pairs with release
// [L2]. Order of locks, outermost first: those of the C library, process, orphan, registry,
// sub-process, retired heaps, heap walk, heap, pools, guards, waiting blocks, spare pages, memory,
// page records, meta, stacks. Model: test/model/lock.c.
#ifndef MI_PORT_LOCK_H
#define MI_PORT_LOCK_H

#include "port.h"

typedef struct lock {
  _Atomic(uint32_t) state;
} lock_t;

enum { LOCK_FREE = 0, LOCK_HELD = 1, LOCK_CONTENDED = 2, LOCK_SPINS = 64 };

#ifdef PORT_OWN_LOCK  // the system has such locks, see the port's header

FAST void lock_acquire(lock_t* lock) { port_lock(&lock->state); }
FAST void lock_release(lock_t* lock) { port_unlock(&lock->state); }

#else

COLD UNUSED static void lock_wait(lock_t* lock) {
  for (int i = 0; i < LOCK_SPINS; i++) {
    uint32_t expected = LOCK_FREE;
    const bool is_free = load_relaxed(&lock->state) == LOCK_FREE;
    if (is_free && cas_acquire(&lock->state, &expected, LOCK_HELD)) { return; }  // [L1]
    port_relax();
  }
  while (exchange_acquire(&lock->state, LOCK_CONTENDED) != LOCK_FREE) {  // [L1]
    port_wait(&lock->state, LOCK_CONTENDED);
  }
}

// At the end of a process what nobody will release is found first.
// [L1] in: all that the last holder wrote.
FAST void lock_acquire(lock_t* lock) {
  uint32_t expected = LOCK_FREE;
  if (port_is_ending()) { port_see_end(); }
  if (port_is_single_threaded()) {
    store_relaxed(&lock->state, LOCK_HELD);
  } else if (unlikely(!cas_acquire(&lock->state, &expected, LOCK_HELD))) {  // [L1]
    lock_wait(lock);
  }
}

FAST void lock_release(lock_t* lock) {
  if (port_is_single_threaded()) {
    store_relaxed(&lock->state, LOCK_FREE);
    return;
  }
  // [L2] out: all that we wrote.
  if (unlikely(exchange_release(&lock->state, LOCK_FREE) == LOCK_CONTENDED)) {
    port_wake_one(&lock->state);
  }
}

#endif

// In the child of a fork: the holder was this thread, and no other exists.
FAST void lock_reset(lock_t* lock) { store_relaxed(&lock->state, LOCK_FREE); }

// The holder, if there was one, is no more: what the lock protects may be half written.
FAST bool lock_is_left(lock_t* lock) {
  return exchange_acquire(&lock->state, LOCK_FREE) != LOCK_FREE;  // [L1]
}

// The lock was taken before a fork.
FAST void lock_after_fork(lock_t* lock, bool child) {
  if (child) {
    lock_reset(lock);
  } else {
    lock_release(lock);
  }
}

#endif
