// bench: threads, lists of blocks wander between threads, which end and start again
/* Threads allocate chains of blocks of 16 bytes to 4 KiB (one in a thousand up to 256 KiB), keep
   some, free some, and exchange others with a table that all threads share, so that any thread
   frees what any other made. In each round all threads end and new ones start; what is in the
   table stays. It stresses freeing from afar, adoption of what ended threads left, and threads'
   start and end. */
#include "workload.h"

enum { ROUNDS = 20, TRANSFERS = 1000, KEPT = 500 };

typedef struct chain_t {
  struct chain_t* next;
  size_t bytes; /* of this block, at least sizeof(chain_t) + 8 */
} chain_t;

static _Atomic(chain_t*) transfers[TRANSFERS];
static long chains; /* per round, in all */
static long round_now;

static void chain_mark(chain_t* c) { block_mark(c + 1, c->bytes - sizeof(chain_t), c->bytes * 31); }

static void free_chain(chain_t* c) {
  while (c != NULL) {
    chain_t* next = c->next;
    block_check(c + 1, c->bytes - sizeof(chain_t), c->bytes * 31);
    give(c, c->bytes);
    c = next;
  }
}

static chain_t* new_chain(rng_t* rng) {
  chain_t* first = NULL;
  for (size_t i = rng_between(rng, 1, 20); i > 0; i--) {
    const size_t bytes =
        sizeof(chain_t) + (rng_below(rng, 1000) == 0 ? rng_log_between(rng, 4 * KIB, 256 * KIB)
                                                     : rng_log_between(rng, 8, 4 * KIB));
    chain_t* c = take(bytes);
    c->next = first;
    c->bytes = bytes;
    chain_mark(c);
    first = c;
  }
  return first;
}

static void work(int index) {
  rng_t rng = rng_seeded((uint64_t)(round_now * MAX_THREADS + index + 1));
  const size_t kept_count = (size_t)share_of(KEPT, index) + 1;
  const size_t kept_bytes = kept_count * sizeof(chain_t*);
  chain_t** kept = take_zeroed(kept_bytes);
  for (long i = share_of(chains, index); i > 0; i--) {
    chain_t** slot = &kept[rng_below(&rng, kept_count)];
    free_chain(*slot);
    *slot = new_chain(&rng);
    if (rng_below(&rng, 2) == 0) {
      _Atomic(chain_t*)* transfer = &transfers[rng_below(&rng, TRANSFERS)];
      *slot = atomic_exchange(transfer, *slot);
    }
  }
  for (size_t i = 0; i < kept_count; i++) { free_chain(kept[i]); }
  give(kept, kept_bytes);
}

int main(int argc, char** argv) {
  workload_start(argc, argv);
  chains = scaled(36000);
  for (round_now = 0; round_now < ROUNDS; round_now++) { run_workers(work); }
  for (size_t i = 0; i < TRANSFERS; i++) { free_chain(atomic_load(&transfers[i])); }
  return report(chains * ROUNDS);
}
