// bench: objects, sizes and lifetimes as in traces of real programs
/* Sizes as traces of interpreters, compilers and data bases have them: most blocks have 24 to 88
   bytes, some have up to 64 KiB. Lifetimes are a mixture of geometric distributions, the short
   ones by far the most: in allocations by the whole program, 8, 200, 5,000, 100,000, 800,000 on
   average, or the whole run (one in five hundred). A block's time to go is fixed when it is made.
   */
#include "workload.h"

/* The calendar: blocks to free at a time soon, each by itself, and later, by the page. */
enum { SOON = 1024, PAGE = 256, PAGES = 16 * 1024 };

typedef struct block_t {
  struct block_t* next; /* of those that go at the same time */
  size_t bytes;
} block_t;

typedef struct {
  uint32_t weight, low, high;
} share_t;

static const share_t sizes[] = {
    {160, 16, 24},    {220, 24, 40},   {260, 40, 64},    {150, 64, 88},
    {70, 88, 160},    {60, 160, 320},  {35, 320, 640},   {25, 640, 1400},
    {12, 1400, 4200}, {5, 4200, 9000}, {2, 9000, 20000}, {1, 20000, 65536},
};
static const share_t lifetimes[] = {
    {560, 8, 0}, {240, 200, 0}, {120, 5000, 0}, {48, 100000, 0}, {30, 800000, 0}, {2, 0, 0},
};

static const share_t* pick(const share_t* shares, rng_t* rng) { /* of weights that add to 1000 */
  size_t n = rng_below(rng, 1000);
  while (n >= shares->weight) { n -= shares++->weight; }
  return shares;
}

/* About geometric: the average times -ln of a number between 0 and 1, ln by steps of halves. */
static size_t lifetime(size_t average, rng_t* rng) {
  const uint64_t bits = rng_next(rng);
  size_t halves = 0;
  while (halves < 31 && (bits >> halves & 1) == 0) { halves++; }
  const size_t part = (size_t)(bits >> 32 & 1023);
  const size_t time = average * (halves * 1024 + part) / 1478 + 1; /* 1024 / ln 2 */
  const size_t most = (size_t)PAGE * (PAGES - 1);
  return time < most ? time : most;
}

static void free_all(block_t* b) {
  while (b != NULL) {
    block_t* next = b->next;
    block_check(b + 1, b->bytes - sizeof(block_t), b->bytes);
    give(b, b->bytes);
    b = next;
  }
}

int main(int argc, char** argv) {
  workload_start(argc, argv);
  static block_t *soon[SOON], *later[PAGES];
  block_t* immortal = NULL;
  rng_t rng = rng_seeded(1);
  const long allocations = scaled(9 * 1000 * 1000);
  for (size_t now = 0; now < (size_t)allocations; now++) {
    const share_t* size = pick(sizes, &rng);
    size_t bytes = rng_between(&rng, size->low, size->high) & ~(size_t)7;
    if (bytes < sizeof(block_t) + 8) { bytes = sizeof(block_t) + 8; }
    block_t* b = take(bytes);
    b->bytes = bytes;
    block_mark(b + 1, bytes - sizeof(block_t), bytes);
    const size_t average = pick(lifetimes, &rng)->low;
    block_t** list = &immortal;
    if (average > 0) {
      const size_t time = lifetime(average, &rng);
      list = time < SOON ? &soon[(now + time) % SOON] : &later[(now + time) / PAGE % PAGES];
    }
    b->next = *list;
    *list = b;
    free_all(soon[now % SOON]);
    soon[now % SOON] = NULL;
    if (now % PAGE == 0) {
      free_all(later[now / PAGE % PAGES]);
      later[now / PAGE % PAGES] = NULL;
    }
  }
  for (size_t i = 0; i < SOON; i++) { free_all(soon[i]); }
  for (size_t i = 0; i < PAGES; i++) { free_all(later[i]); }
  free_all(immortal);
  return report(allocations);
}
