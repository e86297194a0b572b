/* test: timeout=20 */
/* Threads with the least stack there is (PTHREAD_STACK_MIN) use the whole family. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

#include <limits.h>

static void* run(void* arg) {
  bool* fine = (bool*)arg;
  for (int round = 0; round < 3; round++) {
    void* last = NULL;
    for (size_t size = 0; size < 2000000; size = size * 5 + 1) {
      unsigned char* p = (unsigned char*)calloc(1, size);
      unsigned char* q = (unsigned char*)memalign(1024, size);
      *fine &= p != NULL && q != NULL;
      p = (unsigned char*)realloc(p, size * 2 + 1);
      *fine &= p != NULL;
      p[size * 2] = 1;
      free(q);
      free(last);
      last = p;
    }
    free(last);
    *fine &= malloc(SIZE_MAX) == NULL;
    *fine &= malloc_trim(0) >= 0;
  }
  return NULL;
}

int main(void) {
  pthread_attr_t least;
  pthread_attr_init(&least);
  CHECK(pthread_attr_setstacksize(&least, (size_t)sysconf(_SC_THREAD_STACK_MIN)) == 0);
  for (int i = 0; i < 10; i++) {
    bool fine = true;
    pthread_t thread;
    CHECK(pthread_create(&thread, &least, run, &fine) == 0);
    pthread_join(thread, NULL);
    CHECK(fine);
  }
  return check_done();
}
