/* test: timeout=20 when="linux" (other ports call the C library's mmap) */
/* A program that wraps mmap, munmap and madvise with functions that allocate: no endless recursion,
   no deadlock. */
#define _GNU_SOURCE
#include "../check.h"
#include "opaque.h"

#include <sys/mman.h>
#include <sys/syscall.h>

static int depth;
static int calls;

static void allocate_inside(void) {
  __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
  if (depth > 0) { return; }
  depth++;
  void* p = malloc(100);
  free(p);
  depth--;
}

static void* map(void* addr, size_t length, int prot, int flags, int fd, off_t offset) {
  allocate_inside();
#if defined(SYS_mmap2)
  return (void*)syscall(SYS_mmap2, addr, length, prot, flags, fd, (long)(offset / 4096));
#elif defined(__s390x__)
  const unsigned long arguments[] = {(unsigned long)addr, length,
                                     (unsigned)prot,      (unsigned)flags,
                                     (unsigned long)fd,   (unsigned long)offset};
  return (void*)syscall(SYS_mmap, arguments);
#else
  return (void*)syscall(SYS_mmap, addr, length, prot, flags, fd, offset);
#endif
}
void* mmap(void* addr, size_t length, int prot, int flags, int fd, off_t offset) {
  return map(addr, length, prot, flags, fd, offset);
}
#ifdef __GLIBC__
void* mmap64(void* addr, size_t length, int prot, int flags, int fd, off64_t offset) {
  return map(addr, length, prot, flags, fd, (off_t)offset);
}
#endif
int munmap(void* addr, size_t length) {
  allocate_inside();
  return (int)syscall(SYS_munmap, addr, length);
}
int madvise(void* addr, size_t length, int advice) {
  allocate_inside();
  return (int)syscall(SYS_madvise, addr, length, advice);
}
int mprotect(void* addr, size_t length, int prot) {
  allocate_inside();
  return (int)syscall(SYS_mprotect, addr, length, prot);
}

int main(void) {
  for (int round = 0; round < 3; round++) {
    static void* block[3000];
    for (size_t size = 50; size < 30000000; size *= 9) {
      const int n = size < 100000 ? 3000 : 10;
      for (int i = 0; i < n; i++) {
        block[i] = malloc(size);
        CHECK(block[i] != NULL);
        memset(block[i], i, size < 200 ? size : 200);
      }
      for (int i = 0; i < n; i++) {
        CHECK(((unsigned char*)block[i])[10] == (unsigned char)i);
        free(block[i]);
      }
    }
    malloc_trim(0);
  }
  void* p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(p != MAP_FAILED && munmap(p, 4096) == 0 && calls >= 2);
  return check_done();
}
