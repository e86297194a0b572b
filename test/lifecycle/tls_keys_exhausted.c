/* test: timeout=60 */
/* All keys for thread-specific data are taken by others before the first thread starts: threads
   still work, and what they leave behind is still found again. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

enum { THREADS = 600, KEPT = 20 };

/* Leaves blocks for others to free, and frees blocks of its own: about 1 MiB of traffic each. */
static void* run(void* kept) {
  void** keep = (void**)kept;
  for (int i = 0; i < 1000; i++) {
    void* p = malloc(1000);
    memset(p, 1, 1000);
    if (i < KEPT) {
      keep[i] = p;
    } else {
      free(p);
    }
  }
  return NULL;
}

int main(void) {
  pthread_key_t key;
  int keys = 0;
  while (keys < 5000 && pthread_key_create(&key, NULL) == 0) { keys++; }
  printf("%d keys\n", keys);
  size_t early = 0;
  for (int i = 0; i < THREADS; i++) {
    void* kept[2][KEPT];
    pthread_t thread[2];
    for (int t = 0; t < 2; t++) { CHECK(pthread_create(&thread[t], NULL, run, kept[t]) == 0); }
    for (int t = 0; t < 2; t++) {
      pthread_join(thread[t], NULL);
      for (int k = 0; k < KEPT; k++) { free(kept[t][k]); }
    }
    if (i == 50) { early = resident_kib(); }
  }
  CHECK(is_emulated() || resident_kib() < early + 16 * 1024);
  CHECK(workout_in_thread());
  return check_done();
}
