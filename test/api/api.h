/* What the interface tests share: contents that can be verified, the resident size, and random
   numbers. */
#ifndef TEST_API_H
#define TEST_API_H

#include "../check.h"
#include "../random.h"
#include "sanitizer.h"

#include <errno.h>
#include <mimalloc-stats.h>
#include <mimalloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KIB = 1024, MIB = 1024 * 1024 };

/* CHECK that the expression holds and that it left this error number */
#define CHECK_ERRNO(cond, code) (errno = 0, CHECK(cond), CHECK(errno == (code)))

/* Sizes that no compiler sees, so that none warns of them or folds the call. */
static inline size_t size_too_large(void) {
  static volatile size_t size = SIZE_MAX / 2 + 1; /* PTRDIFF_MAX + 1 */
  return size;
}

static inline size_t size_largest(void) {
  static volatile size_t size = SIZE_MAX;
  return size;
}

static inline size_t alignment_invalid(void) { /* no power of two */
  static volatile size_t alignment = 48;
  return alignment;
}

static inline size_t count_overflowing(void) { /* times 16 it overflows, to a small product */
  static volatile size_t count = SIZE_MAX / 16 + 2;
  return count;
}

/* With what the calling thread has not told yet. */
static inline mi_stats_t stats_now(void) {
  mi_stats_t stats;
  memset(&stats, 0, sizeof(stats));
  stats.size = sizeof(stats), stats.version = MI_STAT_VERSION;
  mi_stats_merge();
  CHECK(mi_stats_get(&stats));
  CHECK(stats.size == sizeof(stats) && stats.version == MI_STAT_VERSION);
  return stats;
}

static inline unsigned char pattern_at(size_t i, unsigned seed) {
  return (unsigned char)(((i + (i >> 8)) * 6 + seed * 30) | 1); /* never 0 */
}

static inline void fill(void* p, size_t n, unsigned seed) {
  unsigned char* bytes = (unsigned char*)p;
  for (size_t i = 0; i < n; i++) { bytes[i] = pattern_at(i, seed); }
}

static inline bool is_filled(const void* p, size_t n, unsigned seed) {
  const unsigned char* bytes = (const unsigned char*)p;
  unsigned difference = 0; /* no early end: the loop is vectorised */
  for (size_t i = 0; i < n; i++) { difference |= (unsigned)(bytes[i] ^ pattern_at(i, seed)); }
  return difference == 0;
}

static inline bool is_zero(const void* p, size_t n) {
  const unsigned char* bytes = (const unsigned char*)p;
  return n == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, n - 1) == 0);
}

/* The compiler believes what attributes promise of a pointer; a test must not. */
static inline uintptr_t address_of(const void* p) {
  volatile uintptr_t address = (uintptr_t)p;
  return address;
}

static inline bool is_aligned(const void* p, size_t alignment) {
  return (address_of(p) & (alignment - 1)) == 0;
}

/* Of /proc/self/status, which counts in KiB, whatever an emulator says of OS pages. */
static inline size_t status_bytes(const char* field) {
  unsigned long kib = 0;
  char line[128];
  FILE* f = fopen("/proc/self/status", "r");
  while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
    if (strncmp(line, field, strlen(field)) == 0 &&
        sscanf(line + strlen(field), ": %lu", &kib) == 1) {
      break;
    }
  }
  if (f != NULL) { fclose(f); }
  return (size_t)kib * 1024;
}

/* 0 under a sanitizer, whose own memory is no business of ours: no ceiling is reached then. */
static inline size_t resident_bytes(void) {
  return UNDER_SANITIZER != 0 ? 0 : status_bytes("VmRSS");
}

#endif
