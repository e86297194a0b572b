// bench: return, fills, frees a random 90 %, changes sizes, and again: fragmentation over hours
/* A long-running process whose kind of work changes: blocks are allocated up to 128 MiB in all, a
   random 90 % of them freed, and the next phase fills up with blocks of other sizes; the survivors
   of each phase lie in the way of the next ones. Twelve phases, of small sizes, of wide ones, of
   large ones, of single ones. What is resident beyond what is live, at the peak and after the idle
   time, is the point. The blocks are in one list, so the program has no memory but them. */
#include "workload.h"

enum { PHASES = 12, FULL = 128 * MIB };

typedef struct block_t {
  struct block_t* next;
  size_t bytes;
} block_t;

static const struct {
  size_t low, high;
} kinds[PHASES] = {
    {24, 96},   {200, 1200}, {2000, 16000},   {24, 30000}, {64, 64},     {4096, 4096},
    {100, 400}, {24, 128},   {30000, 300000}, {500, 600},  {1000, 9000}, {32, 2000},
};

static block_t* newest;
static size_t live_bytes;
static long operations;

static void fill(long phase, rng_t* rng) {
  const size_t low = kinds[phase % PHASES].low, high = kinds[phase % PHASES].high;
  while (live_bytes < FULL) {
    const size_t bytes = rng_between(rng, low, high);
    block_t* b = take(bytes);
    b->next = newest;
    b->bytes = bytes;
    memset(b + 1, (int)(bytes & 0xFF), bytes - sizeof(block_t));
    newest = b;
    live_bytes += bytes;
    operations++;
  }
}

static void check(const block_t* b) {
  const unsigned char* content = (const unsigned char*)(b + 1);
  CHECK(content[0] == (b->bytes & 0xFF) && content[b->bytes - sizeof(block_t) - 1] == content[0]);
}

static void thin_out(size_t percent, rng_t* rng) {
  for (block_t** place = &newest; *place != NULL;) {
    block_t* b = *place;
    if (rng_below(rng, 100) >= percent) {
      place = &b->next;
      continue;
    }
    *place = b->next;
    check(b);
    live_bytes -= b->bytes;
    give(b, b->bytes);
  }
}

int main(int argc, char** argv) {
  workload_start(argc, argv);
  const long phases = scaled(PHASES);
  rng_t rng = rng_seeded(1);
  for (long phase = 0; phase < phases; phase++) {
    fill(phase, &rng);
    thin_out(90, &rng);
  }
  report_idle();
  thin_out(100, &rng);
  CHECK(newest == NULL && live_bytes == 0);
  return report(operations);
}
