/* test: not-emulated="it does not end when the first thread has" when=glibc timeout=30 */
/* main leaves by pthread_exit; other threads go on with what it allocated, and the last one ends
   the process. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

enum { BLOCKS = 3000, THREADS = 3 };
static unsigned char* block[BLOCKS];
static pthread_t main_thread;

static void* outlive(void* arg) {
  const int number = (int)(size_t)arg;
  if (number == 0) {
    pthread_join(main_thread, NULL);
  } else {
    sleep_ms(50);
  }
  bool fine = workout();
  for (int i = number; i < BLOCKS; i += THREADS) {
    fine &= block[i][0] == (unsigned char)i;
    block[i] = (unsigned char*)realloc(block[i], 2000);
    fine &= block[i] != NULL && block[i][0] == (unsigned char)i;
    free(block[i]);
  }
  CHECK(fine);
  CHECK(workout_in_thread());
  return NULL;
}

static void at_the_end(void) {
  if (!workout() || check_done() != 0) { _exit(1); }
}

static int child(void) {
  main_thread = pthread_self();
  atexit(at_the_end);
  for (int i = 0; i < BLOCKS; i++) {
    block[i] = (unsigned char*)malloc((size_t)i + 1);
    block[i][0] = (unsigned char)i;
  }
  for (size_t i = 0; i < THREADS; i++) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, outlive, (void*)i) == 0);
  }
  pthread_exit(NULL);
}

int main(void) {
  CHECK(in_child(child, 15) == 0);
  return check_done();
}
