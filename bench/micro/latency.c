// bench: micro, how long a single malloc or free takes, to 99.999 %
//   latency [--scale PERCENT] [--save FILE]
// Phases: `churn` replaces one of 5000 blocks at random, 16 bytes to 32 KiB, small ones more often;
// `fill` and `empty` take 200 MB of such blocks and give all of them back; `refill` is churn after
// a pause in which unused memory may have been purged.
//
// What the machine adds is separated:
//   control   times pure arithmetic in the same way: interrupts and a stolen CPU show here as well
//   switched  samples during which the thread was switched out are left out (and counted)
//   +os       samples with a page fault or a system call are listed apart: most of their time is
//             the kernel's
//   +os own   of those, the time without the system calls; page faults are not subtracted. Calls
//             that the C library makes inside itself, as its own malloc does, are not seen, nor,
//             but on x86-64, those through syscall().
// --save: every malloc and free in order, 4 bytes each: 4 times the nanoseconds without system
// calls, plus 1 if there was a page fault, plus 2 for a free; all ones where the thread was
// switched out. The calls are the same each time, so what was slow in every one of several runs is
// the allocator's doing (latency.py). A time stamp costs about 20 ns, which are in each figure; the
// control shows them.
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

enum { SLOTS = 5000, FILL_SLOTS = 100000, CHURN_OPERATIONS = 2000000, FILLS = 4, PAUSE_S = 3 };
enum { SUB_BITS = 6, BUCKETS = 64 << SUB_BITS };
#define FILL_BYTES ((size_t)200000000)

// ---- Clock --------------------------------------------------------------------------------------

static double ns_per_tick = 1;

static uint64_t monotonic_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#if defined(__x86_64__)
// rdtscp waits for what comes before it, the fence keeps back what comes after.
static uint64_t ticks(void) {
  unsigned cpu;
  const uint64_t t = __rdtscp(&cpu);
  _mm_lfence();
  return t;
}
#else
static uint64_t ticks(void) { return monotonic_ns(); }
#endif

static void calibrate(void) {
  const uint64_t ns = monotonic_ns(), t = ticks();
  while (monotonic_ns() - ns < 100000000u) {}
  const uint64_t passed = ticks() - t;
  ns_per_tick = (double)(monotonic_ns() - ns) / (double)passed;
}

// ---- The system calls of the allocator, timed ---------------------------------------------------
// Defined here, these functions are what the preloaded allocator calls too.

static __thread uint64_t os_ticks;
static __thread unsigned os_calls;

#if defined(__x86_64__)
// -errno when it fails.
static long enter_kernel(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "+a"(number)
                   : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return number;
}
#endif

static long timed_call(long number, long a, long b, long c, long d, long e, long f) {
  const uint64_t begin = ticks();
#if defined(__x86_64__)
  long result = enter_kernel(number, a, b, c, d, e, f);
  if (result < 0 && result > -4096) {
    errno = (int)-result;
    result = -1;
  }
#else
  const long result = syscall(number, a, b, c, d, e, f);
#endif
  os_ticks += ticks() - begin;
  os_calls++;
  return result;
}

