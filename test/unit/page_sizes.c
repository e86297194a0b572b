/* test: timeout=60 when="linux posix" env="MIMALLOC_GUARDED_SAMPLE_RATE=0" (it plays the kernel) */
/* The whole library on an OS whose pages have 16 or 64 KiB, as AArch64 and POWER have them: every
   address and length in a memory call is a multiple of that, which emulators do not check; contents
   stay, zeroed memory is zero, and nothing is left in use. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../check.h"

#define OS_PAGES_ARE_SHORT 0
static size_t os_page;
static unsigned os_calls, os_huge_advices;

static unsigned long os_getauxval(unsigned long what) {
  return what == AT_PAGESZ ? os_page : getauxval(what);
}

static int is_multiple(unsigned long n) { return n % os_page == 0; }

/* At a place that such an OS would choose. */
static long os_map(size_t bytes, int protection, int flags) {
  CHECK(is_multiple(bytes));
  char* wide = mmap(NULL, bytes + os_page, protection, flags, -1, 0);
  if (wide == MAP_FAILED) { return -1; }
  char* start = (char*)(((uintptr_t)wide + os_page - 1) / os_page * os_page);
  if (start > wide) { munmap(wide, (size_t)(start - wide)); }
  if (start < wide + os_page) { munmap(start + bytes, (size_t)(wide + os_page - start)); }
  return (long)(uintptr_t)start;
}

static long os_map_as_told(const unsigned long* a) {
  CHECK(is_multiple(a[0]));
  if ((a[3] & MAP_FIXED) == 0) { return os_map(a[1], (int)a[2], (int)a[3]); }
  return (long)(uintptr_t)mmap((void*)a[0], a[1], (int)a[2], (int)a[3], -1, 0);
}

