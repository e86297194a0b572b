/* test: when=glibc timeout=20 libs="dl" */
/* glibc's inner names and the retired cfree: whatever mixture of names made a block, any free of
   the family takes it. */
#define _GNU_SOURCE
#include "../check.h"
#include "opaque.h"

#include <dlfcn.h>

static void* lookup(const char* name) {
  void* f = dlsym(RTLD_DEFAULT, name);
  return f != NULL ? f : dlvsym(RTLD_DEFAULT, name, "GLIBC_2.2.5");
}

typedef void* malloc_t(size_t);
typedef void* calloc_t(size_t, size_t);
typedef void* realloc_t(void*, size_t);
typedef void free_t(void*);

static free_t* release[3];
static int releases;
static int turn;

static void checked_free(void* p, size_t size) {
  CHECK(p != NULL && malloc_usable_size(p) >= size);
  memset(p, 0x5a, size);
  p = realloc(p, size + 1000);
  CHECK(p != NULL && (size == 0 || ((unsigned char*)p)[size - 1] == 0x5a));
  release[turn++ % releases](p);
}

int main(void) {
  malloc_t* inner_malloc;
  calloc_t* inner_calloc;
  realloc_t* inner_realloc;
  calloc_t* inner_memalign;
  malloc_t* inner_valloc;
  malloc_t* inner_pvalloc;
  free_t* inner_free;
  free_t* retired_free;
  *(void**)&inner_malloc = lookup("__libc_malloc");
  *(void**)&inner_calloc = lookup("__libc_calloc");
  *(void**)&inner_realloc = lookup("__libc_realloc");
  *(void**)&inner_memalign = lookup("__libc_memalign");
  *(void**)&inner_valloc = lookup("__libc_valloc");
  *(void**)&inner_pvalloc = lookup("__libc_pvalloc");
  *(void**)&inner_free = lookup("__libc_free");
  *(void**)&retired_free = lookup("cfree");
  release[releases++] = free;
  if (inner_free != NULL) { release[releases++] = inner_free; }
  if (retired_free != NULL) { release[releases++] = retired_free; }

  for (int round = 0; round < 6; round++) {
    for (size_t size = 0; size < 500000; size = size * 5 + 3) {
      checked_free(malloc(size), size);
      if (inner_malloc != NULL) { checked_free(inner_malloc(size), size); }
      if (inner_calloc != NULL) { checked_free(inner_calloc(1, size), size); }
      if (inner_realloc != NULL) { checked_free(inner_realloc(malloc(5), size + 1), size + 1); }
      if (inner_memalign != NULL) { checked_free(inner_memalign(256, size), size); }
      if (inner_valloc != NULL) { checked_free(inner_valloc(size), size); }
      if (inner_pvalloc != NULL) { checked_free(inner_pvalloc(size), size); }
    }
  }
  return check_done();
}