#if defined(__x86_64__)
long syscall(long number, ...) {
  long a[6];
  va_list arguments;
  va_start(arguments, number);
  for (int i = 0; i < 6; i++) { a[i] = va_arg(arguments, long); }
  va_end(arguments);
  return timed_call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
#endif
void* mmap(void* at, size_t size, int access, int flags, int fd, off_t offset) {
  return (void*)timed_call(SYS_mmap, (long)at, (long)size, access, flags, fd, (long)offset);
}
int munmap(void* at, size_t size) {
  return (int)timed_call(SYS_munmap, (long)at, (long)size, 0, 0, 0, 0);
}
int madvise(void* at, size_t size, int advice) {
  return (int)timed_call(SYS_madvise, (long)at, (long)size, advice, 0, 0, 0);
}
int mprotect(void* at, size_t size, int access) {
  return (int)timed_call(SYS_mprotect, (long)at, (long)size, access, 0, 0, 0);
}
void* mremap(void* at, size_t size, size_t new_size, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const long target = (flags & MREMAP_FIXED) != 0 ? (long)va_arg(arguments, void*) : 0;
  va_end(arguments);
  return (void*)timed_call(SYS_mremap, (long)at, (long)size, (long)new_size, flags, target, 0);
}

// ---- Histograms: 64 buckets to each power of two ------------------------------------------------

typedef struct {
  uint64_t count, most;
  uint64_t bucket[BUCKETS];
} histogram_t;

static unsigned bucket_of(uint64_t ticks_passed) {
  if (ticks_passed < (1u << SUB_BITS)) { return (unsigned)ticks_passed; }
  const unsigned top = 63 - (unsigned)__builtin_clzll(ticks_passed);
  const unsigned shift = top - SUB_BITS;
  return ((shift + 1) << SUB_BITS) + (unsigned)(ticks_passed >> shift) - (1u << SUB_BITS);
}

static uint64_t bucket_end(unsigned i) {
  if (i < (1u << SUB_BITS)) { return i; }
  const unsigned shift = (i >> SUB_BITS) - 1;
  const uint64_t base = (1u << SUB_BITS) + (i & ((1u << SUB_BITS) - 1));
  return ((base + 1) << shift) - 1;
}

static void add(histogram_t* h, uint64_t passed) {
  h->count++;
  h->bucket[bucket_of(passed)]++;
  if (passed > h->most) { h->most = passed; }
}

static double percentile_ns(const histogram_t* h, double fraction) {
  const uint64_t rank = (uint64_t)(fraction * (double)h->count);
  uint64_t seen = 0;
  for (unsigned i = 0; i < BUCKETS; i++) {
    seen += h->bucket[i];
    if (seen > rank) {
      const uint64_t end = bucket_end(i);
      return (double)(end < h->most ? end : h->most) * ns_per_tick;
    }
  }
  return (double)h->most * ns_per_tick;
}

// ---- Samples ------------------------------------------------------------------------------------

enum { CONTROL, MALLOC, FREE, OPERATIONS };
enum { CHURN, FILL, EMPTY, REFILL, PHASES };
enum { PLAIN, WITH_OS, OWN, KINDS };

static const char* const OPERATION_NAME[] = {"control", "malloc", "free"};
static const char* const PHASE_NAME[] = {"churn", "fill", "empty", "refill"};
static const char* const KIND_NAME[] = {"", "+os", "+os own"};
static const char* const KIND_METRIC[] = {"", "_os", "_own"};

static uint32_t* saved;  // NULL: nothing is
static size_t saved_count, saved_most;

static void save(unsigned operation, uint32_t value) {
  if (saved != NULL && operation != CONTROL && saved_count < saved_most) {
    saved[saved_count++] = value;
  }
}

static uint32_t saved_value(uint64_t own, bool fault, unsigned operation) {
  const double ns = (double)own * ns_per_tick;
  return (ns < 1e9 ? (uint32_t)ns : 1000000000u) << 2 | (operation == FREE ? 2u : 0u) |
         (fault ? 1u : 0u);
}

static void save_to(const char* name) {
  FILE* out = fopen(name, "wb");
  if (out == NULL || fwrite(saved, sizeof *saved, saved_count, out) != saved_count ||
      fclose(out) != 0) {
    perror(name);
    exit(1);
  }
}

static histogram_t histogram[PHASES][OPERATIONS][KINDS];
static uint64_t switched, faults;
static unsigned phase;

typedef struct {
  long switches, faults;
} usage_t;

static usage_t usage_now(void) {
  struct rusage use;
  getrusage(RUSAGE_THREAD, &use);
  return (usage_t){use.ru_nivcsw, use.ru_minflt + use.ru_majflt};
}

typedef struct {
  usage_t use;
  uint64_t begin;
} sample_t;

static sample_t sample_begin(void) {
  sample_t s = {.use = usage_now()};
  os_ticks = 0;
  os_calls = 0;
  s.begin = ticks();
  return s;
}

static void sample_end(sample_t s, unsigned operation) {
  const uint64_t passed = ticks() - s.begin;
  const usage_t use = usage_now();
  if (use.switches != s.use.switches) {
    switched++;
    save(operation, UINT32_MAX);
    return;
  }
  const bool fault = use.faults != s.use.faults, os = fault || os_calls > 0;
  const uint64_t own = passed > os_ticks ? passed - os_ticks : 0;
  faults += (uint64_t)(use.faults - s.use.faults);
  add(&histogram[phase][operation][os ? WITH_OS : PLAIN], passed);
  if (os) { add(&histogram[phase][operation][OWN], own); }
  save(operation, saved_value(own, fault, operation));
}

// ---- Phases -------------------------------------------------------------------------------------

static uint64_t seed = 42;

static uint32_t random_number(void) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(seed >> 33);
}

// 16 bytes to 32 KiB: each power of two half as often as the one below it, at least one in 256.
static size_t random_size(void) {
  unsigned power = 4;
  while (power < 14 && (random_number() & 1) != 0) { power++; }
  if ((random_number() & 31) == 0) { power = 4 + random_number() % 11; }
  const size_t low = (size_t)1 << power;
  return low + random_number() % low + 1;
}

static char* slots[FILL_SLOTS];

static void take(unsigned slot) {
  const size_t size = random_size();
  const sample_t s = sample_begin();
  char* p = malloc(size);
  sample_end(s, MALLOC);
  if (p == NULL) { abort(); }
  for (size_t i = 0; i < size; i += 4096) { p[i] = 1; }
  slots[slot] = p;
}

static void give(unsigned slot) {
  char* p = slots[slot];
  const sample_t s = sample_begin();
  free(p);
  sample_end(s, FREE);
  slots[slot] = NULL;
}

// About as long as a malloc.
static void control(void) {
  const sample_t s = sample_begin();
  uint64_t x = seed;
  for (int i = 0; i < 12; i++) {
    __asm__ volatile("" : "+r"(x) : : "memory");
    x ^= x << 13;
  }
  sample_end(s, CONTROL);
  __asm__ volatile("" : : "r"(x));
}

