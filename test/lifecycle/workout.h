/* A short round through the whole malloc family with checked contents: "does everything still work
   here?" */
#ifndef TEST_WORKOUT_H
#define TEST_WORKOUT_H

#include "../posix/opaque.h"

#include <pthread.h>

/* One block of each magnitude at a time, resized and freed; then many small ones together. */
static inline bool workout(void) {
  for (size_t size = 0; size < 3000000; size = size * 4 + 1) {
    unsigned char* p = (unsigned char*)malloc(size);
    if (p == NULL || malloc_usable_size(p) < size) { return false; }
    const size_t head = size < 2000 ? size : 2000;
    pattern_fill(p, head, 7);
    p = (unsigned char*)realloc(p, size + size / 2 + 1);
    if (p == NULL || !pattern_holds(p, head, 7)) { return false; }
    memset(p, 0xcc, size);
    free(p);
    p = (unsigned char*)calloc(1, size);
    if (p == NULL || !all_zero(p, size)) { return false; }
    free(p);
    p = (unsigned char*)memalign(512, size);
    if (p == NULL || !is_aligned(p, 512)) { return false; }
    free(p);
  }
  enum { MANY = 300 };
  unsigned char* block[MANY];
  for (size_t i = 0; i < MANY; i++) {
    block[i] = (unsigned char*)malloc(i * 5 + 1);
    if (block[i] == NULL) { return false; }
    memset(block[i], (int)i, i * 5 + 1);
  }
  for (size_t i = 0; i < MANY; i++) {
    if (block[i][0] != (unsigned char)i || block[i][i * 5] != (unsigned char)i) { return false; }
    free(block[i]);
  }
  return true;
}

static inline void* workout_thread(void* result) {
  *(bool*)result = workout();
  return NULL;
}

/* The same in a fresh thread. */
static inline bool workout_in_thread(void) {
  pthread_t thread;
  bool fine = false;
  if (pthread_create(&thread, NULL, workout_thread, &fine) != 0) { return false; }
  pthread_join(thread, NULL);
  return fine;
}

/* Both, for in_child: 0 if all is well. */
static inline int workout_of_child(void) { return workout() && workout_in_thread() ? 0 : 1; }

#endif
