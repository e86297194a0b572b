/* test: timeout=60 when="release|debug|secure|guarded|tsan|ubsan linux"
   The port for Solaris and illumos, whose mmap answers addresses of the upper half unless it is
   asked for a place: by a stand-in for mmap, where "upper" begins below what Linux gives. All that
   the library has is then low; what is not goes back at once; and where nothing low is free the
   answer is ENOMEM. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#define LOW_END ((uint64_t)1 << 46)

/* What lies in a range that the program has, as others' mappings would; FAKE: nothing is mapped. */
static struct {
  enum { REAL, FAKE } kind;
  uint64_t taken_from, taken_to;
  size_t mapped, unmapped, upper;
} os;

static void* os_answer(void* hint, size_t bytes) {
  const uint64_t start = (uint64_t)(uintptr_t)hint;
  const int is_free = start + bytes <= os.taken_from || start >= os.taken_to;
  os.mapped++;
  return hint != NULL && is_free ? hint : (void*)(uintptr_t)(LOW_END * 3);
}

static void* stand_in_mmap(void* hint, size_t bytes, int protection, int flags, int file,
                           off_t at) {
  if (os.kind == FAKE) { return os_answer(hint, bytes); }
  void* p = mmap(hint, bytes, protection, flags, file, at);
  os.mapped++;
  os.upper += p != MAP_FAILED && (uint64_t)(uintptr_t)p >= LOW_END;
  return p;
}

static int stand_in_munmap(void* start, size_t bytes) {
  os.unmapped++;
  return os.kind == FAKE ? 0 : munmap(start, bytes);
}

#define mmap            stand_in_mmap
#define munmap          stand_in_munmap
#define MI_PORT_LOCAL_H /* instead of what local.h would choose */
#include "../../src/port/local_solaris.h"
#include "../../src/static.c"

#include "../check.h"
#include "../system.h"

enum { PLAIN = MAP_PRIVATE | MAP_ANONYMOUS };

static uint64_t asked_for(size_t bytes) {
  void* p = low_mmap(NULL, bytes, PROT_NONE, PLAIN, -1, 0);
  return p == MAP_FAILED ? 0 : (uint64_t)(uintptr_t)p;
}

/* What was answered from above went back. */
static void test_hints(void) {
  os.kind = FAKE;
  const uint64_t first = asked_for(MiB);
  CHECK(first < LOW_TOP && first >= LOW_FLOOR && os.mapped == 2 && os.unmapped == 1);
  const uint64_t second = asked_for(3 * MiB);
  CHECK(second + 3 * MiB <= first && os.mapped == 3 && os.unmapped == 1);
  os.taken_from = LOW_TOP * 3 / 4, os.taken_to = LOW_TOP; /* as if others had it */
  const uint64_t third = asked_for(MiB);
  CHECK(third != 0 && third < os.taken_from && os.mapped - os.unmapped == 3);
}

/* They begin again at the top, where memory may be free by then. */
static void test_again(void) {
  os.taken_from = os.taken_to = 0;
  uint64_t before = asked_for(GiB);
  size_t rises = 0;
  const uint64_t bytes = (uint64_t)64 << 30;
  for (uint64_t i = 0; i < 3 * LOW_TOP / bytes; i++) {
    const uint64_t now = asked_for((size_t)bytes);
    CHECK(now >= LOW_FLOOR - LOW_ALIGN && now + bytes <= LOW_TOP);
    rises += now > before;
    before = now;
  }
  CHECK(rises >= 2 && rises <= 4);
}

static void test_refusal(void) {
  const size_t kept = os.mapped - os.unmapped;
  os.taken_from = 0, os.taken_to = LOW_END;
  errno = 0;
  CHECK(asked_for(MiB) == 0 && errno == ENOMEM && os.mapped - os.unmapped == kept);
  os.taken_to = 0;
  CHECK(asked_for((size_t)LOW_END) == 0 && os.mapped - os.unmapped == kept);
  CHECK(asked_for(MiB) != 0);
  os.kind = REAL;
}

enum { BLOCKS = 2000 };
static unsigned char* blocks[BLOCKS];

static size_t size_of(size_t i) { return i % 100 == 0 ? (i + 1) << 14 : 1 + i * 37 % 3000; }

static void drop(size_t i) {
  CHECK(blocks[i][0] == i % 251 && blocks[i][size_of(i) - 1] == i % 251);
  mi_free(blocks[i]);
}

static void* work(void* unused) {
  (void)unused;
  for (size_t i = 0; i < BLOCKS; i++) {
    blocks[i] = mi_malloc(size_of(i));
    CHECK(blocks[i] != NULL && (uint64_t)(uintptr_t)blocks[i] < LOW_END);
    memset(blocks[i], (int)(i % 251), size_of(i));
  }
  for (size_t i = 0; i < BLOCKS; i += 2) { drop(i); }
  mi_collect(true);
  for (size_t i = 1; i < BLOCKS; i += 2) { drop(i); }
  return NULL;
}

int main(void) {
  void* p = mmap(NULL, MiB, PROT_NONE, PLAIN, -1, 0);
  if (sizeof(void*) == 4 || (uint64_t)(uintptr_t)p < LOW_END) {
    puts("skipped: addresses are low here by themselves");
    return 77;
  }
  test_thread_t thread;
  work(NULL);
  CHECK(thread_start(&thread, work, NULL));
  thread_join(thread);
  CHECK(os.upper > 0);
  store_relaxed(&low_hint, 0);
  os.mapped = os.unmapped = 0;
  test_hints();
  test_again();
  test_refusal();
  return check_done();
}