static void churn(unsigned count) {
  for (unsigned i = 0; i < SLOTS; i++) { take(i); }
  for (unsigned i = 0; i < count; i++) {
    const unsigned slot = random_number() % SLOTS;
    give(slot);
    take(slot);
    control();
  }
  for (unsigned i = 0; i < SLOTS; i++) { give(i); }
}

static void fill_and_empty(unsigned slot_count) {
  phase = FILL;
  for (unsigned i = 0; i < slot_count; i++) {
    take(i);
    control();
  }
  phase = EMPTY;
  for (unsigned i = 0; i < slot_count; i++) {
    const unsigned slot = (unsigned)((uint64_t)i * 7919 % slot_count);  // not in order
    if (slots[slot] != NULL) { give(slot); }
    control();
  }
  for (unsigned i = 0; i < slot_count; i++) {
    if (slots[i] != NULL) { give(i); }
  }
}

// ---- Output -------------------------------------------------------------------------------------

static const struct {
  double fraction;
  const char* name;
} COLUMN[] = {
    {0.5, "p50"}, {0.99, "p99"}, {0.999, "p99.9"}, {0.9999, "p99.99"}, {0.99999, "p99.999"}};
enum { COLUMNS = sizeof COLUMN / sizeof COLUMN[0] };

static void print_row(unsigned p, unsigned operation, unsigned kind) {
  const histogram_t* h = &histogram[p][operation][kind];
  if (h->count == 0) { return; }
  printf("%-7s %-8s%-8s %9llu", PHASE_NAME[p], OPERATION_NAME[operation], KIND_NAME[kind],
         (unsigned long long)h->count);
  for (unsigned c = 0; c < COLUMNS; c++) { printf(" %9.0f", percentile_ns(h, COLUMN[c].fraction)); }
  printf(" %10.0f\n", (double)h->most * ns_per_tick);
}

static void print_table(void) {
  printf("%-7s %-16s %9s", "phase", "ns", "samples");
  for (unsigned c = 0; c < COLUMNS; c++) { printf(" %9s", COLUMN[c].name); }
  printf(" %10s\n", "max");
  for (unsigned p = 0; p < PHASES; p++) {
    for (unsigned operation = 0; operation < OPERATIONS; operation++) {
      for (unsigned kind = 0; kind < KINDS; kind++) { print_row(p, operation, kind); }
    }
  }
}

static void print_metrics(void) {
  for (unsigned p = 0; p < PHASES; p++) {
    for (unsigned operation = 0; operation < OPERATIONS; operation++) {
      for (unsigned kind = 0; kind < KINDS; kind++) {
        const histogram_t* h = &histogram[p][operation][kind];
        char name[64];
        snprintf(name, sizeof name, "%s_%s%s", PHASE_NAME[p], OPERATION_NAME[operation],
                 KIND_METRIC[kind]);
        if (h->count == 0) { continue; }
        printf("metric %s_samples %llu\n", name, (unsigned long long)h->count);
        for (unsigned c = 0; c < COLUMNS; c++) {
          printf("metric %s_%s_ns %.0f\n", name, COLUMN[c].name,
                 percentile_ns(h, COLUMN[c].fraction));
        }
        printf("metric %s_max_ns %.0f\n", name, (double)h->most * ns_per_tick);
      }
    }
  }
  printf("metric page_faults %llu\n", (unsigned long long)faults);
  printf("metric switched_out %llu\n", (unsigned long long)switched);
}

int main(int argc, char** argv) {
  unsigned scale = 100;
  const char* save_name = NULL;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--scale") == 0 && i + 1 < argc && atoi(argv[i + 1]) > 0) {
      scale = (unsigned)atoi(argv[++i]);
    } else if (strcmp(argv[i], "--save") == 0 && i + 1 < argc) {
      save_name = argv[++i];
    } else {
      fprintf(stderr, "usage: latency [--scale PERCENT] [--save FILE]\n");
      return 2;
    }
  }
  const unsigned operations = (unsigned)((uint64_t)CHURN_OPERATIONS * scale / 100);
  if (save_name != NULL) {  // mapped and touched: neither the allocator's memory nor its faults
    saved_most = 4 * (size_t)operations + 4 * FILLS * (size_t)FILL_SLOTS;
    void* p = mmap(NULL, saved_most * sizeof *saved, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (p == MAP_FAILED) { abort(); }
    saved = p;
  }
  calibrate();
  phase = CHURN;
  churn(operations);
  size_t bytes = 0;
  const uint64_t before = seed;
  unsigned fill = 0;
  for (; fill < FILL_SLOTS && bytes < FILL_BYTES * (scale < 100 ? scale : 100) / 100; fill++) {
    bytes += random_size();
  }
  seed = before;
  for (int i = 0; i < FILLS; i++) { fill_and_empty(fill); }
  sleep(scale < 100 ? 0 : PAUSE_S);
  phase = REFILL;
  churn(operations / 4);
  print_table();
  print_metrics();
  if (save_name != NULL) { save_to(save_name); }
  return 0;
}
