/* test: timeout=20 */
/* errno is zero when main starts (C11 7.5p3), and in a new thread, and the first allocations leave
   it so. */
#define _GNU_SOURCE
#include "../check.h"
#include "workout.h"

static int errno_in_thread = -1;

static void* in_thread(void* unused) {
  errno_in_thread = errno;
  return unused;
}

int main(void) {
  const int at_main = errno;
  CHECK(at_main == 0);
  free(malloc(1));
  free(malloc(10000000));
  CHECK(errno == 0);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, in_thread, NULL) == 0);
  pthread_join(thread, NULL);
  CHECK(errno_in_thread == 0);
  return check_done();
}
