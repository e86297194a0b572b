/* test: not-emulated="a fork next to other threads can leave the emulator locked" timeout=120 */
/* fork while other threads are being started and ended, allocating at both moments: no child may
   find a lock held by a thread that it does not have. Each child has eight seconds; a hang is an
   alarm, and that a failure. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

enum { CHURNERS = 3, FORKS = 1000, MOST_SECONDS = 40 };
static bool stop;
static pthread_key_t key;

static void late(void* p) { free(p); } /* allocator use from a TLS destructor, too */

static void* brief(void* arg) {
  pthread_setspecific(key, malloc(77));
  void* p = malloc(40000);
  free(malloc(10));
  free(p);
  return arg;
}

static void* churn(void* arg) {
  while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
    pthread_t thread[3];
    int n = 0;
    while (n < 3 && pthread_create(&thread[n], NULL, brief, NULL) == 0) { n++; }
    for (int i = 0; i < n; i++) { pthread_join(thread[i], NULL); }
  }
  return arg;
}

static int child(void) {
  void* p = malloc(100);
  void* q = malloc(100000);
  free(p);
  free(q);
  pthread_t thread;
  if (pthread_create(&thread, NULL, brief, NULL) != 0) { return 1; }
  pthread_join(thread, NULL);
  return p != NULL && q != NULL ? 0 : 1;
}

int main(void) {
  pthread_key_create(&key, late);
  pthread_t thread[CHURNERS];
  for (int i = 0; i < CHURNERS; i++) { pthread_create(&thread[i], NULL, churn, NULL); }
  const long end = now_ms() + MOST_SECONDS * 1000L;
  int forks = 0;
  int failed = 0;
  while (forks < FORKS && failed < 3 && now_ms() < end) {
    failed += in_child(child, 8) != 0;
    forks++;
  }
  printf("%d forks, %d failed\n", forks, failed);
  CHECK(failed == 0);
  __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
  for (int i = 0; i < CHURNERS; i++) { pthread_join(thread[i], NULL); }
  CHECK(workout());
  return check_done();
}
