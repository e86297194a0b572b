/* test: timeout=60 when="threads"
   Large blocks from many threads: runs of slices are claimed, freed by others, merged and claimed
   again, from the common arenas and from an exclusive one that runs full. No block overlaps
   another, and no slice is lost. */
#define _GNU_SOURCE 1
#include "stress.h"

enum { SLOTS = 64, ARENA = 64 * 1024 * 1024 };

static _Atomic(parcel_t*) slots[SLOTS];
static stress_args_t args;
static mi_heap_t* heap; /* in the exclusive arena */
static mi_arena_id_t arena;

/* NULL where the arena is full, which is no error here. */
static parcel_t* large_parcel(uint64_t* seed, size_t tag) {
  const size_t payload = 20000 + random_below(seed, (size_t)1 << (14 + random_below(seed, 8)));
  const bool in_arena = random_below(seed, 2) == 0;
  parcel_t* p = in_arena ? mi_heap_malloc(heap, sizeof(parcel_t) + payload)
                         : mi_malloc(sizeof(parcel_t) + payload);
  CHECK(p != NULL || in_arena);
  if (p != NULL) {
    CHECK(mi_arena_contains(arena, p) == in_arena);
    *p = (parcel_t){.size = payload, .tag = tag};
    stress_fill(p + 1, payload, tag);
  }
  return p;
}

static void* work(void* arg) {
  const size_t id = (size_t)(uintptr_t)arg;
  uint64_t seed = stress_seed(args.seed, id);
  for (size_t i = 0; i < args.iterations; i++) {
    parcel_t* p = random_below(&seed, 3) == 0 ? NULL : large_parcel(&seed, id * 1000 + i % 1000);
    parcel_free(
        atomic_exchange_explicit(&slots[random_below(&seed, SLOTS)], p, memory_order_acq_rel));
  }
  return NULL;
}

static size_t fill_arena(void) {
  enum { PIECE = 200 * 1024, MOST = ARENA / PIECE };
  void* pieces[MOST];
  size_t count = 0;
  while (count < MOST && (pieces[count] = mi_heap_malloc(heap, PIECE)) != NULL) { count++; }
  for (size_t i = 0; i < count; i++) { mi_free(pieces[i]); }
  return count;
}

int main(int argc, char** argv) {
  args = stress_args(argc, argv, 4, 5000);
  CHECK(mi_reserve_os_memory_ex(ARENA, false, false, true, &arena) == 0);
  heap = mi_heap_new_in_arena(arena);
  CHECK(heap != NULL);
  const size_t room = fill_arena();
  pthread_t threads[STRESS_MAX_THREADS];
  for (size_t i = 0; i < args.threads; i++) {
    threads[i] = stress_start(work, (void*)(uintptr_t)i);
  }
  for (size_t i = 0; i < args.threads; i++) { pthread_join(threads[i], NULL); }
  for (size_t k = 0; k < SLOTS; k++) {
    parcel_free(atomic_exchange_explicit(&slots[k], NULL, memory_order_acquire));
  }
  mi_collect(true);
  const size_t room_after = fill_arena();
  printf("room for %zu pieces at first, %zu at the end\n", room, room_after);
  CHECK(room_after >= room); /* all came back and was merged */
  mi_heap_destroy(heap);
  mi_collect(true);
  return check_done();
}
