/* test: timeout=60 */
/* Signal handlers that allocate, as those may that see to it that they never interrupt the
   allocator: here they do so only while the program computes. Handlers that interrupt malloc and
   allocate are promised nothing by anyone. In the first thread and in three others. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

enum { THREADS = 3, HANDLED = 150, KEPT = 20, MOST_SECONDS = 30 };

static __thread volatile sig_atomic_t outside;
static __thread unsigned char* volatile kept[KEPT];
static __thread volatile int at;
static int handled;

static void allocate_in_handler(int number) {
  (void)number;
  if (!outside) { return; }
  const int saved = errno;
  const int i = at;
  const size_t size = (size_t)(i * 3301) % 70000 + 1;
  free(kept[i % KEPT]);
  unsigned char* p = (unsigned char*)malloc(size);
  if (p != NULL) { p[0] = p[size - 1] = (unsigned char)i; }
  kept[i % KEPT] = p;
  at = i + 1;
  __atomic_add_fetch(&handled, 1, __ATOMIC_RELAXED);
  errno = saved;
}

static void compute(void) {
  volatile unsigned sum = 0;
  outside = 1;
  for (unsigned i = 0; i < 200000; i++) { sum += i; }
  outside = 0;
}

static void* work(void* unused) {
  const long end = now_ms() + MOST_SECONDS * 1000L;
  bool fine = true;
  while (__atomic_load_n(&handled, __ATOMIC_RELAXED) < HANDLED && now_ms() < end) {
    compute();
    fine &= workout();
  }
  for (int i = 0; i < KEPT; i++) {
    free(kept[i]);
    kept[i] = NULL;
  }
  CHECK(fine);
  return unused;
}

int main(void) {
  struct sigaction action;
  pthread_t thread[THREADS];
  memset(&action, 0, sizeof(action));
  action.sa_handler = allocate_in_handler;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, NULL);
  for (int i = 0; i < THREADS; i++) { CHECK(pthread_create(&thread[i], NULL, work, NULL) == 0); }
  const long end = now_ms() + MOST_SECONDS * 1000L;
  while (__atomic_load_n(&handled, __ATOMIC_RELAXED) < HANDLED && now_ms() < end) {
    for (int i = 0; i < THREADS; i++) { pthread_kill(thread[i], SIGUSR1); }
    pthread_kill(pthread_self(), SIGUSR1);
    compute();
    free(malloc(3000));
  }
  for (int i = 0; i < THREADS; i++) { pthread_join(thread[i], NULL); }
  work(NULL);
  printf("%d handlers allocated\n", handled);
  CHECK(handled >= HANDLED);
  CHECK(workout());
  return check_done();
}
