/* One misuse, named by the first argument, on blocks of mi_malloc; with PLAIN, of malloc. `none` is
   none. The scripts beside this file say what the tools make of them. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef PLAIN
#define take(n)       malloc(n)
#define take_zero(n)  calloc(1, n)
#define take_again    realloc
#define take_at(n, a) aligned_alloc(a, n)
#define give          free
#else
#include <mimalloc.h>
#define take(n)       mi_malloc(n)
#define take_zero(n)  mi_zalloc(n)
#define take_again    mi_realloc
#define take_at(n, a) mi_malloc_aligned(n, a)
#define give          mi_free
#endif

enum { COUNT = 40 };

/* Blocks that live beside the one that matters, so that it has neighbours. */
static void* others[COUNT];

static void overflow(size_t size) {
  volatile char* p = take(size);
  for (int i = 0; i < COUNT; i++) { others[i] = take(size); }
  p[size] = 1;
  give((void*)p);
  for (int i = 0; i < COUNT; i++) { give(others[i]); }
}

static void underflow(size_t size) {
  volatile char* p = take(size);
  const char c = p[-1];
  give((void*)p);
  if (c == 'x') { puts("x"); }
}

static void use_after_free(size_t size) {
  volatile char* p = take(size);
  give((void*)p);
  for (int i = 0; i < COUNT; i++) { others[i] = take(size); } /* none of them is p again */
  p[size / 2] = 1;
  for (int i = 0; i < COUNT; i++) { give(others[i]); }
}

static void double_free(void) {
  void* volatile p = take(48);
  void* volatile q = p;
  give(p);
  for (int i = 0; i < COUNT; i++) { give(take(48)); }
  give(q);
}

#ifndef PLAIN
static void wrong_size(void) {
  void* volatile p = take(48);
  mi_free_size(p, 20);
}

static void double_free_large(void) {
  void* volatile p = take(300000);
  void* volatile q = p;
  give(p);
  give(q);
}
#endif

static void free_inside(void) {
  char* volatile p = take(48);
  give(p + 16);
  give(p);
}

static void free_foreign(void) {
  static char bytes[64];
  void* volatile p = bytes + 16;
  give(p);
}

static void uninitialised(void) {
  volatile char* p = take(48);
  if (p[3] == 'x') { puts("x"); }
  give((void*)p);
}

static void leak(void) {
  for (int i = 0; i < 3; i++) { memset(take(1000), 1, 1000); }
}

static void leak_large(void) { memset(take(300000), 1, 300000); }

/* Of blocks that grew and shrank, were zeroed or aligned: the end is where the last call put it. */
static void overflow_resized(void) {
  char* p = take(100);
  p = take_again(p, 90);
  p = take_again(p, 110);
  ((volatile char*)p)[110] = 1;
  give(p);
}

static void overflow_zeroed(void) {
  volatile char* p = take_zero(33);
  p[33] = 1;
  give((void*)p);
}

static void overflow_aligned(void) {
  volatile char* p = take_at(200, 256);
  p[200] = 1;
  give((void*)p);
}

static void aligned_large(void) {
  for (size_t size = 33000; size < 70000; size += 1500) {
    char* p = take_at(size, 4096);
    memset(p, 1, size);
    give(p);
  }
}

/* All that is allowed: nothing to report. */
static void none(void) {
  aligned_large();
  uint64_t seed = 1;
  for (int round = 0; round < 4000; round++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    const size_t i = (size_t)(seed >> 33) % COUNT;
    const size_t size = (size_t)(seed >> 40) % ((size_t)1 << (seed >> 60));
    if (others[i] != NULL && (seed >> 20) % 3 == 0) {
      others[i] = take_again(others[i], size);
    } else {
      give(others[i]);
      others[i] = (seed >> 21) % 2 == 0 ? take(size) : take_zero(size);
      if ((seed >> 22) % 8 == 0) {
        give(others[i]);
        others[i] = take_at(size, (size_t)16 << (seed >> 25) % 10);
      }
    }
    if (others[i] != NULL) { memset(others[i], 1, size); }
  }
  for (int i = 0; i < COUNT; i++) { give(others[i]); }
}

static int is(const char* a, const char* b) { return strcmp(a, b) == 0; }

int main(int argc, char** argv) {
  const char* misuse = argc > 1 ? argv[1] : "none";
  const size_t size = argc > 2 ? strtoul(argv[2], NULL, 10) : 48;
  if (is(misuse, "none")) { none(); }
  if (is(misuse, "overflow")) { overflow(size); }
  if (is(misuse, "underflow")) { underflow(size); }
  if (is(misuse, "use-after-free")) { use_after_free(size); }
  if (is(misuse, "double-free")) { double_free(); }
#ifndef PLAIN
  if (is(misuse, "wrong-size")) { wrong_size(); }
  if (is(misuse, "double-free-large")) { double_free_large(); }
#endif
  if (is(misuse, "free-inside")) { free_inside(); }
  if (is(misuse, "free-foreign")) { free_foreign(); }
  if (is(misuse, "uninitialised")) { uninitialised(); }
  if (is(misuse, "leak")) { leak(); }
  if (is(misuse, "leak-large")) { leak_large(); }
  if (is(misuse, "overflow-resized")) { overflow_resized(); }
  if (is(misuse, "overflow-zeroed")) { overflow_zeroed(); }
  if (is(misuse, "overflow-aligned")) { overflow_aligned(); }
  return 0;
}
