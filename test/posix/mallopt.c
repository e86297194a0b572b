/* test: when=glibc timeout=20 */
/* mallopt answers 1 for what glibc knows, else 0; whatever is set, allocation goes on. */
#define _GNU_SOURCE
#include "../check.h"
#include "opaque.h"

static void allocation_works(void) {
  for (size_t size = 0; size < 3000000; size = size * 3 + 1) {
    void* p = malloc(size);
    CHECK(p != NULL);
    pattern_fill(p, size, 5);
    p = realloc(p, size * 2 + 1);
    CHECK(p != NULL && pattern_holds(p, size, 5));
    free(p);
    p = calloc(1, size);
    CHECK(p != NULL && all_zero(p, size));
    free(p);
  }
}

/* `ours` is the answer of our library. */
static void answers(int parameter, int value, int ours) {
  const int answer = mallopt(parameter, value);
  CHECK(getenv("LD_PRELOAD") != NULL ? answer == ours : answer == 0 || answer == 1);
  allocation_works();
}

/* Filling on allocation was accepted: then fresh blocks are filled, with the complement of the
   value. */
static void perturb(void) {
  if (mallopt(M_PERTURB, 0x5a) == 1) {
    unsigned char* p = (unsigned char*)malloc(5000);
    int filled = 0;
    for (int i = 0; i < 5000; i++) { filled += (p[i] == 0xa5); }
    CHECK(filled == 5000);
    free(p);
    allocation_works(); /* and calloc is still zero */
  }
  CHECK(mallopt(M_PERTURB, 0) == 1 || mallopt(M_PERTURB, 0) == 0);
}

int main(void) {
  answers(M_MXFAST, 64, 1);
  answers(M_MXFAST, 0, 1);
  CHECK(mallopt(M_MXFAST, 100000) == 0);
  answers(M_TRIM_THRESHOLD, 1 << 20, 1);
  answers(M_TRIM_THRESHOLD, -1, 1); /* never */
  answers(M_TOP_PAD, 1 << 16, 1);
  answers(M_MMAP_THRESHOLD, 1 << 18, 1);
  answers(M_MMAP_MAX, 100, 1);
  answers(M_CHECK_ACTION, 3, 1);
  answers(M_ARENA_TEST, 2, 1);
  answers(M_ARENA_MAX, 2, 1);
  answers(987654, 1, 0); /* no such parameter */
  answers(-987654, 1, 0);
  perturb();
  allocation_works();
  return check_done();
}
