#include "random.h"

#include <string.h>

#include "../port/port.h"

enum { CHACHA_ROUNDS = 20, KEY_AT = 4, KEY_WORDS = 8, COUNTER_AT = 12 };

static uint32_t rotate_left(uint32_t x, unsigned count) { return x << count | x >> (32 - count); }

static void quarter_round(uint32_t* a, uint32_t* b, uint32_t* c, uint32_t* d) {
  *a += *b, *d = rotate_left(*d ^ *a, 16);
  *c += *d, *b = rotate_left(*b ^ *c, 12);
  *a += *b, *d = rotate_left(*d ^ *a, 8);
  *c += *d, *b = rotate_left(*b ^ *c, 7);
}

PRIVATE void chacha_block(const uint32_t state[CHACHA_WORDS], uint32_t out[CHACHA_WORDS]) {
  uint32_t x[CHACHA_WORDS];
  memcpy(x, state, sizeof(x));
  for (int round = 0; round < CHACHA_ROUNDS; round += 2) {
    for (int i = 0; i < 4; i++) { quarter_round(&x[i], &x[4 + i], &x[8 + i], &x[12 + i]); }
    for (int i = 0; i < 4; i++) {
      quarter_round(&x[i], &x[4 + (i + 1) % 4], &x[8 + (i + 2) % 4], &x[12 + (i + 3) % 4]);
    }
  }
  for (int i = 0; i < CHACHA_WORDS; i++) { out[i] = x[i] + state[i]; }
}

// What differs between processes and moments, for a key that the OS did not give in full.
static void stir_weakly(uint32_t key[KEY_WORDS], const random_t* random) {
  const uint64_t facts[4] = {port_clock_ns(), (uintptr_t)random, (uintptr_t)&chacha_block,
                             (uintptr_t)&key};
  for (size_t i = 0; i < 4; i++) {
    key[2 * i] ^= (uint32_t)facts[i];
    key[2 * i + 1] ^= (uint32_t)(facts[i] >> 32);
  }
}

PRIVATE void random_reseed(random_t* random) {
  static const uint32_t constants[KEY_AT] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
  uint32_t key[KEY_WORDS] = {0};
  if (port_random(key, sizeof(key)) != 0) { stir_weakly(key, random); }
  for (int i = 0; i < KEY_WORDS; i++) { random->state[KEY_AT + i] ^= key[i]; }
  memcpy(random->state, constants, sizeof(constants));
  random->left = 0;
  random->seeded = true;
}

static void refill(random_t* random) {
  if (!random->seeded) { random_reseed(random); }
  chacha_block(random->state, random->output);
  random->state[COUNTER_AT]++;
  if (random->state[COUNTER_AT] == 0) { random->state[COUNTER_AT + 1]++; }
  random->left = CHACHA_WORDS;
}

PRIVATE uint64_t random_next(random_t* random) {
  if (random->left < 2) { refill(random); }
  random->left -= 2;
  const uint32_t* words = &random->output[random->left];
  return (uint64_t)words[0] << 32 | words[1];
}

PRIVATE uint64_t random_below(random_t* random, uint64_t bound) {
  return random_next(random) % bound;
}
