/* test: when="glibc release|debug|secure|guarded" only=preload timeout=60 libs=pthread */
/* mallopt(M_PERTURB, value): what malloc gives is filled with the complement of the value's low
   byte, what is freed with that byte, whoever frees it and whatever its size; calloc gives zeros; 0
   ends it. (glibc itself leaves out what its threads keep.) What is freed may go, and its first and
   last words may hold links. A build that answers 0 fills in its own way. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>

#include "../check.h"
#include "opaque.h"

enum { VALUE = 0x5a, FILLED = 0xa5, LINKS = 48, LARGE = 100000 };

static int pipe_ends[2];

/* Can the bytes be read, or are they inaccessible by now? */
static bool is_readable(const void* p, size_t n) {
  static char sink[LARGE];
  for (size_t at = 0; at < n; at += 4096) {
    if (write(pipe_ends[1], (const char*)p + at, 1) != 1) { return false; }
    if (read(pipe_ends[0], sink, 1) != 1) { return false; }
  }
  return true;
}

static bool is_all(const void* p, size_t n, int value) {
  const volatile unsigned char* byte = (const volatile unsigned char*)p;
  for (size_t i = 0; i < n; i++) {
    if (byte[i] != value) { return false; }
  }
  return true;
}

static size_t next_size(size_t size) { return size + size / 7 + 1; }

/* Between the links. */
static bool was_filled(const void* p, size_t size, int value) {
  if (size <= 2 * LINKS || !is_readable(p, size)) { return true; }
  return is_all((const char*)p + LINKS, size - 2 * LINKS, value);
}

static void* free_here(void* p) {
  free(p);
  return NULL;
}

static void free_there(void* p) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, free_here, p) == 0);
  pthread_join(thread, NULL);
}

/* The next block keeps the freed one from being given back with what is behind it. */
static void check_size(size_t size, void (*give)(void*)) {
  char* p = malloc(size);
  char* next = malloc(size);
  CHECK(is_all(p, size, FILLED) && is_all(next, size, FILLED));
  memset(p, 1, size);
  give(p);
  CHECK(was_filled(p, size, VALUE));
  free(next);
  char* zero = calloc(1, size);
  CHECK(is_all(zero, size, 0));
  free(zero);
}

static void give_here(void* p) { free(p); }

static void check_sizes(void) {
  for (size_t size = 0; size < LARGE; size = next_size(size)) { check_size(size, give_here); }
  for (size_t size = 1; size < LARGE; size = size * 3 + 1) { check_size(size, free_there); }
}

static void check_many(void) {
  enum { BLOCKS = 3000, SIZE = 200 };
  static char* blocks[BLOCKS];
  for (int i = 0; i < BLOCKS; i++) {
    blocks[i] = malloc(SIZE);
    CHECK(is_all(blocks[i], SIZE, FILLED));
    memset(blocks[i], i & 0xff, SIZE);
  }
  for (int i = 0; i < BLOCKS; i += 2) { free(blocks[i]); }
  for (int i = 1; i < BLOCKS; i += 2) {
    CHECK(is_all(blocks[i], SIZE, i & 0xff));
    CHECK(was_filled(blocks[i - 1], SIZE, VALUE));
    blocks[i] = realloc(blocks[i], SIZE / 2);
    CHECK(is_all(blocks[i], SIZE / 2, i & 0xff));
    free(blocks[i]);
  }
}

static void check_others(void) {
  void* p = NULL;
  CHECK(posix_memalign(&p, 256, 700) == 0 && is_all(p, 700, FILLED));
  free(p);
  p = aligned_alloc(1 << 16, LARGE);
  CHECK(is_all(p, LARGE, FILLED));
  free(p);
  char* q = malloc(100);
  char* next = malloc(100);
  memset(q, 7, 100);
  q = realloc(q, 5000);
  CHECK(is_all(q, 100, 7) && is_all(q + 200, 4800, FILLED));
  free(q);
  free(next);
}

/* Blocks of a thread that has ended, and of before. */
static void* take_here(void* arg) {
  char** blocks = arg;
  for (int i = 0; i < 100; i++) { blocks[i] = malloc(300 + (size_t)i % 16 * 40); }
  CHECK(is_all(blocks[0], 300, FILLED));
  return NULL;
}

static void check_left_behind(void) {
  char* blocks[100];
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, take_here, blocks) == 0);
  pthread_join(thread, NULL);
  for (int i = 0; i < 100; i++) {
    memset(blocks[i], 1, 300 + (size_t)i % 16 * 40);
    free(blocks[i]);
    CHECK(was_filled(blocks[i], 300, VALUE));
  }
}

static bool fills_in_its_own_way(void) {
  char* p = malloc(400);
  memset(p, 1, 400);
  free(p);
  return !is_readable(p, 400) || !is_all(p + LINKS, 400 - 2 * LINKS, 1);
}

int main(void) {
  CHECK(pipe(pipe_ends) == 0);
  char* before = malloc(2000);
  memset(before, 1, 2000);
  if (mallopt(M_PERTURB, 0x1200 + VALUE) != 1) {
    CHECK(getenv("LD_PRELOAD") != NULL && fills_in_its_own_way());
    return check_done();
  }
  free(before);
  CHECK(was_filled(before, 2000, VALUE));
  check_sizes();
  check_many();
  check_others();
  check_left_behind();
  CHECK(mallopt(M_PERTURB, 0) == 1);
  char* p = malloc(400);
  memset(p, 1, 400);
  free(p);
  CHECK(was_filled(p, 400, 1));
  for (size_t size = 0; size < LARGE; size = next_size(size)) {
    p = malloc(size);
    memset(p, 1, size);
    p = realloc(p, size * 2 + 1);
    CHECK(is_all(p, size, 1));
    free(p);
  }
  return check_done();
}
