// Writes and reads before and behind a block. Harm: a neighbour was changed, or read, and nobody
// noticed although all blocks were freed in the end.
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "misuse.h"

enum { FLIP = 0x55 };

static void flip(char* p, size_t count) {
  volatile char* bytes = opaque(p);
  for (size_t i = 0; i < count; i++) { bytes[i] ^= FLIP; }
}

static neighbours_t crowd_with_neighbours(size_t n, char** crowd) {
  const int count = crowd_of(n);
  for (int i = 0; i < count; i++) { crowd[i] = keep_new(n); }
  return closest(crowd, count);
}

// The blocks are freed, the offender first if it is: this is when checks of blocks strike.
static void end_of_overflow(char* offender) {
  if (offender != NULL) {
    unkeep(offender);
    misuse_free(offender);
  }
  const bool whole = kept_are_whole();
  free_kept();
  if (!whole) { harmful("a neighbour was changed, unnoticed"); }
}

// ---- behind the block ----

static void overflow_by(size_t n, size_t count) {
  char* crowd[CROWD_MAX];
  char* p = crowd_with_neighbours(n, crowd).lower;
  flip(p + n, count);
  end_of_overflow(p);
}

static void overflow_1(size_t n) { overflow_by(n, 1); }
static void overflow_8(size_t n) { overflow_by(n, 8); }

// The end of a string: by far the most frequent one. Behind a block where it changes something, if
// there is one.
static void overflow_null_byte(size_t n) {
  char* crowd[CROWD_MAX];
  char* p = crowd_with_neighbours(n, crowd).lower;
  for (int i = 0; i < crowd_of(n) && *opaque(p + n) == 0; i++) { p = crowd[i]; }
  *opaque(p + n) = 0;
  end_of_overflow(p);
}

static void overflow_usable_1(size_t n) {
  char* crowd[CROWD_MAX];
  char* p = crowd_with_neighbours(n, crowd).lower;
  flip(p + malloc_usable_size(p), 1);
  end_of_overflow(p);
}

// What is larger than a canary, and the block is never freed.
static void overflow_64_no_free(size_t n) {
  char* crowd[CROWD_MAX];
  char* p = crowd_with_neighbours(n, crowd).lower;
  flip(p + n, 64);
  unkeep(p);
  end_of_overflow(NULL);
}

// A pointer into a block: who asks how much may be written there must not be told more than there
// is.
static void usable_interior(size_t n) {
  char* p = keep_new(n);
  const size_t usable = malloc_usable_size(p);
  for (size_t offset = 1; offset < n; offset += offset < 64 ? 1 : n / 7) {
    if (malloc_usable_size(opaque(p + offset)) > usable - offset) {
      harmful("more is said to be usable than there is");
    }
  }
  free_kept();
}

// ---- far behind the block, in a large heap ----

static void* large_heap[3000];
static int large_heap_count;

// Not kept, and hardly touched: that would take long.
static void enlarge_heap(void) {
  for (int i = 0; i < 700; i++) { large_heap[large_heap_count++] = take(16000); }
  for (int i = 0; i < 60; i++) { large_heap[large_heap_count++] = take(100000); }
}

static char* amid_heap(size_t n) {
  enlarge_heap();
  for (int i = 0; i < crowd_of(n); i++) { keep_new(n); }
  char* p = keep_new(n);
  for (int i = 0; i < crowd_of(n); i++) { keep_new(n); }
  enlarge_heap();
  return p;
}

static void overflow_linear(size_t n, size_t count) {
  char* p = amid_heap(n);
  memset(opaque(p + n), 0x41, count);
  end_of_overflow(p);
}

static void overflow_linear_4k(size_t n) { overflow_linear(n, 4 << 10); }
static void overflow_linear_1m(size_t n) { overflow_linear(n, 1 << 20); }

enum { REACH = 2 << 20 };

static void overflow_write_no_free(size_t n) {
  memset(opaque(amid_heap(n) + n), 0x41, REACH);
  end_of_overflow(NULL);
  harmful("2 MiB behind a block were written");
}

static void overflow_read(size_t n) {
  volatile char* p = opaque(amid_heap(n) + n);
  for (size_t i = 0; i < REACH; i += 8) { (void)p[i]; }
  harmful("2 MiB behind a block were read");
}

// ---- before the block ----

static void underflow_by(size_t n, size_t count) {
  char* crowd[CROWD_MAX];
  char* p = crowd_with_neighbours(n, crowd).upper;
  flip(p - count, count);
  end_of_overflow(p);
}

static void underflow_1(size_t n) { underflow_by(n, 1); }
static void underflow_16(size_t n) { underflow_by(n, 16); }

static void underflow_linear_1m(size_t n) {
  char* p = amid_heap(n);
  for (size_t i = 1; i <= 1 << 20; i++) { *opaque(p - i) = 0x41; }
  end_of_overflow(p);
}

// Harm: the eight bytes are a neighbour's, or an address in the heap.
static void underflow_read(size_t n) {
  char* crowd[CROWD_MAX];
  const neighbours_t two = crowd_with_neighbours(n, crowd);
  uintptr_t word;
  memcpy(&word, opaque(two.upper - sizeof(word)), sizeof(word));
  if (two.upper - sizeof(word) < two.lower + n) { harmful("read the end of the block before it"); }
  for (int i = 0; i < crowd_of(n); i++) {
    if (word - (uintptr_t)crowd[i] + (64 << 20) < 128 << 20) {
      harmful("read an address in the heap");
    }
  }
  free_kept();
}

// ---- headers ----

// Writes over what lies at the start of larger and larger aligned regions around a block, where
// some allocators have their headers, unless that is inside a block of ours. Harm: the allocator
// then does wrong.
static void after_metadata(size_t n) {
  keep_many(n);
  keep_many(2 * n);
  if (!kept_are_whole()) { harmful("metadata was accessible: blocks share memory"); }
  free_kept();
}

static void meta_overwrite_aligned(size_t n) {
  keep_many(n);
  char* p = keep_new(n);
  keep_many(n);
  for (uintptr_t align = 64 << 10; align <= 4 << 20; align *= 8) {
    char* base = (char*)((uintptr_t)p & ~(align - 1));
    if (!is_kept(base, 64)) { memset(opaque(base), 0x41, 64); }
  }
  after_metadata(n);
}

const misuse_t overflow_misuses[] = {
    {"overflow_1", overflow_1},
    {"overflow_8", overflow_8},
    {"overflow_null_byte", overflow_null_byte},
    {"overflow_usable_1", overflow_usable_1},
    {"overflow_64_no_free", overflow_64_no_free},
    {"usable_interior", usable_interior},
    {"overflow_linear_4k", overflow_linear_4k},
    {"overflow_linear_1m", overflow_linear_1m},
    {"overflow_write_no_free", overflow_write_no_free},
    {"overflow_read", overflow_read},
    {"underflow_1", underflow_1},
    {"underflow_16", underflow_16},
    {"underflow_linear_1m", underflow_linear_1m},
    {"underflow_read", underflow_read},
    {"meta_overwrite_aligned", meta_overwrite_aligned},
    {NULL, NULL},
};
