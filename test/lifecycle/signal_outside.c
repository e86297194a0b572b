/* test: timeout=60 */
/* Signal handlers that allocate, as those may that see to it that they never interrupt the
   allocator: here they do so only while the program computes. Handlers that interrupt malloc and
   allocate are promised nothing by anyone. In the first thread and in three others. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

enum { THREADS = 3, HANDLED = 150, KEPT = 20, MOST_SECONDS = 40 };

static __thread volatile sig_atomic_t outside;
static __thread unsigned char* volatile kept[KEPT];
static __thread volatile int at;
static int working = THREADS;

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
  errno = saved;
}

/* Until a handler has allocated, mostly: a busy machine may be slow to send signals. */
static void compute(void) {
  const int before = at;
  volatile unsigned sum = 0;
  outside = 1;
  for (unsigned i = 0; i < 20 * 1000 * 1000 && at == before; i++) { sum += i; }
  outside = 0;
}

static void free_kept(void) {
  CHECK(at >= HANDLED);
  for (int i = 0; i < KEPT; i++) {
    free(kept[i]);
    kept[i] = NULL;
  }
}

static void* work(void* unused) {
  const long end = now_ms() + MOST_SECONDS * 1000L;
  bool fine = true;
  while (at < HANDLED && now_ms() < end) {
    compute();
    if (at % 8 == 0) { fine &= workout(); }
  }
  free_kept();
  CHECK(fine);
  __atomic_sub_fetch(&working, 1, __ATOMIC_RELAXED);
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
  while (at < HANDLED || __atomic_load_n(&working, __ATOMIC_RELAXED) > 0) {
    for (int i = 0; i < THREADS; i++) { pthread_kill(thread[i], SIGUSR1); }
    outside = 1;
    pthread_kill(pthread_self(), SIGUSR1);
    outside = 0;
    free(malloc(3000));
  }
  for (int i = 0; i < THREADS; i++) { pthread_join(thread[i], NULL); }
  free_kept();
  CHECK(workout());
  return check_done();
}
