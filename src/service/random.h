// Random numbers for placement, sampling and keys of the release build: xoshiro256++, from D.
// Blackman and S. Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS 47(4), 2021;
// seeded by SplitMix64, from G. Steele, D. Lea and C. Flood, "Fast splittable pseudorandom number
// generators", OOPSLA 2014.
//
// Its output can be predicted by who sees enough of it. A build that must resist that replaces
// these functions only: the state is opaque to callers. A state belongs to one thread or to the
// holder of a lock.
#ifndef MI_SERVICE_RANDOM_H
#define MI_SERVICE_RANDOM_H

#include "../base/attributes.h"

typedef struct random_s {
  uint64_t words[4];  // not all zero
} random_t;

// Seeded by the OS; if it refuses, by clock and addresses.
PRIVATE void random_init(random_t* random);
// The same sequence for the same seed.
PRIVATE void random_init_seed(random_t* random, uint64_t seed);
PRIVATE uintptr_t random_next(random_t* random);

#endif
