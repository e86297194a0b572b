/* test: timeout=60 */
/* Two thousand threads one after the other, each allocating up to a megabyte, some leaving blocks
   behind that main frees later: the resident size and the number of mappings stay as they are. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

enum { THREADS = 2000, KEPT = 8 };

static void* run(void* kept) {
  void** keep = (void**)kept;
  void* block[200];
  for (int i = 0; i < 200; i++) {
    const size_t size = (size_t)(i % 20 + 1) * 250;
    block[i] = malloc(size);
    memset(block[i], i, size);
  }
  for (int i = 0; i < 200; i++) {
    if (i < KEPT) {
      keep[i] = block[i];
    } else {
      free(block[i]);
    }
  }
  free(malloc(1 << 20));
  return NULL;
}

int main(void) {
  static void* kept[50][KEPT];
  size_t early = 0;
  size_t mappings = 0;
  for (int i = 0; i < THREADS; i++) {
    void** slot = kept[i % 50];
    for (int k = 0; k < KEPT; k++) { free(slot[k]); }
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, run, slot) == 0);
    pthread_join(thread, NULL);
    if (i == 200) { early = resident_kib(), mappings = mapping_count(); }
  }
  printf("%zu KiB early, %zu KiB at the end\n", early, resident_kib());
  CHECK(is_emulated() || resident_kib() < early + 4 * 1024);
  CHECK(mapping_count() < mappings + 32);
  return check_done();
}
