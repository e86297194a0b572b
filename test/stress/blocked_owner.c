/* test: timeout=60 when="threads"
   A thread allocates 64 MiB in small blocks and then waits for ever; others free them all. What it
   owned must not be stranded: allocating as much again elsewhere fits in nearly the same memory. */
#define _GNU_SOURCE 1
#include "stress.h"

enum { TOTAL = 64 * 1024 * 1024, SIZES = 4 };

typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  void** blocks;
  size_t count;
  bool is_ready;
} owner_t;

static owner_t owner = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
static size_t total_bytes;

static size_t size_at(size_t i) {
  static const size_t sizes[SIZES] = {48, 112, 320, 1008};
  return sizes[i % SIZES];
}

static size_t blocks_in(size_t bytes) { /* 1488 a round of the four */
  return bytes / 1488 * SIZES;
}

static void allocate(void** blocks, size_t count) {
  for (size_t i = 0; i < count; i++) {
    blocks[i] = mi_malloc(size_at(i));
    CHECK(blocks[i] != NULL);
    memset(blocks[i], 1, size_at(i));
  }
}

static void* own_and_block(void* arg) {
  (void)arg;
  allocate(owner.blocks, owner.count);
  pthread_mutex_lock(&owner.lock);
  owner.is_ready = true;
  pthread_cond_broadcast(&owner.changed);
  for (;;) { /* never signalled again for this thread's sake: it is gone for the allocator */
    pthread_cond_wait(&owner.changed, &owner.lock);
  }
  return NULL;
}

typedef struct {
  size_t from, step;
} range_t;

static void* free_range(void* arg) {
  const range_t* r = arg;
  for (size_t i = r->from; i < owner.count; i += r->step) { mi_free(owner.blocks[i]); }
  return NULL;
}

static void* allocate_again(void* arg) {
  void** blocks = arg;
  allocate(blocks, owner.count);
  return NULL;
}

static void** table(size_t count) { /* resident from the start, so that it is in no difference */
  void** blocks = malloc(count * sizeof(void*));
  if (blocks == NULL) { exit(2); }
  memset(blocks, 1, count * sizeof(void*));
  return blocks;
}

int main(int argc, char** argv) {
  const stress_args_t a = stress_args(argc, argv, 3, TOTAL);
  total_bytes = a.iterations;
  owner.count = blocks_in(total_bytes);
  owner.blocks = table(owner.count);
  void** again = table(owner.count);
  const size_t before = stress_resident();
  const pthread_t blocked = stress_start(own_and_block, NULL);
  pthread_detach(blocked);
  pthread_mutex_lock(&owner.lock);
  while (!owner.is_ready) { pthread_cond_wait(&owner.changed, &owner.lock); }
  pthread_mutex_unlock(&owner.lock);
  const size_t with_one = stress_resident();
  range_t ranges[STRESS_MAX_THREADS];
  pthread_t threads[STRESS_MAX_THREADS];
  for (size_t i = 0; i < a.threads; i++) {
    ranges[i] = (range_t){.from = i, .step = a.threads};
    threads[i] = stress_start(free_range, &ranges[i]);
  }
  for (size_t i = 0; i < a.threads; i++) { pthread_join(threads[i], NULL); }
  printf("before %zu KiB, with the owner's blocks %zu KiB\n", before / STRESS_KIB,
         with_one / STRESS_KIB);
  const pthread_t other = stress_start(allocate_again, again);
  pthread_join(other, NULL);
  stress_check_resident(with_one + total_bytes / 10 + 2 * STRESS_MIB, "a tenth stranded at most");
  for (size_t i = 0; i < owner.count; i++) { mi_free(again[i]); }
  mi_collect(true);
  stress_check_resident(before + total_bytes / 10 + 4 * STRESS_MIB,
                        "and at the end a tenth kept at most");
  return check_done();
}
