/* test: timeout=60 when="release|debug|secure threads posix stacks"
   Threads that a fork leaves behind, in several generations: a new thread may be given the stack of
   one of them, and so have its id. Their pages do not become its own. What they allocated stays
   good, can be freed, and goes with their heaps. */
#include "../system.h"
#include "api.h"

enum { GENERATIONS = 4, THREADS = 2, BLOCKS = 600, STACK_BYTES = 1 << 20 };

typedef struct lot {
  unsigned char* blocks[BLOCKS];
  size_t id;
} lot_t;

static lot_t lots[GENERATIONS][THREADS];
static mi_heap_t *deleted[GENERATIONS], *destroyed[GENERATIONS];
static void* stacks[THREADS];
static int generation;
static test_barrier_t allocated, gone;

static size_t size_of(int i) { return 16 + (size_t)(i * 37 % 1500); }

static unsigned seed_of(int g, int t) { return (unsigned)(g * THREADS + t); }

/* Of those that had this stack before, how many blocks say that they are `id`'s. */
static size_t count_mine(size_t id, int t) {
  size_t mine = 0;
  for (int g = 0; g < generation; g++) {
    for (int i = 0; i < BLOCKS; i++) {
      mine += lots[g][t].blocks[i] != NULL && mi_thread_id_of(lots[g][t].blocks[i]) == id;
    }
  }
  return mine;
}

/* Every third of them. */
static void free_some(int t) {
  for (int g = 0; g < generation; g++) {
    for (int i = (3 - g % 3) % 3; i < BLOCKS; i += 3) {
      unsigned char** block = &lots[g][t].blocks[i];
      CHECK(*block == NULL || is_filled(*block, size_of(i), seed_of(g, t)));
      mi_free(*block);
      *block = NULL;
    }
  }
}

static mi_heap_t* heap_for(int i) {
  if (i % 4 == 1) { return deleted[generation]; }
  return i % 4 == 2 ? destroyed[generation] : mi_heap_main();
}

/* Full pages, and such as have free blocks. */
static void allocate(lot_t* lot, int t) {
  for (int i = 0; i < BLOCKS; i++) {
    lot->blocks[i] = mi_heap_malloc(heap_for(i), size_of(i));
    fill(lot->blocks[i], size_of(i), seed_of(generation, t));
  }
  for (int i = 0; i < BLOCKS; i += 8) {
    mi_free(lot->blocks[i]);
    lot->blocks[i] = NULL;
  }
}

static void* live(void* number) {
  const int t = (int)(intptr_t)number;
  lot_t* lot = &lots[generation][t];
  void* first = mi_malloc(4000); /* of no page of theirs */
  lot->id = mi_thread_id_of(first);
#ifdef __GLIBC__ /* it puts what is a thread's own at the end of its stack */
  CHECK(generation == 0 || lot->id == lots[0][t].id);
#endif
  CHECK(count_mine(lot->id, t) == 0);
  free_some(t);
  allocate(lot, t);
  mi_free(first);
  barrier_wait(&allocated);
  barrier_wait(&gone); /* in the process that it began in, but not in the child */
  return NULL;
}

static bool start_on_stack(pthread_t* thread, int t) {
  pthread_attr_t attr;
  CHECK(pthread_attr_init(&attr) == 0);
  CHECK(pthread_attr_setstack(&attr, stacks[t], STACK_BYTES) == 0);
  return pthread_create(thread, &attr, live, (void*)(intptr_t)t) == 0;
}

static void end_heaps(int g) {
  mi_heap_delete(deleted[g]);
  mi_heap_destroy(destroyed[g]);
  for (int t = 0; t < THREADS; t++) {
    for (int i = 2; i < BLOCKS; i += 4) { lots[g][t].blocks[i] = NULL; }
  }
}

static void check_all(void) {
  for (int g = 0; g <= generation; g++) {
    for (int t = 0; t < THREADS; t++) {
      for (int i = 0; i < BLOCKS; i++) {
        const unsigned char* p = lots[g][t].blocks[i];
        CHECK(p == NULL || is_filled(p, size_of(i), seed_of(g, t)));
      }
    }
  }
}

static int run(void);

static int run_next(void) {
  generation++;
  end_heaps(generation - 1);
  return run();
}

static int run(void) {
  pthread_t threads[THREADS];
  deleted[generation] = mi_heap_new();
  destroyed[generation] = mi_heap_new();
  barrier_init(&allocated, THREADS + 1);
  barrier_init(&gone, THREADS + 1);
  for (int t = 0; t < THREADS; t++) { CHECK(start_on_stack(&threads[t], t)); }
  barrier_wait(&allocated);
  check_all();
  CHECK(generation == GENERATIONS - 1 || os_run_child(run_next, NULL, 0) == 0);
  barrier_wait(&gone);
  for (int t = 0; t < THREADS; t++) { (void)thread_join(threads[t]); }
  end_heaps(generation);
  check_all();
  return check_done();
}

int main(void) {
  for (int t = 0; t < THREADS; t++) {
    stacks[t] = os_memory(STACK_BYTES);
    CHECK(stacks[t] != NULL);
  }
  return run();
}
