/* test: timeout=60 args="1 2 3" when="threads" */
/* Random use by several threads, every block's contents checked: nothing is lost, nothing is handed
   out twice. Blocks wander between threads through a shared table, so many are resized and freed by
   another than their maker. One argument per run: the seed. */
#define _GNU_SOURCE
#include "../check.h"
#include "../system.h"
#include "opaque.h"

enum { THREADS = 4, STEPS = 60000, OWN = 300, SHARED = 512 };

typedef struct {
  unsigned char* p;
  size_t size;
  size_t seed;
} block_t;

typedef struct {
  uint64_t random;
  block_t own[OWN];
} worker_t;

static block_t* shared[SHARED];
static worker_t workers[THREADS];

static uint64_t next_random(worker_t* w) {
  w->random ^= w->random << 13;
  w->random ^= w->random >> 7;
  w->random ^= w->random << 17;
  return w->random;
}

/* Log-uniform up to 8 KiB mostly, now and then up to 2 MiB. */
static size_t random_size(worker_t* w) {
  const uint64_t r = next_random(w);
  const int bits = (int)(r % 200 == 0 ? 21 : r % 20 == 0 ? 16 : 13);
  const size_t top = (size_t)1 << (r / 256 % (unsigned)bits + 1);
  return (size_t)(r >> 20) % top;
}

/* Small blocks are checked whole, large ones at both ends. */
enum { EDGE = 600 };
static void fill(block_t* b, size_t seed) {
  b->seed = seed;
  const size_t head = b->size < EDGE ? b->size : EDGE;
  const size_t tail = b->size - head < EDGE ? b->size - head : EDGE;
  pattern_fill(b->p, head, seed);
  pattern_fill(b->p + b->size - tail, tail, seed + 1);
}
static void verify(const block_t* b) {
  const size_t head = b->size < EDGE ? b->size : EDGE;
  const size_t tail = b->size - head < EDGE ? b->size - head : EDGE;
  CHECK(pattern_holds(b->p, head, b->seed));
  CHECK(pattern_holds(b->p + b->size - tail, tail, b->seed + 1));
}

static void allocate(worker_t* w, block_t* b) {
  const uint64_t r = next_random(w);
  b->size = random_size(w);
  switch (r % 8) {
    case 0:
    case 1:
      b->p = (unsigned char*)calloc(1, b->size);
      CHECK(b->p != NULL && all_zero(b->p, b->size));
      break;
    case 2: {
      const size_t alignment = (size_t)8 << (r / 8 % 12);
      b->p = (unsigned char*)memalign(alignment, b->size);
      CHECK(b->p != NULL && (b->size < 16 || is_aligned(b->p, alignment)));
      break;
    }
    default: b->p = (unsigned char*)malloc(b->size); CHECK(b->p != NULL);
  }
  CHECK(malloc_usable_size(b->p) >= b->size);
  fill(b, (size_t)(r >> 32));
}

static void resize(worker_t* w, block_t* b) {
  const size_t size = random_size(w) + 1;
  const size_t old = b->size;
  verify(b);
  b->p = (unsigned char*)realloc(b->p, size);
  CHECK(b->p != NULL);
  const size_t common = old < size ? old : size;
  CHECK(pattern_holds(b->p, common < EDGE ? common : EDGE, b->seed));
  b->size = size;
  fill(b, b->seed + 2);
}

static void release(block_t* b) {
  if (b->p == NULL) { return; }
  verify(b);
  free(b->p);
  b->p = NULL;
}

/* Put one of ours into the table and take what was there: it becomes ours. The note travels on the
   heap as well. */
static void swap(worker_t* w, block_t* b) {
  block_t* note = NULL;
  if (b->p != NULL) {
    note = (block_t*)malloc(sizeof(block_t));
    *note = *b;
  }
  note = __atomic_exchange_n(&shared[next_random(w) % SHARED], note, __ATOMIC_ACQ_REL);
  b->p = NULL;
  if (note != NULL) {
    *b = *note;
    free(note);
    verify(b);
  }
}

static void* work(void* arg) {
  worker_t* w = (worker_t*)arg;
  for (int step = 0; step < STEPS; step++) {
    block_t* b = &w->own[next_random(w) % OWN];
    const unsigned what = (unsigned)(next_random(w) % 10);
    if (b->p == NULL) {
      allocate(w, b);
    } else if (what < 4) {
      release(b);
    } else if (what < 7) {
      resize(w, b);
    } else {
      swap(w, b);
    }
  }
  return NULL;
}

int main(int argc, char** argv) {
  for (int run = 1; run < (argc > 1 ? argc : 2); run++) {
    const uint64_t seed = argc > 1 ? strtoull(argv[run], NULL, 0) : 1;
    printf("seed %llu\n", (unsigned long long)seed);
    test_thread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++) {
      workers[i].random = (seed * 1000003u + (uint64_t)i + 1) * 0x9e3779b97f4a7c15u;
      CHECK(thread_start(&thread[i], work, &workers[i]));
    }
    for (int i = 0; i < THREADS; i++) { thread_join(thread[i]); }
    for (int i = 0; i < THREADS; i++) {
      for (int k = 0; k < OWN; k++) { release(&workers[i].own[k]); }
    }
    for (int i = 0; i < SHARED; i++) {
      block_t* note = __atomic_exchange_n(&shared[i], NULL, __ATOMIC_ACQ_REL);
      if (note != NULL) { release(note); }
      free(note);
    }
  }
  return check_done();
}
