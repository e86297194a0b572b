// bench: objects, blocks are built, freed in another order, and built again
// rows: --size 100,1000,4096,16384 --live 4,100
/* A table that is filled anew for each request, a document that is loaded again, the passes of a
   compiler: 4 or 100 MB of blocks of one size are allocated one after the other, then all are freed
   in an order that has nothing to do with that, and at once allocated again. First nearly all pages
   of an allocator have a few blocks left, and then they are empty. What it gives back of them it
   needs again a moment later; what it keeps stays if the program does something else. */
#include "workload.h"

static const char *size_text = "1000", *live_text = "4"; /* MB */

static uint32_t* shuffled(size_t count) {
  rng_t rng = rng_seeded(1);
  uint32_t* order = take(count * sizeof(*order));
  for (size_t i = 0; i < count; i++) { order[i] = (uint32_t)i; }
  for (size_t i = count - 1; i > 0; i--) {
    const size_t other = rng_below(&rng, i + 1);
    const uint32_t kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
  return order;
}

int main(int argc, char** argv) {
  workload_option("--size", &size_text);
  workload_option("--live", &live_text);
  workload_start(argc, argv);
  const size_t bytes = number_of(size_text), count = number_of(live_text) * 1000 * 1000 / bytes;
  CHECK(bytes >= 1 && count >= 2 && count < UINT32_MAX);
  slot_t* slots = take_zeroed(count * sizeof(slot_t));
  uint32_t* order = shuffled(count);
  const long rounds = scaled(8 * 1000 * 1000) / (long)count + 2;
  for (long round = 0; round < rounds; round++) {
    for (size_t i = 0; i < count; i++) { slot_fill(&slots[i], bytes); }
    for (size_t i = 0; i < count; i++) { slot_empty(&slots[order[i]]); }
  }
  give(order, count * sizeof(*order));
  give(slots, count * sizeof(slot_t));
  return report(rounds * (long)count);
}
