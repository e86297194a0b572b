/* test: timeout=60 */
/* A chain of forks, each from a thread of its child; memory of all ancestors stays good and can be
   freed. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

enum { DEPTH = 12, BLOCKS = 400 };
static int depth;
static unsigned char* block[DEPTH + 1][BLOCKS];

static int descend(void);

static void* fork_from_thread(void* result) {
  *(int*)result = in_child(descend, 20);
  return NULL;
}

static int descend(void) {
  if (depth == DEPTH) { return workout() ? 0 : 1; }
  depth++;
  for (int i = 0; i < BLOCKS; i++) {
    block[depth][i] = (unsigned char*)malloc((size_t)i * 10 + 1);
    memset(block[depth][i], depth, (size_t)i * 10 + 1);
  }
  int result = 1;
  pthread_t thread;
  pthread_create(&thread, NULL, fork_from_thread, &result);
  pthread_join(thread, NULL);
  bool fine = result == 0;
  for (int d = 1; d <= depth; d++) {
    for (int i = 0; i < BLOCKS; i++) {
      fine &= block[d][i][i * 10] == d;
      free(block[d][i]);
    }
  }
  depth--;
  return fine && workout() ? 0 : 1;
}

/* A long line of generations, each forking from its only thread, keeps its size. */
static int generation(void) {
  if (depth == 60) { return 0; }
  depth++;
  const bool fine = workout();
  return fine && resident_kib() < 64 * 1024 ? in_child(generation, 20) : 1;
}

int main(void) {
  CHECK(in_child(descend, 30) == 0);
  CHECK(in_child(generation, 30) == 0);
  return check_done();
}
