/* For the tests: macOS has no barriers. */
#ifndef TEST_MACOS_BARRIER_H
#define TEST_MACOS_BARRIER_H

#include <pthread.h>

typedef struct pthread_barrier {
  pthread_mutex_t lock;
  pthread_cond_t done;
  unsigned count, missing, round;
} pthread_barrier_t;

static inline int pthread_barrier_init(pthread_barrier_t* b, const void* attributes,
                                       unsigned count) {
  (void)attributes;
  b->count = b->missing = count;
  b->round = 0;
  return pthread_mutex_init(&b->lock, NULL) | pthread_cond_init(&b->done, NULL);
}

static inline int pthread_barrier_destroy(pthread_barrier_t* b) {
  return pthread_cond_destroy(&b->done) | pthread_mutex_destroy(&b->lock);
}

static inline int pthread_barrier_wait(pthread_barrier_t* b) {
  pthread_mutex_lock(&b->lock);
  const unsigned round = b->round;
  if (--b->missing == 0) {
    b->missing = b->count;
    b->round++;
    pthread_cond_broadcast(&b->done);
  }
  while (b->round == round) { pthread_cond_wait(&b->done, &b->lock); }
  pthread_mutex_unlock(&b->lock);
  return 0;
}

#endif
