/* test: when="jumps" */
// The generator of src/service/random.c: the RFC's numbers, seeds, bounds.
#include "../check.h"
#include "fake_port.h"
#include "../../src/service/random.c"

/* RFC 8439, 2.3.2: key 00 … 1f, nonce 000000090000004a00000000, counter 1 */
static void test_rfc(void) {
  static const uint32_t expected[CHACHA_WORDS] = {0xe4e7f110, 0x15593bd1, 0x1fdd0f50, 0xc47120a3,
                                                  0xc7f4d1c7, 0x0368c033, 0x9aaa2204, 0x4e6cd4c3,
                                                  0x466482d2, 0x09aa9f07, 0x05d7c214, 0xa2028bd9,
                                                  0xd19c12b5, 0xb94e16de, 0xe883d0cb, 0x4e3c50a2};
  uint32_t state[CHACHA_WORDS] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
  uint32_t out[CHACHA_WORDS];
  for (uint32_t i = 0; i < 8; i++) { state[4 + i] = 0x03020100 + i * 0x04040404; }
  state[12] = 1, state[13] = 0x09000000, state[14] = 0x4a000000;
  chacha_block(state, out);
  CHECK(memcmp(out, expected, sizeof(out)) == 0);
}

static void test_seeds(void) {
  random_t a = {0}, b = {0}, weak = {0};
  CHECK(random_next(&a) == random_next(&b)); /* the fake port gives the same bytes */
  for (int i = 0; i < 100; i++) { CHECK(random_next(&a) == random_next(&b)); }
  random_reseed(&b); /* as in a child: new bytes are mixed in */
  CHECK(random_next(&a) != random_next(&b));
  fake_port.random_refused = true;
  const uint64_t first = random_next(&weak);
  fake_port.clock_ns++;
  random_t later = {0};
  CHECK(first != random_next(&later));
  fake_port.random_refused = false;
}

/* 64-bit numbers do not repeat, and each bit is set about half of the time. */
static void test_spread(void) {
  random_t random = {0};
  int ones[64] = {0};
  uint64_t quick = random_next(&random), before = 0;
  for (int i = 0; i < 4096; i++) {
    const uint64_t x = random_next(&random);
    CHECK(x != before);
    before = x;
    for (int bit = 0; bit < 64; bit++) { ones[bit] += (int)(x >> bit & 1); }
    CHECK(random_below(&random, 10) < 10 && quick_below(&quick, 7) < 7);
  }
  for (int bit = 0; bit < 64; bit++) { CHECK(ones[bit] > 1800 && ones[bit] < 2300); }
}

int main(void) {
  test_rfc();
  test_seeds();
  test_spread();
  return check_done();
}
