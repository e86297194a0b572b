/* What the workloads share: arguments, random numbers, checks, the count of live bytes, resident
   memory, threads. Each program includes it first, and starts main with workload_start.

   The number of operations is fixed and divided among the threads, so that CPU time and wall time
   compare between allocators and between numbers of threads. --scale changes this number only: live
   blocks, their sizes and the threads stay what they are, since a smaller live set is another
   workload. */
#ifndef BENCH_WORKLOAD_H
#define BENCH_WORKLOAD_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { KIB = 1024, MIB = 1024 * 1024, MAX_THREADS = 1024 };

/* ---- Arguments, failures, results -------------------------------------------------------------*/

static struct {
  const char* name;
  int threads;
  long scale; /* percent */
  long idle;  /* seconds */
} workload = {"", 2, 100, 0};

/* An option of one workload: its name and where its value goes. */
typedef struct {
  const char* name;
  const char** value;
} option_t;

static option_t workload_options[4];

static inline _Noreturn void fail(const char* what, int line) {
  fprintf(stderr, "%s: wrong: %s (line %d)\n", workload.name, what, line);
  _exit(1);
}

#define CHECK(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))

/* Before workload_start; the text that *value holds already is the default. */
static inline void workload_option(const char* name, const char** value) {
  option_t* option = workload_options;
  while (option->name != NULL) { option++; }
  *option = (option_t){name, value};
}

static inline bool workload_takes(const char* name, const char* value) {
  for (size_t i = 0; i < sizeof(workload_options) / sizeof(option_t); i++) {
    const option_t* option = &workload_options[i];
    if (option->name != NULL && value != NULL && strcmp(option->name, name) == 0) {
      *option->value = value;
      return true;
    }
  }
  return false;
}

/* The number that an option's value is; anything else ends the program. */
static inline size_t number_of(const char* text) {
  char* end = NULL;
  const long value = strtol(text, &end, 10);
  CHECK(value > 0 && *end == '\0');
  return (size_t)value;
}

/* The two numbers that "16-400" is, the smaller one first. */
static inline void range_of(const char* text, size_t* low, size_t* high) {
  char* dash = NULL;
  *low = strtoul(text, &dash, 10);
  CHECK(*low >= 1 && *dash == '-');
  *high = number_of(dash + 1);
  CHECK(*high >= *low);
}

static inline void workload_start(int argc, char** argv) {
  const char* slash = strrchr(argv[0], '/');
  workload.name = slash == NULL ? argv[0] : slash + 1;
  for (int i = 1; i < argc; i += 2) {
    char* end = NULL;
    errno = 0;
    const long value = i + 1 < argc ? strtol(argv[i + 1], &end, 10) : -1;
    const bool is_number = value >= 0 && errno == 0 && end != argv[i + 1] && *end == '\0';
    if (is_number && strcmp(argv[i], "--threads") == 0 && value >= 1 && value <= MAX_THREADS) {
      workload.threads = (int)value;
    } else if (is_number && strcmp(argv[i], "--scale") == 0 && value >= 1 && value <= 100000) {
      workload.scale = value;
    } else if (is_number && strcmp(argv[i], "--idle") == 0) {
      workload.idle = value;
    } else if (workload_takes(argv[i], argv[i + 1])) {
      continue;
    } else {
      fprintf(stderr, "usage: %s [--threads N] [--scale PERCENT] [--idle SECONDS]", workload.name);
      for (i = 0; i < 4 && workload_options[i].name != NULL; i++) {
        fprintf(stderr, " [%s %s]", workload_options[i].name, *workload_options[i].value);
      }
      fputc('\n', stderr);
      exit(2);
    }
  }
}

/* At least 1. */
static inline long scaled(long n) {
  const long result = n * workload.scale / 100;
  return result < 1 ? 1 : result;
}

/* What thread `index` has to do of `total`. */
static inline long share_of(long total, int index) {
  return total / workload.threads + (index < total % workload.threads ? 1 : 0);
}

static inline void metric(const char* name, long value) { printf("metric %s %ld\n", name, value); }

/* ---- Random numbers ---------------------------------------------------------------------------*/

typedef struct {
  uint64_t state;
} rng_t;

