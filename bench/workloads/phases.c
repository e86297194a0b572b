// bench: objects, blocks of many sizes are built, freed in some order, and built again
// rows: --sizes 16-400,72-2700,500-9000,4000-60000,20000-120000 --live 8,100 --order same,mixed
/* What rebuild does, with sizes between two numbers, each as likely as the others, in place of one:
   the objects of a request, a frame, a pass of a compiler. Each size class of an allocator ends
   with some memory of its own, and all of these lie between what is unused. */
#include "workload.h"

enum { OPERATIONS = 4 * 1000 * 1000 }; /* about */

static const char *sizes_text = "72-2700", *live_text = "8" /* MB */, *order_text = "same";
static size_t least, most, count;

static void read_sizes(void) {
  char* dash = NULL;
  least = strtoul(sizes_text, &dash, 10);
  CHECK(least >= 1 && *dash == '-');
  most = number_of(dash + 1);
  CHECK(most >= least);
  count = number_of(live_text) * 1000 * 1000 / ((least + most) / 2);
}

int main(int argc, char** argv) {
  workload_option("--sizes", &sizes_text);
  workload_option("--live", &live_text);
  workload_option("--order", &order_text);
  workload_start(argc, argv);
  CHECK(strcmp(order_text, "same") == 0 || strcmp(order_text, "mixed") == 0);
  read_sizes();
  rng_t rng = rng_seeded(2);
  slot_t* slots = take_zeroed(count * sizeof(slot_t));
  uint32_t* order = in_succession(count);
  if (strcmp(order_text, "mixed") == 0) { shuffle(order, count); }
  const long rounds = scaled(OPERATIONS) / (long)count + 2;
  for (long round = 0; round < rounds; round++) {
    for (size_t i = 0; i < count; i++) {
      slot_fill(&slots[i], least + rng_below(&rng, most - least + 1));
    }
    for (size_t i = 0; i < count; i++) { slot_empty(&slots[order[i]]); }
  }
  give(order, count * sizeof(*order));
  give(slots, count * sizeof(slot_t));
  return report(rounds * (long)count);
}
