// bench: threads, each replaces blocks of 8 bytes to 16 KB, and frees what its neighbour sends
// rows: --threads 2,8
/* After the parameters that a maker of allocators publishes: in each loop a thread frees 100 random
   ones of its blocks and allocates 100 others; in every second loop it also allocates 100 that it
   sends to the next thread, which frees them. Sizes are from 8 to 16,000 bytes, the larger the
   rarer. Most frees are local, one in three comes from afar. */
#include "workload.h"

enum { BLOCKS = 1000, EACH = 100, LARGEST = 16000, LOOPS = 40 * 1000, CROWDED = 8 };

typedef struct letter_t {
  struct letter_t* next;
  size_t bytes;
} letter_t;

typedef struct {
  _Alignas(128) _Atomic(letter_t*) first;
  _Atomic size_t batches; /* since it was last emptied, about */
} mailbox_t;

static mailbox_t mailboxes[MAX_THREADS];

static void free_received(mailbox_t* box) {
  letter_t* letter = atomic_exchange_explicit(&box->first, NULL, memory_order_acquire);
  atomic_store_explicit(&box->batches, 0, memory_order_relaxed);
  while (letter != NULL) {
    letter_t* next = letter->next;
    block_check(letter + 1, letter->bytes - sizeof(letter_t), letter->bytes * 17);
    give(letter, letter->bytes);
    letter = next;
  }
}

static void send_to(mailbox_t* box, letter_t* first, letter_t* last) {
  last->next = atomic_load_explicit(&box->first, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(&box->first, &last->next, first,
                                                memory_order_release, memory_order_relaxed)) {}
}

/* A receiver that does not get to run has its mailbox emptied by who finds it crowded. */
static void send_some(mailbox_t* box, rng_t* rng) {
  letter_t *first = NULL, *last = NULL;
  for (size_t i = 0; i < EACH; i++) {
    const size_t bytes = sizeof(letter_t) + rng_falling(rng, 8, LARGEST - sizeof(letter_t));
    letter_t* letter = take(bytes);
    *letter = (letter_t){first, bytes};
    block_mark(letter + 1, bytes - sizeof(letter_t), bytes * 17);
    if (last == NULL) { last = letter; }
    first = letter;
  }
  send_to(box, first, last);
  if (atomic_fetch_add_explicit(&box->batches, 1, memory_order_relaxed) >= CROWDED) {
    free_received(box);
  }
}

static void work(int index) {
  rng_t rng = rng_seeded((uint64_t)index + 1);
  slot_t* slots = take_zeroed(BLOCKS * sizeof(slot_t));
  for (size_t i = 0; i < BLOCKS; i++) { slot_fill(&slots[i], rng_falling(&rng, 8, LARGEST)); }
  for (long loop = share_of(scaled(LOOPS), index); loop > 0; loop--) {
    for (size_t i = 0; i < EACH; i++) { slot_empty(&slots[rng_below(&rng, BLOCKS)]); }
    free_received(&mailboxes[index]);
    if (loop % 2 == 0) { send_some(&mailboxes[(index + 1) % workload.threads], &rng); }
    for (size_t i = 0; i < EACH; i++) {
      slot_t* slot = &slots[rng_below(&rng, BLOCKS)];
      slot_empty(slot);
      slot_fill(slot, rng_falling(&rng, 8, LARGEST));
    }
  }
  for (size_t i = 0; i < BLOCKS; i++) { slot_empty(&slots[i]); }
  give(slots, BLOCKS * sizeof(slot_t));
}

int main(int argc, char** argv) {
  workload_start(argc, argv);
  live_grain = 128 * KIB; /* of 5 MiB for each thread */
  run_workers(work);
  for (int i = 0; i < workload.threads; i++) { free_received(&mailboxes[i]); }
  return report(scaled(LOOPS) * (EACH + EACH / 2));
}
