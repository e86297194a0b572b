/* Blocks of one size are allocated one after the other, all are freed in an order that has nothing
   to do with that, and allocated again: what the programs rebuild and rebuild-mt do. */
#ifndef MI_BENCH_REBUILD_H
#define MI_BENCH_REBUILD_H

#include "workload.h"

enum { OPERATIONS = 8 * 1000 * 1000 }; /* about, of all threads together */

static const char *size_text = "1000", *live_text = "4"; /* MB, of each thread */
static size_t size, count;
static long rounds; /* of each thread */

static void work(int index) {
  (void)index;
  slot_t* slots = take_zeroed(count * sizeof(slot_t));
  uint32_t* order = in_succession(count);
  shuffle(order, count);
  for (long round = 0; round < rounds; round++) {
    for (size_t i = 0; i < count; i++) { slot_fill(&slots[i], size); }
    for (size_t i = 0; i < count; i++) { slot_empty(&slots[order[i]]); }
  }
  give(order, count * sizeof(*order));
  give(slots, count * sizeof(slot_t));
}

static void rebuild_start(int argc, char** argv) {
  workload_option("--size", &size_text);
  workload_option("--live", &live_text);
  workload_start(argc, argv);
  size = number_of(size_text);
  CHECK(size >= 1);
  count = number_of(live_text) * 1000 * 1000 / size;
  rounds = scaled(OPERATIONS) / workload.threads / (long)count + 2;
}

static int rebuild_report(void) { return report(workload.threads * rounds * (long)count); }

#endif
