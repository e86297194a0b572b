/* Random numbers that are the same in each run. */
#ifndef TEST_RANDOM_H
#define TEST_RANDOM_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t random_next(uint64_t* state) { /* xorshift64* */
  uint64_t x = *state;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  *state = x;
  return x * UINT64_C(2685821657736338717);
}

static inline size_t random_below(uint64_t* state, size_t bound) {
  return (size_t)((random_next(state) >> 11) % bound);
}

/* The numbers below `count`, in an order that is the same each time. */
static inline void shuffle(unsigned* order, size_t count) {
  uint64_t random = 1;
  for (size_t i = 0; i < count; i++) { order[i] = (unsigned)i; }
  for (size_t i = count - 1; i > 0; i--) {
    const size_t other = random_below(&random, i + 1);
    const unsigned kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
}

#endif
