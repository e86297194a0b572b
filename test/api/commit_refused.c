/* test: timeout=60 when="strict" env="MI_STRICT_COMMIT_MIB=64" (only this port refuses to commit) */
/* The system refuses to commit memory beyond 64 MiB: out of memory is NULL and ENOMEM, no block is
   lost, memory that went back while others took its share can be refused in its turn, and all works
   again once there is room. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "../check.h"
#include "mimalloc.h"

enum { MOST = 20000, LIMIT = 64 << 20 };
static uint8_t* blocks[MOST];

static bool holds(const uint8_t* p, size_t size, uint8_t value) {
  return p[0] == value && memcmp(p, p + 1, size - 1) == 0;
}

/* Until there is no memory; how many. */
static size_t fill(size_t size, bool zeroed) {
  size_t count = 0;
  for (; count < MOST; count++) {
    errno = 0;
    uint8_t* p = zeroed ? mi_zalloc(size) : mi_malloc(size);
    if (p == NULL) { break; }
    if (zeroed) { CHECK(holds(p, size, 0)); }
    memset(p, (int)(count % 251), size);
    blocks[count] = p;
  }
  CHECK(count < MOST && errno == ENOMEM);
  return count;
}

static void drop(size_t size, size_t count) {
  for (size_t i = 0; i < count; i++) {
    CHECK(holds(blocks[i], size, (uint8_t)(i % 251)));
    mi_free(blocks[i]);
  }
}

int main(void) {
  static const size_t sizes[] = {6000, 100000, 3 << 20, 40000, 9 << 20, 200000};
  for (int round = 0; round < 24; round++) {
    const size_t size = sizes[round % 6];
    const size_t count = fill(size, round % 2 == 1);
    CHECK(count * size <= LIMIT && count * size >= LIMIT / 4);
    drop(size, count);
    if (round % 3 == 0) { mi_collect(true); }
  }
  return check_done();
}
