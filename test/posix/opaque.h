/* The allocation functions behind volatile pointers, so that no compiler folds, merges or removes a
   call, whatever its flags. Include it last: from here on `malloc(n)` is a call that really
   happens. C only. */
#ifndef TEST_OPAQUE_H
#define TEST_OPAQUE_H

#ifdef __APPLE__
#include <malloc/malloc.h>
#else
#include <malloc.h>
#endif
#include <sched.h> /* musl declares calloc and free in it */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define OPAQUE __attribute__((unused)) static

#ifdef __wasm__ /* wasi-libc does not declare it */
void* memalign(size_t alignment, size_t size);
#endif
#ifdef __APPLE__ /* has it for zones only, and a size by another name */
OPAQUE void* memalign(size_t alignment, size_t size) {
  return malloc_zone_memalign(malloc_default_zone(), alignment, size);
}
OPAQUE size_t malloc_usable_size(void* p) { return malloc_size(p); }
enum { IS_LIKE_GLIBC = 0 };
#else
enum { IS_LIKE_GLIBC = 1 }; /* realloc to no bytes frees, posix_memalign sets errno */
#endif

#ifndef __GLIBC__
#define __GLIBC_PREREQ(major, minor) 1
#endif
#if !__GLIBC_PREREQ(2, 26) || defined(__EMSCRIPTEN__) || defined(__APPLE__)
OPAQUE void* own_reallocarray(void* p, size_t count, size_t size) {
  size_t bytes = 0;
  const bool overflows = __builtin_mul_overflow(count, size, &bytes);
  return realloc(p, overflows ? SIZE_MAX : bytes);
}
#else
#define own_reallocarray reallocarray
#endif

OPAQUE void* (*volatile opaque_malloc)(size_t) = malloc;
OPAQUE void* (*volatile opaque_calloc)(size_t, size_t) = calloc;
OPAQUE void* (*volatile opaque_realloc)(void*, size_t) = realloc;
OPAQUE void* (*volatile opaque_reallocarray)(void*, size_t, size_t) = own_reallocarray;
OPAQUE void (*volatile opaque_free)(void*) = free;
OPAQUE int (*volatile opaque_posix_memalign)(void**, size_t, size_t) = posix_memalign;
OPAQUE void* (*volatile opaque_aligned_alloc)(size_t, size_t) = aligned_alloc;
OPAQUE void* (*volatile opaque_memalign)(size_t, size_t) = memalign;
#ifndef __wasm__
OPAQUE void* (*volatile opaque_valloc)(size_t) = valloc;
#endif
#ifdef __GLIBC__
OPAQUE void* (*volatile opaque_pvalloc)(size_t) = pvalloc;
#define pvalloc opaque_pvalloc
#else /* musl has neither */
OPAQUE int malloc_trim(size_t keep) { return keep == 1; }
#endif
OPAQUE size_t (*volatile opaque_malloc_usable_size)(void*) = malloc_usable_size;

#define malloc             opaque_malloc
#define calloc             opaque_calloc
#define realloc            opaque_realloc
#define reallocarray       opaque_reallocarray
#define free               opaque_free
#define posix_memalign     opaque_posix_memalign
#define aligned_alloc      opaque_aligned_alloc
#define memalign           opaque_memalign
#define valloc             opaque_valloc
#define malloc_usable_size opaque_malloc_usable_size

/* Sizes that no allocator can serve: the first byte past PTRDIFF_MAX, and those whose rounding up
   wraps around. */
/* (Of 4 GiB of addresses PTRDIFF_MAX is only half.) */
__attribute__((unused)) static const size_t impossible_sizes[] = {
    (size_t)PTRDIFF_MAX + (sizeof(size_t) == 8 ? 0 : 2),
    (size_t)PTRDIFF_MAX + 1,
    (size_t)PTRDIFF_MAX + 4096,
    SIZE_MAX / 2 + 65537,
    SIZE_MAX - 65536,
    SIZE_MAX - 8192,
    SIZE_MAX - 4097,
    SIZE_MAX - 4096,
    SIZE_MAX - 4095,
    SIZE_MAX - 64,
    SIZE_MAX - 32,
    SIZE_MAX - 31,
    SIZE_MAX - 17,
    SIZE_MAX - 16,
    SIZE_MAX - 15,
    SIZE_MAX - 8,
    SIZE_MAX - 7,
    SIZE_MAX - 1,
    SIZE_MAX,
};
enum { IMPOSSIBLE_SIZES = sizeof(impossible_sizes) / sizeof(impossible_sizes[0]) };

/* The highest bit of a size_t, and the lowest that is more than there are addresses. */
enum {
  TOP_BIT = (int)sizeof(size_t) * 8 - 1,
  BIT_BEYOND_ADDRESSES = sizeof(size_t) == 8 ? 48 : 32
};

/* Is p a multiple of `alignment` (a power of two)? */
static inline bool is_aligned(const void* p, size_t alignment) {
  return ((uintptr_t)p & (alignment - 1)) == 0;
}

/* Fill n bytes with a pattern that depends on seed and place; see whether they still hold it. */
static inline unsigned char pattern_byte(size_t seed, size_t i) {
  return (unsigned char)((seed * 167 + i * 31 + (i >> 8) * 7 + 1) & 0xff);
}
static inline void pattern_fill(void* p, size_t n, size_t seed) {
  for (size_t i = 0; i < n; i++) { ((unsigned char*)p)[i] = pattern_byte(seed, i); }
}
static inline bool pattern_holds(const void* p, size_t n, size_t seed) {
  for (size_t i = 0; i < n; i++) {
    if (((const unsigned char*)p)[i] != pattern_byte(seed, i)) { return false; }
  }
  return true;
}
static inline bool all_zero(const void* p, size_t n) {
  const unsigned char* b = (const unsigned char*)p;
  return n == 0 || (b[0] == 0 && memcmp(b, b + 1, n - 1) == 0);
}

#endif
