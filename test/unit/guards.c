/* test: when="linux posix" */
/* Guards of the Linux port on a kernel whose answers the test gives: what was made inaccessible
   comes back, whatever threads find out at the same time about what this kernel can do. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../check.h"

enum { PAGE = 64 << 10, PAGES = 2 };
static char* memory;

/* The kernel's markers, and what it answers; each test sets them. */
static struct {
  bool marked[PAGES];
  int install_error;            /* of the next call only */
  void (*while_it_works)(void); /* what another thread does during that call */
} kernel;

/* An emulator's takes the advice to populate what has no access. */
static bool is_readable(const char* start) {
  int ends[2];
  if (pipe(ends) != 0) { return false; }
  const bool readable = write(ends[1], start, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return readable;
}

static long kernel_advise(char* start, unsigned long advice) {
  enum { POPULATE_READ = 22, INSTALL = 102, REMOVE = 103, UNKNOWN = 104 };
  const size_t page = (size_t)(start - memory) / PAGE;
  void (*meanwhile)(void) = kernel.while_it_works;
  const int error = advice == INSTALL ? kernel.install_error : 0;
  if (advice >= UNKNOWN) { return errno = EINVAL, -1; } /* an emulator's takes any */
  if (advice == POPULATE_READ) { return is_readable(start) ? 0 : (errno = EINVAL, -1); }
  if (advice != INSTALL && advice != REMOVE) { return madvise(start, PAGE, (int)advice); }
  if (advice == INSTALL) { kernel.install_error = 0, kernel.while_it_works = NULL; }
  if (advice == INSTALL && meanwhile != NULL) { meanwhile(); }
  if (error == 0) { kernel.marked[page] = advice == INSTALL; }
  errno = error;
  return error == 0 ? 0 : -1;
}

#ifdef __clang__ /* it reads six arguments, however many there are */
__attribute__((no_sanitize("memory")))
#endif
static long
kernel_syscall(long number, ...) {
  unsigned long a[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; i++) { a[i] = va_arg(list, unsigned long); }
  va_end(list);
  if (number == SYS_madvise) { return kernel_advise((char*)a[0], a[2]); }
  return syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#define syscall kernel_syscall
#include "../../src/port/linux.c"
#undef syscall

static char* page_at(size_t i) { return memory + i * PAGE; }

/* Accessible, and zero. */
static bool is_back(size_t i) {
  const bool zero = !kernel.marked[i] && *page_at(i) == 0;
  if (zero) { *page_at(i) = 1; }
  return zero;
}

static void guard_next(void) { CHECK(port_guard(page_at(1), PAGE) == 0 && kernel.marked[1]); }

static void guard_next_refused(void) {
  kernel.install_error = EINVAL;
  CHECK(port_guard(page_at(1), PAGE) == 0 && !kernel.marked[1]);
}

static void bring_back(void) {
  CHECK(port_unguard(page_at(1), PAGE) == 0 && is_back(1));
  CHECK(port_unguard(page_at(0), PAGE) == 0 && is_back(0));
}

static void test_refused_while_another_works(void) {
  kernel.install_error = EINVAL, kernel.while_it_works = guard_next;
  CHECK(port_guard(page_at(0), PAGE) == 0 && !kernel.marked[0]);
  bring_back();
}

static void test_works_while_another_is_refused(void) {
  kernel.while_it_works = guard_next_refused;
  CHECK(port_guard(page_at(0), PAGE) == 0 && kernel.marked[0]);
  bring_back();
}

/* As on locked memory. */
static void test_refused_later(void) {
  CHECK(port_guard(page_at(0), PAGE) == 0 && kernel.marked[0]);
  guard_next_refused();
  bring_back();
  CHECK(load_relaxed(&guard_mappings) == 0); /* there may be as many as before */
  guard_next();                              /* tried again */
}

static void test_missing(void) {
  kernel.install_error = EINVAL;
  CHECK(port_guard(page_at(0), PAGE) == 0 && !kernel.marked[0]);
  CHECK(port_guard(page_at(1), PAGE) == 0 && !kernel.marked[1]); /* not tried again */
  bring_back();
}

/* Each in a process of its own: what the port has found out stays. */
static void in_child(void (*test)(void)) {
  int status = -1;
  const pid_t child = fork();
  if (child == 0) {
    check_failures = 0;
    test();
    _exit(check_done());
  }
  CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

int main(void) {
  memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) { return 2; }
  in_child(test_refused_while_another_works);
  in_child(test_works_while_another_is_refused);
  in_child(test_refused_later);
  in_child(test_missing);
  return check_done();
}
