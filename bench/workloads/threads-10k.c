// bench: threads, ten thousand threads, 64 alive at a time, each allocates a few blocks
/* A server with a thread per request: 64 threads are alive at any time; each allocates 20 blocks
   of 16 bytes to 4 KiB, frees half of them, leaves the others to the main thread, which frees them
   when it joins the thread and starts the next. It stresses what a thread costs: its first
   allocation, its end, and the memory that is set aside for it. */
#include "workload.h"

enum { ALIVE = 64, BLOCKS = 20 };

typedef struct {
  worker_t worker;
  slot_t slots[BLOCKS];
  bool started;
} place_t;

static place_t places[ALIVE];

static void request(int index) {
  slot_t* slots = places[index].slots;
  rng_t rng = rng_seeded((uint64_t)index + 1);
  for (size_t i = 0; i < BLOCKS; i++) { slot_fill(&slots[i], rng_log_between(&rng, 16, 4 * KIB)); }
  for (size_t i = 0; i < BLOCKS; i += 2) { slot_empty(&slots[i]); }
}

static void finish(place_t* place) {
  if (!place->started) { return; }
  worker_join(&place->worker);
  for (size_t i = 0; i < BLOCKS; i++) { slot_empty(&place->slots[i]); }
}

int main(int argc, char** argv) {
  workload_start(argc, argv);
  const long threads = scaled(10000);
  for (long i = 0; i < threads; i++) {
    const int index = (int)(i % ALIVE);
    finish(&places[index]);
    places[index].started = true;
    worker_start(&places[index].worker, request, index);
  }
  for (size_t i = 0; i < ALIVE; i++) { finish(&places[i]); }
  return report(threads);
}
