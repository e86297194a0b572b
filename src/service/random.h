// Random numbers that cannot be predicted: the ChaCha20 function of RFC 8439, seeded by the OS.
//
// A generator is zeroed memory until its first use; its user sees to it that one thread at a time
// uses it. Where the OS has no random bytes to give, the seed is what it gave at exec, the clock
// and addresses. After a fork the child calls random_reseed, or both go on with the same numbers.
#ifndef MI_SERVICE_RANDOM_H
#define MI_SERVICE_RANDOM_H

#include "../base/attributes.h"

enum { CHACHA_WORDS = 16 };

typedef struct random {
  uint32_t state[CHACHA_WORDS];   // constants, key, counter, nonce
  uint32_t output[CHACHA_WORDS];  // of which the last `left` are unused
  uint32_t left;
  bool seeded;
} random_t;

PRIVATE UNUSED void chacha_block(const uint32_t state[CHACHA_WORDS], uint32_t out[CHACHA_WORDS]);
PRIVATE UNUSED uint64_t random_next(random_t* random);
// Less than `bound`, which is not 0. The bias is bound / 2^64.
PRIVATE UNUSED uint64_t random_below(random_t* random, uint64_t bound);
PRIVATE UNUSED void random_reseed(random_t* random);

// Quick numbers of a small state that was filled from a generator: an order that an observer may
// work out from many of them, but does not know beforehand.
FAST uint32_t quick_next(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  const uint32_t high = (uint32_t)(*state >> 32);
  return high ^ high >> 15;
}
FAST uint64_t quick_bits(uint64_t* state) {
  const uint64_t high = quick_next(state);
  return high << 32 | quick_next(state);
}
FAST uint32_t quick_below(uint64_t* state, uint32_t bound) {
  return (uint32_t)((uint64_t)quick_next(state) * bound >> 32);
}

#endif
