/* test: timeout=60 only=preload */
/* 256 MiB in blocks of 100 bytes, freed by a process of one thread that then does nothing: the
   memory goes back. glibc keeps blocks this small in lists of their own until called again. */
#define _GNU_SOURCE
#include "returned.h"

int main(void) {
  const size_t before = held_kib();
  const size_t full = burst(100);
  CHECK(full > before + (size_t)BURST_MIB * 1024 * 9 / 10);
  CHECK(returned_in_time(before, full));
  CHECK(is_emulated() || thread_count() == 1);
  CHECK(workout());
  return check_done();
}
