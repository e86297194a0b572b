/* test: timeout=60 libs="pthread" when="release linux" not-emulated="the emulator gives back one piece at a time"
   Memory that goes back to the system in many pieces goes by few calls, since each interrupts the
   other processors, which may run another thread: free runs, and holes in pages of blocks. Where
   there is none, and where the system refuses such a call or filters calls, the pieces go one by
   one. Either way the blocks beside them stay as they are, and what was given back is zero. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_process_madvise
#define SYS_process_madvise (-1)
#endif

static struct {
  bool refuses, filters; /* as an older kernel, or one that filters calls */
  bool is_known;         /* the kernel has done it */
  size_t questions, calls, pieces, single;
} os;

static long answer(long number, const long* a) {
  if (number == SYS_prctl && a[0] == PR_GET_SECCOMP && os.filters) { return 2; }
  if (number == SYS_process_madvise && os.refuses) {
    errno = EBADF;
    return -1;
  }
  return syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* As the C library does it: six words, however many the call has. */
static long counting_syscall(long number, ...) {
  long a[6];
  va_list args;
  va_start(args, number);
  for (int i = 0; i < 6; i++) { a[i] = va_arg(args, long); }
  va_end(args);
  os.questions += number == SYS_prctl;
  const long result = answer(number, a);
  if (number == SYS_process_madvise) {
    os.calls++, os.pieces += (size_t)a[2];
    os.is_known |= result > 0;
  }
  os.single += number == SYS_madvise && (a[2] == MADV_DONTNEED || a[2] == MADV_FREE);
  return result;
}

#define syscall counting_syscall
#include "../../src/static.c"
#undef syscall

#include <pthread.h>
#include <sys/wait.h>

#include "../check.h"

enum { COUNT = 300, SIZE = 300 << 10, STAYS = 5 };
static unsigned char* blocks[COUNT];

/* One block in five stays, and no two others that are freed in turn are neighbours. */
static void free_most(void) {
  for (size_t step = 0; step < COUNT; step++) {
    const size_t i = step * 77 % COUNT;
    if (i % STAYS != 0) {
      mi_free(blocks[i]);
      blocks[i] = NULL;
    }
  }
}

static void shrink_and_grow(void) {
  for (size_t i = 0; i < COUNT; i++) {
    CHECK((blocks[i] = (unsigned char*)mi_malloc(SIZE)) != NULL);
    memset(blocks[i], (int)(i % 255) + 1, SIZE);
  }
  free_most();
  for (size_t i = 0; i < COUNT; i += STAYS) {
    CHECK(is_filled(blocks[i], (int)(i % 255) + 1, SIZE));
  }
  for (size_t i = 0; i < COUNT; i++) {
    if (blocks[i] == NULL) {
      CHECK((blocks[i] = (unsigned char*)mi_zalloc(SIZE)) != NULL && is_filled(blocks[i], 0, SIZE));
    }
  }
  for (size_t i = 0; i < COUNT; i++) { mi_free(blocks[i]); }
}

enum { SMALL_COUNT = 40000, SMALL_SIZE = 1000, SMALL_STAYS = 50 };
static unsigned char* small[SMALL_COUNT];

/* One block in fifty stays: most of what goes back are parts of pages. */
static void leave_holes(void) {
  for (size_t i = 0; i < SMALL_COUNT; i++) {
    CHECK((small[i] = (unsigned char*)mi_malloc(SMALL_SIZE)) != NULL);
    memset(small[i], (int)(i % 255) + 1, SMALL_SIZE);
  }
  for (size_t step = 0; step < SMALL_COUNT; step++) {
    const size_t i = step * 7919 % SMALL_COUNT;
    if (i % SMALL_STAYS != 0) { mi_free(small[i]); }
  }
  for (size_t i = 0; i < SMALL_COUNT; i += SMALL_STAYS) {
    CHECK(is_filled(small[i], (int)(i % 255) + 1, SMALL_SIZE));
    mi_free(small[i]);
  }
}

/* Memory that was given back is wanted again at once: then it is offered only. */
static void swing(void) {
  for (size_t round = 0; round < 8; round++) {
    for (size_t i = 0; i < SMALL_COUNT; i++) {
      CHECK((small[i] = (unsigned char*)mi_malloc(SMALL_SIZE)) != NULL);
      small[i][0] = 1;
    }
    for (size_t step = 0; step < SMALL_COUNT; step++) { mi_free(small[step * 7919 % SMALL_COUNT]); }
  }
}

static void* idle(void* unused) {
  for (;;) { pause(); }
  return unused;
}

static void add_a_thread(void) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, idle, NULL) == 0);
}

static void run_beside_a_thread(void) {
  add_a_thread();
  shrink_and_grow();
  leave_holes();
}

static int alone(void) {
  const bool is_told = &__libc_single_threaded != NULL; /* not every C library has it */
  shrink_and_grow();
  leave_holes();
  CHECK(!is_told || (os.questions == 0 && os.calls == 0 && os.single > 10));
  return check_done();
}

static int refused(void) {
  os.refuses = true;
  run_beside_a_thread();
  CHECK(os.calls == 1 && os.single > 10);
  return check_done();
}

static int filtered(void) {
  os.filters = true;
  run_beside_a_thread();
  CHECK(os.calls == 0 && os.single > 10);
  return check_done();
}

static int in_child(int (*body)(void)) {
  int status = -1;
  const pid_t child = fork();
  if (child == 0) {
    const int failed = body();
    (void)fflush(stdout);
    _exit(failed);
  }
  return waitpid(child, &status, 0) == child ? status : -1;
}

static int together(const char* what, void (*body)(void)) {
  add_a_thread();
  body();
  if (!os.is_known) {
    printf("skipped: the kernel takes one piece at a time\n");
    return check_done();
  }
  printf("%s: %zu pieces by %zu calls, %zu alone\n", what, os.pieces, os.calls, os.single);
  CHECK(os.pieces >= 3 * os.calls && os.pieces > 5 * os.single);
  return check_done();
}

static int runs_together(void) { return together("runs", shrink_and_grow); }
static int holes_together(void) { return together("holes", leave_holes); }
static int offers_together(void) { return together("offers", swing); }

int main(void) {
  CHECK(in_child(refused) == 0);
  CHECK(in_child(filtered) == 0);
  CHECK(in_child(alone) == 0);
  CHECK(in_child(runs_together) == 0);
  CHECK(in_child(holes_together) == 0);
  CHECK(in_child(offers_together) == 0);
  return check_done();
}