#ifdef __clang__ /* it reads six arguments, however many there are */
__attribute__((no_sanitize("memory")))
#endif
static long
os_syscall(long number, ...) {
  unsigned long a[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; i++) { a[i] = va_arg(list, unsigned long); }
  va_end(list);
  os_calls++;
  os_huge_advices += number == SYS_madvise && a[2] == MADV_HUGEPAGE;
  switch (number) {
#if defined(SYS_mmap2)
    case SYS_mmap2: return os_map_as_told(a);
#elif defined(__s390x__)
    case SYS_mmap: return os_map_as_told((const unsigned long*)a[0]);
#else
    case SYS_mmap: return os_map_as_told(a);
#endif
    case SYS_mremap: CHECK(is_multiple(a[2]) && ((a[3] & MREMAP_FIXED) == 0 || is_multiple(a[4])));
    /* fall through */
    case SYS_mprotect:
    case SYS_madvise:
    case SYS_munmap: CHECK(is_multiple(a[0]) && is_multiple(a[1])); break;
    default: os_calls--;
  }
  return syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#define syscall   os_syscall
#define getauxval os_getauxval
#include "../../src/static.c"
#undef syscall
#undef getauxval

enum { SLOTS = 400, STEPS = 60000, MOST_PATTERN = 300 };

static struct {
  unsigned char* p;
  size_t size;
  unsigned char tag;
} slots[SLOTS];

static uint64_t seed = 20260417;
static size_t below(size_t bound) {
  seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (size_t)(seed >> 33) % bound;
}

/* Mostly small, one in a hundred up to 1 MiB, one in two thousand up to 48 MiB. */
static size_t random_size(void) {
  const size_t dice = below(2000);
  if (dice == 0) { return 1 + below((size_t)48 << 20); }
  return 1 + below((size_t)1 << (dice < 20 ? 20 : below(16)));
}

static void fill(int i) {
  const size_t n = slots[i].size < MOST_PATTERN ? slots[i].size : MOST_PATTERN;
  slots[i].tag = (unsigned char)(1 + below(255));
  memset(slots[i].p, slots[i].tag, n);
  memset(slots[i].p + slots[i].size - n, slots[i].tag, n);
}

static void verify(int i, size_t size) {
  const size_t n = size < MOST_PATTERN ? size : MOST_PATTERN;
  const unsigned char* p = slots[i].p;
  CHECK(n == 0 || (p[0] == slots[i].tag && p[n - 1] == slots[i].tag));
}

static void step(void) {
  const int i = (int)below(SLOTS);
  const size_t size = random_size(), dice = below(100);
  verify(i, slots[i].size);
  if (dice < 20) {
    slots[i].p = mi_realloc(slots[i].p, size);
    verify(i, slots[i].size < size ? slots[i].size : size);
  } else {
    mi_free(slots[i].p);
    if (dice < 40) {
      slots[i].p = mi_zalloc(size);
      CHECK(slots[i].p != NULL && slots[i].p[0] == 0 && slots[i].p[size - 1] == 0 &&
            memcmp(slots[i].p, slots[i].p + 1, size - 1) == 0);
    } else if (dice < 50) {
      slots[i].p = mi_malloc_aligned(size, (size_t)1 << below(21));
    } else {
      slots[i].p = mi_malloc(size);
    }
  }
  slots[i].size = size;
  CHECK(slots[i].p != NULL);
  if (slots[i].p != NULL) { fill(i); }
}

static void free_all(void) {
  for (int i = 0; i < SLOTS; i++) {
    verify(i, slots[i].size);
    mi_free(slots[i].p);
    slots[i].p = NULL;
    slots[i].size = 0;
  }
}

static void arena_of_the_program(void) {
  static unsigned char memory[4 << 20];
  mi_arena_id_t id;
  CHECK(
      mi_manage_os_memory_ex(memory + 100, sizeof(memory) - 100, true, false, true, -1, true, &id));
  mi_heap_t* heap = mi_heap_new_in_arena(id);
  CHECK(heap != NULL);
  unsigned char* p = heap == NULL ? NULL : mi_heap_malloc(heap, 100000);
  CHECK(p > memory && p < memory + sizeof(memory));
  mi_free(p);
  mi_heap_delete(heap);
}

/* A product that is too large for its type is no short delay. */
static void test_longest_delay(void) {
  mi_option_set(mi_option_purge_delay, LONG_MAX / 2 + 1);
  mi_option_set(mi_option_arena_purge_mult, 4);
  CHECK(purge_delay_ms() == LONG_MAX);
  mi_option_set(mi_option_arena_purge_mult, 1);
  CHECK(purge_delay_ms() == LONG_MAX / 2 + 1);
  mi_option_set(mi_option_purge_delay, -1);
  mi_option_set(mi_option_arena_purge_mult, 10);
  CHECK(purge_delay_ms() == -10);
  mi_option_set(mi_option_arena_purge_mult, 1);
}

/* Pages and large blocks that come and go are used again. */
static void test_used_again(void) {
  enum { COUNT = 2000, LARGE = 100 * 1000 };
  static void* blocks[COUNT];
  for (int i = 0; i < COUNT; i++) { blocks[i] = mi_malloc(100); }
  for (int i = 0; i < COUNT; i++) { mi_free(blocks[i]); }
  const spares_t* own = spares_of(theap_current()->serial);
  const size_t waiting = own->slices;
  for (int i = 0; i < COUNT; i++) { blocks[i] = mi_malloc(100); }
  CHECK(waiting == 0 || own->slices < waiting);
  for (int i = 0; i < COUNT; i++) { mi_free(blocks[i]); }
  if (!KEEP_ROWS || WAITING_LARGE) { return; }
  const row_t* row = &theap_current()->row[BIN_LARGE];
  mi_free(mi_malloc(LARGE));
  CHECK(*row->top != NULL);
  void* block = mi_malloc(LARGE);
  CHECK(*row->top == NULL);
  mi_free(block);
}

static int on_pages_of(size_t bytes) {
  const pid_t child = fork();
  if (child == 0) {
    os_page = bytes;
    CHECK(port_page_bytes() == bytes);
    for (long delay = 0; delay <= 1000; delay += 1000) {
      mi_option_set(mi_option_purge_delay, delay);
      for (int i = 0; i < STEPS; i++) { step(); }
      free_all();
      mi_collect(true);
      guard_flush();       /* where a block keeps its guards */
      page_release_kept(); /* where memory keeps its class */
      memory_collect(true);
      CHECK(memory.taken_slices == 0 && memory.dirty_slices == 0 && memory.direct.count == 0);
    }
    arena_of_the_program();
    test_used_again();
    test_longest_delay();
    CHECK(os_calls > 1000);
    CHECK((os_huge_advices > 0) == (port_huge_bytes() <= 2 * MiB)); /* larger ones waste */
    printf("pages of %zu bytes: %u memory calls\n", bytes, os_calls);
    fflush(stdout);
    _exit(check_done());
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

int main(void) {
  const size_t least = (size_t)sysconf(_SC_PAGESIZE); /* smaller ones cannot be had */
  for (size_t bytes = least; bytes <= 65536; bytes *= 4) { CHECK(on_pages_of(bytes) == 0); }
  return check_done();
}
