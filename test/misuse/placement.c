// What an attacker can foresee of where blocks lie. Harm: too much.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "misuse.h"

static void place_adjacent(size_t n) {
  char* row[CROWD_MAX];
  const int count = n < 1000000 ? CROWD_MAX : CROWD_MAX / 4;
  for (int i = 0; i < count; i++) { row[i] = keep_new(n); }
  const neighbours_t two = closest(row, count);
  const ptrdiff_t stride = two.upper - two.lower;
  int followers = 0;
  for (int i = 1; i < count; i++) {
    const ptrdiff_t step = row[i] - row[i - 1];
    if (step == stride || step == -stride) { followers++; }
  }
  if (followers > count * 3 / 4) { harmful("each block lies beside the one allocated before it"); }
  expect_heap_whole(n);
}

// Does each block begin where the one that was allocated before it ends, or nearly?
static void place_beside(size_t n) {
  enum { COUNT = 32, MANY = 20 };
  char* last = keep_new(n);
  int near = 0;
  for (int i = 0; i < COUNT; i++) {
    char* p = keep_new(n);
    near += (size_t)labs(p - last) < n + n / 8;
    last = p;
  }
  if (near > MANY) { harmful("each block lies beside the one allocated before it"); }
  expect_heap_whole(n);
}

enum { ROUNDS = 64 };

static void place_lifo_reuse(size_t n) {
  int same = 0;
  for (int i = 0; i < ROUNDS; i++) {
    char* p = take(n);
    misuse_free(p);
    char* q = take(n);
    same += p == q;
    if (i % 4 == 0) {
      keep(q, n < 4096 ? n : 4096);
    } else {
      free(q);
    }
  }
  if (same >= ROUNDS / 8) { harmful("the block freed last is the next to be allocated"); }
  free_kept();
}

// In one of eight rounds or more, beside `live` blocks and as many that were freed.
static bool is_lifo(size_t n, size_t live) {
  static char* blocks[ROUNDS];
  const int rounds = n < 1 << 20 ? ROUNDS : ROUNDS / 4;
  int same = 0;
  for (size_t i = 0; i < 2 * live; i++) { blocks[i] = take(n); }
  for (size_t i = 0; i < live; i++) { misuse_free(blocks[2 * i + 1]); }
  for (int i = 0; i < rounds; i++) {
    char* p = take(n);
    misuse_free(p);
    char* q = take(n);
    same += p == q;
    misuse_free(q);
  }
  for (size_t i = 0; i < live; i++) { misuse_free(blocks[2 * i]); }
  return same >= rounds / 8;
}

// The same for sizes from n to 5 MiB.
static void place_lifo_sizes(size_t n) {
  for (; n <= 5 << 20; n += n / 2) {
    if (is_lifo(n, 0) || is_lifo(n, n < 1 << 20 ? ROUNDS / 2 : 2)) {
      harmful("the block freed last is the next to be allocated");
    }
  }
}

// ---- from run to run ----

enum { RUNS = 6, BLOCKS = 16 };

static uint64_t run_again(const char* name, size_t n) {
  char size[24], line[24] = "";
  int ends[2];
  snprintf(size, sizeof(size), "%zu", n);
  if (pipe(ends) != 0) { not_here("no pipe"); }
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 1);
    execl("/proc/self/exe", "cases", name, size, "owner", (char*)NULL);
    _exit(STATUS_WRONG_USE);
  }
  close(ends[1]);
  const ssize_t length = read(ends[0], line, sizeof(line) - 1);
  close(ends[0]);
  waitpid(child, NULL, 0);
  if (length <= 0) { not_here("cannot run itself again"); }
  return strtoull(line, NULL, 16);
}

static void answer(uint64_t value) {
  char line[24];
  const int length = snprintf(line, sizeof(line), "%llx\n", (unsigned long long)value);
  if (write(1, line, (size_t)length) < 0) { _exit(STATUS_WRONG_USE); }
}

static int distinct_runs(const char* name, size_t n) {
  uint64_t seen[RUNS];
  int distinct = 0;
  for (int i = 0; i < RUNS; i++) {
    const uint64_t value = run_again(name, n);
    bool is_new = true;
    for (int k = 0; k < distinct; k++) { is_new &= seen[k] != value; }
    if (is_new) { seen[distinct++] = value; }
  }
  return distinct;
}

static void print_order(size_t n) {
  char *first = take(n), *last = first;
  uint64_t hash = 14695981039346656037u;
  for (int i = 1; i < BLOCKS; i++) {
    last = take(n);
    hash = (hash ^ (uint64_t)(last - first)) * 1099511628211u;
  }
  answer(hash);
}

static void print_distance(size_t n) {
  answer((uint64_t)((uintptr_t)take(n) - (uintptr_t)stdout));  // which lies in the C library
}

static void place_order(size_t n) {
  if (distinct_runs("print_order", n) < RUNS) { harmful("blocks lie alike in every run"); }
}

static void place_libc_distance(size_t n) {
  if (distinct_runs("print_distance", n) < RUNS) {
    harmful("the way from the heap to the C library is known");
  }
}

const misuse_t placement_misuses[] = {
    {"place_adjacent", place_adjacent},
    {"place_beside", place_beside},
    {"place_lifo_reuse", place_lifo_reuse},
    {"place_lifo_sizes", place_lifo_sizes},
    {"place_order", place_order},
    {"place_libc_distance", place_libc_distance},
    {"print_order", print_order},
    {"print_distance", print_distance},
    {NULL, NULL},
};
