/* test: timeout=60 when="release linux threads"
   A program that builds 6 to 9 MB of small blocks and frees them in another order, again and again,
   keeps its memory: pages of which few blocks are left get holes at frees, but not where what went
   so is wanted again with the whole page a moment later. */
#include "api.h"

#include <sys/wait.h>
#include <unistd.h>

/* Calls in each round, on average: there were 24 to 160 with 7 and 9 MB. */
enum { ROUNDS = 200, CALLS_MOST = 20 };

static void* blocks[9 * 1000 * 1000 / 1000];
static unsigned order[sizeof(blocks) / sizeof(blocks[0])];

static int64_t purge_calls(void) { return stats_now().purge_calls.total; }

static void test_swing(size_t megabytes, size_t size) {
  const size_t count = megabytes * 1000 * 1000 / size;
  shuffle(order, count);
  const int64_t before = purge_calls();
  for (int round = 0; round < ROUNDS; round++) {
    for (size_t i = 0; i < count; i++) {
      blocks[i] = mi_malloc(size);
      memset(blocks[i], 1, 1);
    }
    for (size_t i = 0; i < count; i++) { mi_free(blocks[order[i]]); }
  }
  const int64_t calls = purge_calls() - before;
  printf("%zu MB, blocks of %zu bytes: %.1f calls a round\n", megabytes, size,
         (double)calls / ROUNDS);
  CHECK(calls <= ROUNDS * CALLS_MOST);
}

/* Each in a process that has not learned anything yet. */
int main(void) {
  static const size_t sizes[] = {1000, 2000, 4096};
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
    for (size_t megabytes = 6; megabytes <= 9; megabytes++) {
      const pid_t child = fork();
      if (child == 0) {
        test_swing(megabytes, sizes[i]);
        fflush(stdout);
        _exit(check_done());
      }
      int status = 0;
      CHECK(child > 0 && waitpid(child, &status, 0) == child);
      CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
  }
  return check_done();
}
