/* test: timeout=60 when="linux|unix" */
/* The system refuses to take memory back or move it: madvise, munmap, mremap and mprotect fail,
   with ENOMEM or EINVAL. Then address space may be lost, but contents never, calloc is zero, and
   free keeps errno. */
#define _GNU_SOURCE
#include "filter.h"

#include "../check.h"
#include "process.h"
#include "workout.h"

static const long release_calls[] = {SYS_madvise, SYS_munmap, SYS_mremap, SYS_process_madvise};
static const long all_calls[] = {SYS_madvise, SYS_munmap, SYS_mremap, SYS_process_madvise,
                                 SYS_mprotect};
static const long* calls;
static int count;
static int error;

enum { BLOCKS = 300 };

static void dirty_free_calloc(size_t size) {
  static unsigned char* block[BLOCKS];
  const int n = size > 100000 ? 6 : BLOCKS;
  for (int i = 0; i < n; i++) {
    block[i] = (unsigned char*)malloc(size);
    CHECK(block[i] != NULL);
    memset(block[i], 0xbb, malloc_usable_size(block[i]));
  }
  for (int i = 0; i < n; i++) {
    errno = 4711;
    free(block[i]);
    CHECK(errno == 4711);
  }
  malloc_trim(0);
  for (int i = 0; i < n; i++) {
    block[i] = (unsigned char*)calloc(1, size);
    CHECK(block[i] != NULL && all_zero(block[i], size));
    memset(block[i], 0xaa, size);
  }
  for (int i = 0; i < n; i++) {
    block[i] = (unsigned char*)realloc(block[i], size * 2);
    CHECK(block[i] != NULL && block[i][0] == 0xaa && block[i][size - 1] == 0xaa);
    block[i] = (unsigned char*)realloc(block[i], size / 2 + 1);
    CHECK(block[i] != NULL && block[i][size / 2] == 0xaa);
    free(block[i]);
  }
}

/* Of pages of which a block in ten is in use the system keeps what none touches. */
static void sparse_free_calloc(size_t size) {
  static unsigned char* block[BLOCKS];
  for (int i = 0; i < BLOCKS; i++) {
    CHECK((block[i] = (unsigned char*)malloc(size)) != NULL);
    memset(block[i], 0xbb, size);
  }
  for (int i = 0; i < BLOCKS; i++) {
    if (i % 10 != 0) { free(block[i]); }
  }
  malloc_trim(0);
  for (int i = 0; i < BLOCKS; i++) {
    if (i % 10 != 0) { block[i] = (unsigned char*)calloc(1, size); }
    CHECK(block[i] != NULL && block[i][0] == (i % 10 == 0 ? 0xbb : 0));
    CHECK(block[i][size - 1] == block[i][0]);
  }
  for (int i = 0; i < BLOCKS; i++) { free(block[i]); }
}

static int child(void) {
  dirty_free_calloc(5000);
  if (!filter_calls(calls, count, error)) { return skip("no seccomp filters here"); }
  for (int round = 0; round < 2; round++) {
    for (size_t size = 40; size < 20000000; size *= 8) { dirty_free_calloc(size); }
    for (size_t size = 500; size < 32000; size *= 2) { sparse_free_calloc(size); }
    /* past the delay after which idle memory goes back */
    if (error == EINVAL && round == 0) { sleep_ms(1200); }
  }
  CHECK(workout());
  return check_done();
}

static void refuse(const long* which, int n, int with) {
  calls = which;
  count = n;
  error = with;
  CHECK(in_child(child, 20) == 0);
}

int main(void) {
  refuse(release_calls, 4, ENOMEM);
  refuse(release_calls, 4, EINVAL);
  refuse(all_calls, 5, ENOMEM); /* all of it fails: less works, but what works is right */
  return check_done();
}