static inline rng_t rng_seeded(uint64_t seed) { return (rng_t){seed * 0x9E3779B97F4A7C15u + 1}; }

static inline uint64_t rng_next(rng_t* rng) { /* xorshift, multiplied */
  uint64_t x = rng->state;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  rng->state = x;
  return x * 0x2545F4914F6CDD1Du;
}

/* Below n, which is below 2^32. */
static inline size_t rng_below(rng_t* rng, size_t n) {
  return (size_t)(((rng_next(rng) >> 32) * (uint64_t)n) >> 32);
}

/* Both ends included. */
static inline size_t rng_between(rng_t* rng, size_t low, size_t high) {
  return low + rng_below(rng, high - low + 1);
}

/* Every power of two from low to high as likely as the next: many small, few large. */
static inline size_t rng_log_between(rng_t* rng, size_t low, size_t high) {
  size_t octaves = 0;
  while (low << (octaves + 1) <= high) { octaves++; }
  const size_t base = low << (octaves == 0 ? 0 : rng_below(rng, octaves));
  return base + rng_below(rng, base + 1);
}

/* Density 1/size^1.5: a power of two has 0.71 times as many as the one before. */
static inline size_t rng_power(rng_t* rng, double low, double high) {
  const double from = 1 / __builtin_sqrt(low), to = 1 / __builtin_sqrt(high);
  const double at = from - (from - to) * ((double)(rng_next(rng) >> 11) * 0x1p-53);
  return (size_t)(1 / (at * at));
}

/* Density falls in a straight line, to nothing at high. */
static inline size_t rng_falling(rng_t* rng, size_t low, size_t high) {
  const size_t a = rng_between(rng, low, high), b = rng_between(rng, low, high);
  return a < b ? a : b;
}

/* ---- Live bytes, as requested -----------------------------------------------------------------*/

/* A thread adds up its own changes, and passes them on when they come to this much. */
static ptrdiff_t live_grain = 16 * KIB;

static _Atomic(ptrdiff_t) live_now, live_peak;
static _Thread_local ptrdiff_t live_delta;

static inline void live_flush(void) {
  const ptrdiff_t now =
      atomic_fetch_add_explicit(&live_now, live_delta, memory_order_relaxed) + live_delta;
  ptrdiff_t peak = atomic_load_explicit(&live_peak, memory_order_relaxed);
  live_delta = 0;
  while (now > peak && !atomic_compare_exchange_weak_explicit(
                           &live_peak, &peak, now, memory_order_relaxed, memory_order_relaxed)) {}
}

static inline void live_change(ptrdiff_t bytes) {
  live_delta += bytes;
  if (live_delta >= live_grain || live_delta <= -live_grain) { live_flush(); }
}

static inline void* take(size_t size) {
  void* p = malloc(size);
  CHECK(p != NULL);
  live_change((ptrdiff_t)size);
  return p;
}

static inline void* take_zeroed(size_t size) {
  void* p = calloc(1, size);
  CHECK(p != NULL);
  live_change((ptrdiff_t)size);
  return p;
}

static inline void* take_resized(void* old, size_t old_size, size_t size) {
  void* p = realloc(old, size);
  CHECK(p != NULL);
  live_change((ptrdiff_t)size - (ptrdiff_t)old_size);
  return p;
}

static inline void give(void* p, size_t size) {
  free(p);
  live_change(-(ptrdiff_t)size);
}

/* ---- Contents: the first 8 bytes, the last one, and one in each 4 KiB -------------------------*/

static inline void block_mark(void* p, size_t size, uint64_t tag) {
  for (size_t i = 4 * KIB; i < size; i += 4 * KIB) { ((unsigned char*)p)[i] = 1; }
  ((unsigned char*)p)[size - 1] = (unsigned char)tag;
  memcpy(p, &tag, size < sizeof(tag) ? size : sizeof(tag));
}

static inline void block_check(const void* p, size_t size, uint64_t tag) {
  CHECK(memcmp(p, &tag, size < sizeof(tag) ? size : sizeof(tag)) == 0);
  CHECK(size <= sizeof(tag) || ((const unsigned char*)p)[size - 1] == (unsigned char)tag);
}

