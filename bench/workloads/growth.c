// bench: large, a block grown by realloc to 256 MiB by half, and to 64 MiB by fixed steps
/* What a growing vector or a reader of unknown length does: a block grows from 4 KiB to 256 MiB by
   half of its size at a time, some rounds of that; then once to 64 MiB by 64 KiB at a time. Each
   part is written once as it comes, and all is verified at the end. An allocator that copies
   instead of moving pages pays for it, in the second part hundreds of times over. */
#include "workload.h"

enum { START = 4 * KIB, BY_HALF_UNTIL = 256 * MIB, STEP = 64 * KIB, BY_STEPS_UNTIL = 64 * MIB };

static long operations;

static void write_part(uint64_t* p, size_t from, size_t until) { /* a word in each 4 KiB */
  for (size_t i = (from + 4095) / 4096 * 4096; i < until; i += 4096) { p[i / 8] = i * 3 + 1; }
}

static void grow_until(size_t until, bool by_half) {
  size_t bytes = START;
  uint64_t* p = take(bytes);
  write_part(p, 0, bytes);
  while (bytes < until) {
    const size_t wish = by_half ? bytes + bytes / 2 : bytes + STEP;
    const size_t next = wish < until ? wish : until;
    p = take_resized(p, bytes, next);
    write_part(p, bytes, next);
    bytes = next;
    operations++;
  }
  for (size_t i = 0; i < bytes; i += 4096) { CHECK(p[i / 8] == i * 3 + 1); }
  give(p, bytes);
}

int main(int argc, char** argv) {
  workload_start(argc, argv);
  const long rounds = scaled(6);
  for (long i = 0; i < rounds; i++) { grow_until(BY_HALF_UNTIL, true); }
  grow_until(BY_STEPS_UNTIL, false);
  return report(operations);
}
