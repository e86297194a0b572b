// bench: micro, patterns of malloc and free whose instructions and cache misses are counted
//   patterns PATTERN SIZE COUNT
// An operation is a malloc and a free. The difference between two counts is the cost of the
// operations alone, with about 13 instructions for the loop and the calls. Blocks are not touched:
// what the program does with them is not counted.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 5000, MANY = 100000, BATCH = 1000, FEW = 50 };

static void* slots[MANY];

// As many blocks as stay below 256 MiB, so that large sizes fit any machine.
static int at_most(int blocks, size_t size) {
  const size_t fit = ((size_t)256 << 20) / (size > 0 ? size : 1);
  return fit < (size_t)blocks ? (fit > 0 ? (int)fit : 1) : blocks;
}

static void* take(size_t size) {
  void* p = malloc(size);
  __asm__ volatile("" : : "r"(p) : "memory");
  return p;
}

static void pair(size_t size, long count) {
  for (long i = 0; i < count; i++) { free(take(size)); }
}

// A block that is aligned to its size, a power of two.
static void aligned(size_t size, long count) {
  for (long i = 0; i < count; i++) {
    void* p = NULL;
    if (posix_memalign(&p, size, size) != 0) { abort(); }
    __asm__ volatile("" : : "r"(p) : "memory");
    free(p);
  }
}

static void batch_of(int blocks, size_t size, long count) {
  const int live = at_most(blocks, size);
  for (long i = 0; i < count / live; i++) {
    for (int j = 0; j < live; j++) { slots[j] = take(size); }
    for (int j = 0; j < live; j++) { free(slots[j]); }
  }
}

static void batch(size_t size, long count) { batch_of(BATCH, size, count); }
static void few(size_t size, long count) { batch_of(FEW, size, count); }

static void replace_among(int blocks, size_t size, long count) {
  const int live = at_most(blocks, size);
  unsigned random = 1;
  for (int j = 0; j < live; j++) { slots[j] = take(size); }
  for (long i = 0; i < count; i++) {
    random = random * 1103515245u + 12345u;
    const unsigned j = (random >> 8) % (unsigned)live;
    free(slots[j]);
    slots[j] = take(size);
  }
}

static void replace(size_t size, long count) { replace_among(SLOTS, size, count); }

static void spread(size_t size, long count) { replace_among(MANY, size, count); }

static void* free_all(void* count) {
  for (int j = 0; j < *(int*)count; j++) { free(slots[j]); }
  return NULL;
}

// One thread allocates, another frees; a new one each time, which costs 1 or 2 per small block.
static void remote(size_t size, long count) {
  int live = at_most(SLOTS, size);
  for (long i = 0; i < count / live; i++) {
    pthread_t thread;
    for (int j = 0; j < live; j++) { slots[j] = take(size); }
    if (pthread_create(&thread, NULL, free_all, &live) != 0) { abort(); }
    pthread_join(thread, NULL);
  }
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(size_t size, long count);
  } patterns[] = {{"pair", pair},       {"aligned", aligned}, {"batch", batch},  {"few", few},
                  {"replace", replace}, {"spread", spread},   {"remote", remote}};
  for (size_t i = 0; argc == 4 && i < sizeof(patterns) / sizeof(patterns[0]); i++) {
    if (strcmp(argv[1], patterns[i].name) == 0) {
      patterns[i].run((size_t)atol(argv[2]), atol(argv[3]));
      return 0;
    }
  }
  fprintf(stderr, "usage: patterns pair|aligned|batch|few|replace|spread|remote SIZE COUNT\n");
  return 2;
}
