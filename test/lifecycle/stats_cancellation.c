/* test: when=glibc timeout=30 */
/* malloc_stats with a cancellation request pending: it may write, but it must not be ended half-way
   with a lock held. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

static bool reached;

static void* print_statistics(void* unused) {
  pthread_cancel(pthread_self());
  malloc_stats();
  reached = true;
  pthread_testcancel();
  return unused;
}

int main(void) {
  fflush(NULL);
  const int saved = dup(2);
  const int null_fd = open("/dev/null", O_WRONLY);
  dup2(null_fd, 2);
  for (int i = 0; i < 10; i++) {
    pthread_t thread;
    reached = false;
    CHECK(pthread_create(&thread, NULL, print_statistics, NULL) == 0);
    pthread_join(thread, NULL);
    malloc_stats(); /* no lock was left behind */
  }
  dup2(saved, 2);
  CHECK(reached);
  CHECK(workout());
  return check_done();
}
