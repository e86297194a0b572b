/* test: timeout=60 when="linux|unix" not-emulated="the emulator ignores MADV_FREE" */
/* 256 MiB in blocks of 1 MiB, and of 24 KiB, freed by a process of one thread that then does
   nothing: the memory goes back. */
#define _GNU_SOURCE
#include "returned.h"

int main(void) {
  const size_t sizes[] = {1 << 20, 24 * 1024};
  for (int i = 0; i < 2; i++) {
    const size_t before = held_kib();
    const size_t full = burst(sizes[i]);
    CHECK(full > before + (size_t)BURST_MIB * 1024 * 9 / 10);
    CHECK(returned_in_time(before, full));
    CHECK(is_emulated() || thread_count() == 1);
  }
  CHECK(workout());
  return check_done();
}
