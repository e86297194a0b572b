/* Times, in milliseconds. Works as C and as C++. */
#ifndef TEST_CLOCK_H
#define TEST_CLOCK_H

#include <errno.h>
#include <time.h>

static inline void sleep_ms(long ms) {
  struct timespec t = {ms / 1000, (ms % 1000) * 1000000L};
  while (nanosleep(&t, &t) != 0 && errno == EINTR) {}
}

static inline long now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

#endif
