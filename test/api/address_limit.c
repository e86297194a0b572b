/* test: timeout=60 when="release linux" not-emulated="the emulator limits its own addresses, not those of the program"
   Under a limit on addresses nearly all that it leaves can be had as blocks. When it is reached a
   request that is refused asks for memory twice, and takes nothing from pages that are partly in
   use. Memory that is free again can be had. */
#include "api.h"
#include "../lifecycle/process.h"

#include <sys/resource.h>

enum { LIMIT = 64 * MIB, SIZE = 1000, MOST = LIMIT / SIZE, CALLS = 1000 };

static void* blocks[MOST];

static int64_t calls_for_memory(void) { return stats_now().mmap_calls.total; }

static size_t take_all(void) {
  const size_t room = LIMIT - virtual_kib() * KIB;
  size_t count = 0;
  while (count < MOST && (blocks[count] = mi_malloc(SIZE)) != NULL) {
    memset(blocks[count++], 1, SIZE);
  }
  printf("%zu KiB of %zu in blocks of %d bytes\n", count * SIZE / KIB, room / KIB, SIZE);
  CHECK(count * SIZE >= room / 8 * 7);
  return count;
}

static void test_refused(void) {
  const size_t resident = resident_kib();
  const int64_t before = calls_for_memory();
  for (int i = 0; i < CALLS; i++) { CHECK(mi_malloc(LIMIT / 8) == NULL && errno == ENOMEM); }
  const int64_t calls = calls_for_memory() - before;
  printf("%d calls for memory in %d refused requests\n", (int)calls, CALLS);
  CHECK(calls < 3 * CALLS);
  CHECK(resident_kib() >= resident / 4 * 3);
}

static int under_limit(void) {
  const size_t count = take_all();
  for (size_t i = 0; i < count; i++) {
    if (i % 8 != 0) { mi_free(blocks[i]), blocks[i] = NULL; }
  }
  test_refused();
  for (size_t i = 0; i < count; i++) { mi_free(blocks[i]); }
  void* large = mi_malloc(LIMIT / 8);
  CHECK(large != NULL);
  mi_free(large);
  return check_done();
}

static int start_under_limit(void) {
  char* const again[] = {(char*)(size_t)"address_limit", (char*)(size_t)"limited", NULL};
  if (setrlimit(RLIMIT_AS, &(struct rlimit){LIMIT, LIMIT}) != 0) { return 88; }
  execv("/proc/self/exe", again);
  return 77;
}

int main(int argc, char** argv) {
  (void)argv;
  if (argc > 1) { return under_limit(); }
  CHECK(in_child(start_under_limit, 50) == 0);
  return check_done();
}
