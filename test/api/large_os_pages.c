/* test: env="MIMALLOC_ALLOW_LARGE_OS_PAGES=1 MIMALLOC_VERBOSE=1" stderr="2 MiB: . of 4 were had" when="whole"
   Who asks for large OS pages is told how many there were. */
#include "api.h"

enum { PATTERN_PAGES = 4 };

int main(void) {
  CHECK(mi_reserve_os_memory(PATTERN_PAGES * 2 * MIB, false, true) == 0);
  return check_done();
}
