/* test: timeout=60 */
/* exit, quick_exit and _exit while four threads are inside the allocator: 40 times each way, no
   hang, no crash. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

enum { THREADS = 4, EXITS = 40 };
static int running;

static void* allocate_forever(void* arg) {
  unsigned random = (unsigned)(size_t)arg + 1;
  __atomic_add_fetch(&running, 1, __ATOMIC_RELAXED);
  for (;;) {
    void* p[50];
    for (int i = 0; i < 50; i++) {
      random = random * 1664525u + 1013904223u;
      p[i] = malloc(random % 50 == 0 ? 500000 : (random >> 8) % 2000);
    }
    for (int i = 0; i < 50; i++) { free(p[i]); }
  }
  return NULL;
}

static void at_the_end(void) {
  void* p = malloc(1000);
  free(p);
}
__attribute__((destructor(101))) static void at_the_very_end(void) { at_the_end(); }

static void start_threads(void) {
  for (size_t i = 0; i < THREADS; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, allocate_forever, (void*)i);
  }
  while (__atomic_load_n(&running, __ATOMIC_RELAXED) < THREADS) { sleep_ms(1); }
}

static void end_this_way(int way, int status) {
  switch (way) {
    case 0: exit(status);
    case 1: quick_exit(status);
    default: _exit(status);
  }
}

int main(void) {
  fflush(NULL);
  for (int way = 0; way < 3; way++) {
    for (int i = 0; i < EXITS; i++) {
      const pid_t pid = fork();
      if (pid == 0) {
        alarm(8);
        atexit(at_the_end);
        at_quick_exit(at_the_end);
        start_threads();
        end_this_way(way, 9);
      }
      CHECK(child_result(pid) == 9);
    }
  }
  return check_done();
}
