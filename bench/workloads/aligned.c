// bench: objects, aligned blocks are freed at random and others allocated in their places
// rows: --align 64,4096,65536 --threads 1,2
/* What asks for more than malloc's alignment: C++ types that have a cache line to themselves,
   vectors, buffers for direct input and output, the block allocators of language runtimes. Sizes
   are from the alignment to four times as much. */
#include "workload.h"

enum { LIVE = 4 * 1000 * 1000, OPERATIONS = 12 * 1000 * 1000 }; /* LIVE: bytes of all threads */

static const char* align_text = "64";
static size_t align, blocks; /* of each thread */
static long operations;      /* of all */

static void* take_aligned(size_t size) {
  void* p = NULL;
  CHECK(posix_memalign(&p, align, size) == 0 && (uintptr_t)p % align == 0);
  live_change((ptrdiff_t)size);
  return p;
}

static void work(int index) {
  rng_t rng = rng_seeded((uint64_t)index + 1);
  slot_t* slots = take_zeroed(blocks * sizeof(slot_t));
  for (long i = share_of(operations, index); i > 0; i--) {
    slot_t* slot = &slots[rng_below(&rng, blocks)];
    slot_empty(slot);
    const size_t size = rng_between(&rng, align, 4 * align);
    slot_set(slot, take_aligned(size), size);
  }
  for (size_t i = 0; i < blocks; i++) { slot_empty(&slots[i]); }
  give(slots, blocks * sizeof(slot_t));
}

int main(int argc, char** argv) {
  workload_option("--align", &align_text);
  workload_start(argc, argv);
  align = number_of(align_text);
  CHECK(align >= sizeof(void*) && (align & (align - 1)) == 0);
  blocks = LIVE / (align * 5 / 2) / (size_t)workload.threads;
  CHECK(blocks > 0);
  operations = scaled(OPERATIONS / (long)(1 + align / (4 * KIB))); /* long blocks take longer */
  run_workers(work);
  return report(operations);
}
