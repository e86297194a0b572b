/* test: timeout=120 */
/* Ten thousand threads, fifty at a time, each of which allocates, frees what another one left, and
   leaves something itself: the resident size and the number of mappings stay where they are, and at
   the end the memory goes back. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

enum { THREADS = 10000, TOGETHER = 50, BLOCKS = 40 };

static unsigned char* left[THREADS]; /* by each thread */

static size_t size_of_block(size_t i) { return i % 10 == 0 ? 40000 : i * 31 % 900 + 1; }

static void* run(void* arg) {
  const size_t self = (size_t)arg;
  unsigned char* block[BLOCKS];
  for (size_t i = 0; i < BLOCKS; i++) {
    block[i] = (unsigned char*)malloc(size_of_block(i));
    memset(block[i], (int)self, size_of_block(i));
  }
  if (self >= TOGETHER) {
    unsigned char* other = left[self - TOGETHER];
    CHECK(other[0] == (unsigned char)(self - TOGETHER));
    free(other);
  }
  left[self] = (unsigned char*)memset(malloc(1000), (int)self, 1000);
  for (size_t i = 0; i < BLOCKS; i++) {
    CHECK(block[i][0] == (unsigned char)self);
    free(block[i]);
  }
  return NULL;
}

static void run_group(size_t first, const pthread_attr_t* attributes) {
  pthread_t thread[TOGETHER];
  for (size_t i = 0; i < TOGETHER; i++) {
    if (pthread_create(&thread[i], attributes, run, (void*)(first + i)) != 0) {
      printf("skipped: fifty threads cannot be had here\n");
      fflush(NULL);
      _exit(0);
    }
  }
  for (size_t i = 0; i < TOGETHER; i++) { pthread_join(thread[i], NULL); }
}

int main(void) {
  pthread_attr_t small;
  size_t early = 0, mappings = 0;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 128 * 1024);
  for (size_t first = 0; first < THREADS; first += TOGETHER) {
    run_group(first, &small);
    if (first == TOGETHER * 20) { early = resident_kib(), mappings = mapping_count(); }
  }
  const size_t late = resident_kib();
  printf("%zu KiB and %zu mappings after a thousand, %zu KiB and %zu after ten thousand\n", early,
         mappings, late, mapping_count());
  CHECK(is_emulated() || late < early + 16 * 1024);
  CHECK(mapping_count() < mappings + 64);
  for (size_t i = THREADS - TOGETHER; i < THREADS; i++) { free(left[i]); }
  CHECK(workout());
  return check_done();
}
