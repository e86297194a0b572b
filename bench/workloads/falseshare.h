/* What both workloads of false sharing measure: a small block that is written to many times. */
#ifndef MI_BENCH_FALSESHARE_H
#define MI_BENCH_FALSESHARE_H

#include "workload.h"

enum { BYTES = 8, WRITES = 100 };

static inline void write_to_blocks(long rounds) {
  for (long i = rounds; i > 0; i--) {
    volatile unsigned char* p = take(BYTES);
    for (int k = 0; k < BYTES; k++) { p[k] = (unsigned char)i; }
    for (int w = 0; w < WRITES; w++) {
      for (int k = 0; k < BYTES; k++) { p[k]++; }
    }
    for (int k = 0; k < BYTES; k++) { CHECK(p[k] == (unsigned char)(i + WRITES)); }
    give((void*)(uintptr_t)p, BYTES);
  }
}

#endif
