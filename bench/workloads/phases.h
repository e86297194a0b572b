/* Blocks of sizes between two numbers, each as likely as the others, are allocated one after the
   other, all are freed, and allocated again: what the programs phases and phases-mt do. */
#ifndef MI_BENCH_PHASES_H
#define MI_BENCH_PHASES_H

#include "workload.h"

enum { OPERATIONS = 4 * 1000 * 1000 }; /* about, of all threads together */

static const char *sizes_text = "72-2700", *live_text = "8", *order_text = "same"; /* MB, of each */
static size_t least, most, count;
static long rounds; /* of each thread */

static void work(int index) {
  rng_t rng = rng_seeded(2 + (uint64_t)index);
  slot_t* slots = take_zeroed(count * sizeof(slot_t));
  uint32_t* order = in_succession(count);
  if (strcmp(order_text, "mixed") == 0) { shuffle(order, count); }
  for (long round = 0; round < rounds; round++) {
    for (size_t i = 0; i < count; i++) { slot_fill(&slots[i], rng_between(&rng, least, most)); }
    for (size_t i = 0; i < count; i++) { slot_empty(&slots[order[i]]); }
  }
  give(order, count * sizeof(*order));
  give(slots, count * sizeof(slot_t));
}

static void phases_start(int argc, char** argv) {
  workload_option("--sizes", &sizes_text);
  workload_option("--live", &live_text);
  workload_option("--order", &order_text);
  workload_start(argc, argv);
  CHECK(strcmp(order_text, "same") == 0 || strcmp(order_text, "mixed") == 0);
  range_of(sizes_text, &least, &most);
  count = number_of(live_text) * 1000 * 1000 / ((least + most) / 2);
  rounds = scaled(OPERATIONS) / workload.threads / (long)count + 2;
}

static int phases_report(void) { return report(workload.threads * rounds * (long)count); }

#endif
