/* test: timeout=20 libs="dl" when="posix" */
/* free_sized and free_aligned_sized (C23), where the process has them: they free, take NULL, and
   keep errno. */
#define _GNU_SOURCE
#include "../check.h"
#include "../lifecycle/process.h"
#include "opaque.h"

#include <dlfcn.h>

typedef void free_sized_t(void*, size_t);
typedef void free_aligned_sized_t(void*, size_t, size_t);

static void check_free_sized(free_sized_t* free_size) {
  errno = 77;
  free_size(NULL, 0);
  free_size(NULL, 100);
  for (int round = 0; round < 20; round++) {
    for (size_t size = 0; size < (2u << 20); size = size * 3 + 1) {
      void* p = round % 2 == 0 ? malloc(size) : calloc(1, size);
      CHECK(p != NULL);
      memset(p, 1, size);
      errno = 77;
      free_size(p, size);
      CHECK(errno == 77);
    }
  }
  void* p = realloc(malloc(10), 500);
  free_size(p, 500);
}

static void check_free_aligned_sized(free_aligned_sized_t* free_aligned) {
  errno = 77;
  free_aligned(NULL, 64, 64);
  CHECK(errno == 77);
  for (int round = 0; round < 10; round++) {
    for (size_t alignment = 8; alignment <= (1u << 20); alignment *= 2) {
      void* p = aligned_alloc(alignment, alignment * 2);
      CHECK(p != NULL);
      memset(p, 1, alignment * 2);
      errno = 77;
      free_aligned(p, alignment, alignment * 2);
      CHECK(errno == 77);
    }
  }
}

int main(void) {
  free_sized_t* free_size;
  free_aligned_sized_t* free_aligned;
  *(void**)&free_size = dlsym(RTLD_DEFAULT, "free_sized");
  *(void**)&free_aligned = dlsym(RTLD_DEFAULT, "free_aligned_sized");
  CHECK((free_size == NULL) == (free_aligned == NULL));
  if (free_size == NULL || free_aligned == NULL) {
    printf("not in this C library\n");
    return check_done();
  }

  const size_t before = resident_kib();
  check_free_sized(free_size);
  check_free_aligned_sized(free_aligned);
  for (int i = 0; i < 1000; i++) {
    void* p = malloc(300000);
    memset(p, 1, 300000);
    free_size(p, 300000);
  }
  CHECK(resident_kib() < before + 64 * 1024); /* it does free */
  return check_done();
}
