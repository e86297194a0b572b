// A full page and FREERS threads that free one block each at once: exactly one becomes its owner,
// sees what the last owner wrote, and, as nobody gives the page up here, finds the other blocks.
#include <assert.h>
#include <pthread.h>

#include "src/page/remote.h"

#ifndef FREERS
#define FREERS 2
#endif

static _Alignas(16) struct {
  block_t block;
  uint64_t data;
} cells[FREERS + 1];
static remote_t remote;
static int field;  // of the page: the owner's
static _Atomic(int) owners;
static block_t* home;  // the owner's list

static uint8_t* start(void) { return (uint8_t*)cells; }

static void* first_owner(void* arg) {
  (void)arg;
  field = 1;
  const bool left = remote_leave(&remote, REMOTE_FULL, 1);
  if (!left) {
    assert(atomic_fetch_add_explicit(&owners, 1, memory_order_relaxed) == 0);
    home = remote_head(remote_take(&remote), start());
  }
  return NULL;
}

static void* freer(void* arg) {
  const int i = (int)(intptr_t)arg;
  cells[i].data = 7;
  block_t* b = &cells[i].block;
  chain_t chain = {b, b, 1, remote_granule(b, start()), NULL};
  uint32_t word = 0;
  if (remote_free(&remote, start(), chain, &word)) {
    assert(atomic_fetch_add_explicit(&owners, 1, memory_order_relaxed) == 0);
    assert(remote_state(word) == REMOTE_FULL && field == 1);
    b->next = remote_head(remote_take(&remote), start());
    home = b;
    for (; b != NULL; b = b->next) { assert(((uint64_t*)(void*)b)[1] == 7); }
  }
  return NULL;
}

int main(void) {
  pthread_t ids[FREERS + 1];
  store_relaxed(&remote, REMOTE_OWNED);
  pthread_create(&ids[FREERS], NULL, first_owner, NULL);
  for (int i = 0; i < FREERS; i++) { pthread_create(&ids[i], NULL, freer, (void*)(intptr_t)i); }
  for (int i = 0; i <= FREERS; i++) { pthread_join(ids[i], NULL); }
  assert(load_relaxed(&owners) == 1 && remote_state(load_relaxed(&remote)) == REMOTE_OWNED);
  int found = 0;
  for (block_t* b = home; b != NULL; b = b->next) { found++; }
  for (block_t* b = remote_head(load_relaxed(&remote), start()); b != NULL; b = b->next) {
    found++;
  }
  assert(found == FREERS);
  return 0;
}
