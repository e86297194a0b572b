// Patterns whose instructions are counted: `patterns PATTERN SIZE COUNT`. The difference between
// two counts is the cost of the operations alone.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 5000, BATCH = 1000 };

static void* slots[SLOTS];

static void* take(size_t size) {
  void* p = malloc(size);
  __asm__ volatile("" : : "r"(p) : "memory");
  return p;
}

static void pair(size_t size, long count) {
  for (long i = 0; i < count; i++) { free(take(size)); }
}

static void batch(size_t size, long count) {
  for (long i = 0; i < count / BATCH; i++) {
    for (int j = 0; j < BATCH; j++) { slots[j] = take(size); }
    for (int j = 0; j < BATCH; j++) { free(slots[j]); }
  }
}

static void replace(size_t size, long count) {
  unsigned random = 1;
  for (int j = 0; j < SLOTS; j++) { slots[j] = take(size); }
  for (long i = 0; i < count; i++) {
    random = random * 1103515245u + 12345u;
    const unsigned j = (random >> 8) % SLOTS;
    free(slots[j]);
    slots[j] = take(size);
  }
}

static void* free_all(void* unused) {
  for (int j = 0; j < SLOTS; j++) { free(slots[j]); }
  return unused;
}

// One thread allocates, another frees.
static void handed_over(size_t size, long count) {
  for (long i = 0; i < count / SLOTS; i++) {
    pthread_t thread;
    for (int j = 0; j < SLOTS; j++) { slots[j] = take(size); }
    if (pthread_create(&thread, NULL, free_all, NULL) != 0) { abort(); }
    pthread_join(thread, NULL);
  }
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(size_t size, long count);
  } patterns[] = {{"pair", pair}, {"batch", batch}, {"replace", replace}, {"remote", handed_over}};
  for (size_t i = 0; argc == 4 && i < sizeof(patterns) / sizeof(patterns[0]); i++) {
    if (strcmp(argv[1], patterns[i].name) == 0) {
      patterns[i].run((size_t)atol(argv[2]), atol(argv[3]));
      return 0;
    }
  }
  fprintf(stderr, "usage: patterns pair|batch|replace|remote SIZE COUNT\n");
  return 2;
}
