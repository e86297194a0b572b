/* What the stress programs share: arguments (threads, iterations, seed), blocks with verifiable
   contents, the resident size. Every program prints its seed; with the same arguments it does the
   same, up to the order that threads run in. */
#ifndef TEST_STRESS_H
#define TEST_STRESS_H

#include "../check.h"
#include "../random.h"
#include "../api/sanitizer.h"

#include <mimalloc-stats.h>
#include <mimalloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { STRESS_KIB = 1024, STRESS_MIB = 1024 * 1024, STRESS_MAX_THREADS = 128 };

typedef struct {
  size_t threads, iterations;
  uint64_t seed;
} stress_args_t;

/* Under the sanitizer a tenth of the default iterations: it is that much slower. */
static inline stress_args_t stress_args(int argc, char** argv, size_t threads, size_t iterations) {
  stress_args_t a = {.threads = threads, .iterations = iterations, .seed = 20260417};
  if (UNDER_SANITIZER != 0) { a.iterations = iterations / 10 + 1; }
  if (argc > 1) { a.threads = strtoul(argv[1], NULL, 10); }
  if (argc > 2) { a.iterations = strtoul(argv[2], NULL, 10); }
  if (argc > 3) { a.seed = strtoull(argv[3], NULL, 10); }
  if (a.threads == 0 || a.threads > STRESS_MAX_THREADS || a.seed == 0) {
    fprintf(stderr, "usage: %s [threads up to %d] [iterations] [seed not 0]\n", argv[0],
            (int)STRESS_MAX_THREADS);
    exit(2);
  }
  printf("%zu threads, %zu iterations, seed %llu\n", a.threads, a.iterations,
         (unsigned long long)a.seed);
  fflush(stdout);
  return a;
}

/* Each thread has its own sequence. */
static inline uint64_t stress_seed(uint64_t seed, size_t thread) {
  uint64_t state = seed + (thread + 1) * UINT64_C(0x9E3779B97F4A7C15);
  random_next(&state);
  return state == 0 ? 1 : state;
}

/* Small ones mostly, now and then a large one: log-uniform from 1 to 2^bits. */
static inline size_t stress_size(uint64_t* state, unsigned bits) {
  return 1 + random_below(state, (size_t)2 << random_below(state, bits));
}

/* Contents from a tag: every byte of small blocks, one in 509 and the last of larger ones, so that
   the time is spent in the allocator. */
static inline unsigned char stress_byte(size_t i, size_t tag) {
  return (unsigned char)(i * 7 + (i >> 8) + tag * 31 + 1);
}

static inline void stress_fill(void* p, size_t size, size_t tag) {
  unsigned char* bytes = (unsigned char*)p;
  const size_t step = size <= 256 ? 1 : 509;
  for (size_t i = 0; i < size; i += step) { bytes[i] = stress_byte(i, tag); }
  bytes[size - 1] = stress_byte(size - 1, tag);
}

static inline bool stress_intact(const void* p, size_t size, size_t tag) {
  const unsigned char* bytes = (const unsigned char*)p;
  const size_t step = size <= 256 ? 1 : 509;
  for (size_t i = 0; i < size; i += step) {
    if (bytes[i] != stress_byte(i, tag)) { return false; }
  }
  return bytes[size - 1] == stress_byte(size - 1, tag);
}

/* A block that says what is in it, for handing between threads. */
typedef struct parcel_s {
  struct parcel_s* next;
  size_t size, tag;
} parcel_t;

static inline parcel_t* parcel_new(mi_heap_t* heap, size_t payload, size_t tag) {
  const size_t size = sizeof(parcel_t) + payload + 1;
  parcel_t* p = (parcel_t*)(heap == NULL ? mi_malloc(size) : mi_heap_malloc(heap, size));
  CHECK(p != NULL);
  if (p == NULL) { exit(check_done()); }
  *p = (parcel_t){.next = NULL, .size = payload + 1, .tag = tag};
  stress_fill(p + 1, p->size, tag);
  return p;
}

static inline void parcel_check(const parcel_t* p) { CHECK(stress_intact(p + 1, p->size, p->tag)); }

static inline void parcel_free(parcel_t* p) {
  if (p != NULL) {
    parcel_check(p);
    mi_free(p);
  }
}

/* An emulator has memory of its own, and more with each thread that ends and with each fork (QEMU
   300 KiB for a thread on AArch64): there it is what the library has committed. */
static inline bool stress_is_emulated(void) { return getenv("MI_EMULATED") != NULL; }

#ifdef __wasm__ /* where nothing goes back: what pages have */

static inline mi_stat_count_t stress_pages(void) {
  mi_stats_t_decl(stats);
  if (!mi_stats_get(&stats)) { exit(2); }
  return stats.page_committed;
}

static inline size_t stress_resident(void) { return (size_t)stress_pages().current; }
static inline size_t stress_peak_resident(void) { return (size_t)stress_pages().peak; }

#else

static inline size_t stress_resident(void) {
  unsigned long kib = 0;
  char line[128];
  size_t resident = 0, committed = 0;
  mi_process_info(NULL, NULL, NULL, &resident, NULL, &committed, NULL, NULL);
  if (stress_is_emulated()) { return committed; }
  FILE* f = fopen("/proc/self/status", "r");
  if (f == NULL) { return resident; }
  while (fgets(line, sizeof(line), f) != NULL) {
    if (sscanf(line, "VmRSS: %lu", &kib) == 1) { break; }
  }
  fclose(f);
  return (size_t)kib * STRESS_KIB;
}

static inline size_t stress_peak_resident(void) {
  struct rusage usage;
  size_t committed = 0;
#ifdef __APPLE__ /* in bytes */
  const size_t unit = 1;
#else
  const size_t unit = STRESS_KIB;
#endif
  mi_process_info(NULL, NULL, NULL, NULL, NULL, NULL, &committed, NULL);
  if (stress_is_emulated()) { return committed; }
  return getrusage(RUSAGE_SELF, &usage) == 0 ? (size_t)usage.ru_maxrss * unit : 0;
}

#endif

/* The sanitizer's own memory is no business of ours. */
static inline void stress_check_bytes(size_t bytes, size_t most, const char* what) {
  printf("%s: resident %zu KiB, at most %zu\n", what, bytes / STRESS_KIB, most / STRESS_KIB);
  if (UNDER_SANITIZER == 0) { CHECK(bytes <= most); }
}

static inline void stress_check_resident(size_t most, const char* what) {
  stress_check_bytes(stress_resident(), most, what);
}

/* At any time so far. */
static inline void stress_check_peak(size_t most, const char* what) {
  stress_check_bytes(stress_peak_resident(), most, what);
}

static inline pthread_t stress_start(void* (*body)(void*), void* arg) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, body, arg) != 0) {
    perror("pthread_create");
    exit(2);
  }
  return thread;
}

#endif
