/* test: not-emulated-32="QEMU 7 unmaps what lies behind a mapping that mremap shortens" timeout=60 when="linux|unix|strict|windows|macos"
   A large block that shrinks gives back what was counted for it. */
#include "api.h"

int main(void) {
  const mi_stats_t before = stats_now();
  for (int i = 0; i < 3; i++) {
    void* p = mi_malloc(40 * MIB);
    p = mi_realloc(p, 5 * MIB);
    CHECK(p != NULL);
    mi_free(p);
  }
  const mi_stats_t after = stats_now();
  CHECK(after.committed.current <= before.committed.current + 16 * MIB);
  CHECK(after.reserved.current <= before.reserved.current + 24 * MIB);
  return check_done();
}