/* A block that may be empty, and what is known of it. */
typedef struct {
  void* p;
  size_t size;
} slot_t;

/* `p` is a block of `size` bytes. */
static inline void slot_set(slot_t* slot, void* p, size_t size) {
  *slot = (slot_t){p, size};
  block_mark(p, size, size * 0x9E3779B97F4A7C15u);
}

static inline void slot_fill(slot_t* slot, size_t size) { slot_set(slot, take(size), size); }

static inline void slot_empty(slot_t* slot) {
  if (slot->p == NULL) { return; }
  block_check(slot->p, slot->size, slot->size * 0x9E3779B97F4A7C15u);
  give(slot->p, slot->size);
  slot->p = NULL;
}

/* A block that knows its own size, so that whoever has it can free it; at least 9 bytes. */
typedef struct {
  size_t bytes;
} sized_t;

static inline sized_t* sized_new(size_t bytes) {
  sized_t* block = take(bytes);
  block->bytes = bytes;
  block_mark(block + 1, bytes - sizeof(sized_t), bytes * 17);
  return block;
}

static inline void sized_end(sized_t* block) {
  if (block == NULL) { return; }
  block_check(block + 1, block->bytes - sizeof(sized_t), block->bytes * 17);
  give(block, block->bytes);
}

/* The numbers below `count`, one after the other. */
static inline uint32_t* in_succession(size_t count) {
  CHECK(count >= 2 && count < UINT32_MAX);
  uint32_t* order = take(count * sizeof(*order));
  for (size_t i = 0; i < count; i++) { order[i] = (uint32_t)i; }
  return order;
}

static inline void shuffle(uint32_t* order, size_t count) {
  rng_t rng = rng_seeded(1);
  for (size_t i = count - 1; i > 0; i--) {
    const size_t other = rng_below(&rng, i + 1);
    const uint32_t kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
}

/* ---- Resident memory --------------------------------------------------------------------------*/

/* Without stdio, which would allocate. */
static inline long rss_kib(void) {
  char text[128];
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  const ssize_t length = file < 0 ? 0 : read(file, text, sizeof(text) - 1);
  if (file >= 0) { close(file); }
  if (length <= 0) { return 0; }
  text[length] = '\0';
  const char* second = strchr(text, ' ');
  return second == NULL ? 0 : strtol(second, NULL, 10) * (sysconf(_SC_PAGESIZE) / KIB);
}

/* The end of a burst: how much is resident now, and after the idle time. */
static inline void report_idle(void) {
  const long end = rss_kib();
  struct timespec left = {workload.idle, 0};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {}
  const long after = rss_kib();
  live_flush();
  metric("rss_end_kib", end);
  metric("rss_after_kib", after);
  metric("live_end_kib", (long)(atomic_load(&live_now) / KIB));
}

/* What all report, last. */
static inline int report(long operations) {
  live_flush();
  metric("operations", operations);
  metric("live_peak_kib", (long)(atomic_load(&live_peak) / KIB));
  return fflush(stdout) == 0 ? 0 : 1;
}

/* ---- Time -------------------------------------------------------------------------------------*/

/* Of the whole process, in nanoseconds. */
static inline long cpu_now(void) {
  struct timespec now;
  CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

/* ---- Threads ----------------------------------------------------------------------------------*/

typedef struct {
  pthread_t id;
  void (*body)(int index);
  int index;
} worker_t;

static inline void* worker_main(void* argument) {
  worker_t* worker = (worker_t*)argument;
  worker->body(worker->index);
  live_flush();
  return NULL;
}

static inline void worker_start(worker_t* worker, void (*body)(int index), int index) {
  worker->body = body;
  worker->index = index;
  CHECK(pthread_create(&worker->id, NULL, worker_main, worker) == 0);
}

static inline void worker_join(worker_t* worker) { CHECK(pthread_join(worker->id, NULL) == 0); }

/* Runs body(0) to body(threads - 1), each in a thread of its own, all at once. */
static inline void run_workers(void (*body)(int index)) {
  static worker_t workers[MAX_THREADS];
  for (int i = 0; i < workload.threads; i++) { worker_start(&workers[i], body, i); }
  for (int i = 0; i < workload.threads; i++) { worker_join(&workers[i]); }
}

#endif
