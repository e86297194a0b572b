// bench: large, twenty blocks of 5 to 25 MiB, allocated, grown, partly written and freed
/* A table of 20 blocks of 5 to 25 MiB; again and again a random one is freed, and another of
   random size allocated in its place and written to for a random part; one in four is grown by
   realloc instead. What an allocator keeps of such blocks saves page faults, and counts as
   resident. */
#include "workload.h"

enum { SLOTS = 20, SMALLEST = 5 * MIB, LARGEST = 25 * MIB, STRIDE = 4 * KIB };

typedef struct {
  unsigned char* p;
  size_t bytes, written;
} large_t;

static unsigned char value_at(size_t offset) { return (unsigned char)(offset / STRIDE * 7 + 1); }

static void write_until(large_t* b, size_t end) {
  for (; b->written < end; b->written += STRIDE) {
    b->p[b->written] = value_at(b->written);
    live_change(STRIDE); /* what is never written need not be in memory */
  }
}

static void check(const large_t* b) {
  for (size_t i = 0; i < b->written; i += STRIDE) { CHECK(b->p[i] == value_at(i)); }
}

static void release(large_t* b) {
  if (b->p == NULL) { return; }
  check(b);
  free(b->p);
  live_change(-(ptrdiff_t)b->written);
  *b = (large_t){NULL, 0, 0};
}

static void grow(large_t* b, size_t bytes) {
  check(b);
  b->p = realloc(b->p, bytes);
  CHECK(b->p != NULL);
  b->bytes = bytes;
}

int main(int argc, char** argv) {
  workload_start(argc, argv);
  static large_t table[SLOTS];
  rng_t rng = rng_seeded(1);
  const long operations = scaled(600);
  for (long i = 0; i < operations; i++) {
    large_t* b = &table[rng_below(&rng, SLOTS)];
    const size_t bytes = rng_between(&rng, SMALLEST, LARGEST);
    if (rng_below(&rng, 4) == 0 && b->bytes < bytes) {
      grow(b, bytes);
    } else {
      release(b);
      b->p = malloc(bytes);
      CHECK(b->p != NULL);
      b->bytes = bytes;
    }
    write_until(b, bytes / 8 * rng_between(&rng, 2, 8));
  }
  for (size_t i = 0; i < SLOTS; i++) { release(&table[i]); }
  return report(operations);
}
