#include "random.h"

#include "../base/atomic.h"
#include "../port/port.h"

static uint64_t rotate_left(uint64_t x, unsigned count) {
  return (x << count) | (x >> (64 - count));
}

// SplitMix64: steps *state, returns it well mixed.
static uint64_t split_mix(uint64_t* state) {
  uint64_t z = (*state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

PRIVATE void random_init_seed(random_t* random, uint64_t seed) {
  for (size_t i = 0; i < 4; i++) {
    random->words[i] = split_mix(&seed);
  }  // at most one of the four is zero
}

// Differs between processes by address layout and clock, within one by the count.
static uint64_t weak_seed(const random_t* random) {
  static _Atomic(size_t) count;
  uint64_t seed = port_clock_ns();
  seed = split_mix(&seed) ^ (uintptr_t)random;
  seed = split_mix(&seed) ^ (uintptr_t)&random_init;
  seed = split_mix(&seed) ^ (uintptr_t)&seed;
  return split_mix(&seed) ^ add_relaxed(&count, 1);
}

PRIVATE void random_init(random_t* random) {
  uint64_t any = 0;
  if (port_random(random->words, sizeof(random->words))) {
    for (size_t i = 0; i < 4; i++) { any |= random->words[i]; }
  }
  if (any == 0) { random_init_seed(random, weak_seed(random)); }
}

PRIVATE uintptr_t random_next(random_t* random) {
  uint64_t* s = random->words;
  const uint64_t result = rotate_left(s[0] + s[3], 23) + s[0];
  const uint64_t shifted = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= shifted;
  s[3] = rotate_left(s[3], 45);
  return (uintptr_t)(result >>
                     (64 - 8 * sizeof(uintptr_t)));  // the high half, where a word has 32 bits
}
