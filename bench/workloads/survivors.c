// bench: return, churns 200 MiB, frees all but one block in a hundred pages, and idles
/* The burst: blocks of 16 bytes to 32 KiB, small ones more often, up to 200 MiB, of which random
   ones are replaced for a while. Then all are freed but one block of up to 2 KiB in each 400 KiB of
   blocks as they lie in the table: about one page of the system in a hundred has a block left. How
   much comes back depends on whether an allocator gives back pages within its larger units, and
   without being called. */
#include "workload.h"

enum { FULL = 200 * MIB, KEEP_ONE_IN = 400 * KIB, LARGEST_KEPT = 2 * KIB };

static slot_t* slots;
static size_t count, live_bytes;

static size_t random_size(rng_t* rng) { return rng_log_between(rng, 16, 32 * KIB); }

static void churn(long operations, rng_t* rng) {
  for (; operations > 0; operations--) {
    slot_t* slot = &slots[rng_below(rng, count)];
    live_bytes -= slot->size;
    slot_empty(slot);
    slot_fill(slot, random_size(rng));
    live_bytes += slot->size;
  }
}

static void free_most(void) {
  size_t passed = 0;
  for (size_t i = 0; i < count; i++) {
    passed += slots[i].size;
    if (passed < KEEP_ONE_IN || slots[i].size > LARGEST_KEPT) {
      slot_empty(&slots[i]);
    } else {
      passed -= KEEP_ONE_IN;
    }
  }
}

int main(int argc, char** argv) {
  workload_start(argc, argv);
  rng_t rng = rng_seeded(1);
  slots = take(FULL / 1024 * sizeof(slot_t));
  while (live_bytes < FULL) {
    CHECK(count < FULL / 1024);
    slot_fill(&slots[count], random_size(&rng));
    live_bytes += slots[count++].size;
  }
  const long operations = scaled(1500 * 1000);
  churn(operations, &rng);
  metric("rss_peak_kib", rss_kib());
  free_most();
  report_idle();
  for (size_t i = 0; i < count; i++) { slot_empty(&slots[i]); }
  give(slots, FULL / 1024 * sizeof(slot_t));
  return report(operations);
}
