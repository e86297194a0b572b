// What the process was started with: environment, limits, standard error. The port that includes
// this has defined is_set_user_id, and os_write, which is like write, but no cancellation point.
#ifndef MI_PORT_UNIX_ENV_H
#define MI_PORT_UNIX_ENV_H

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef environ  // the port may have another way to it
// NOLINTNEXTLINE(readability-redundant-declaration) the headers may have come without _GNU_SOURCE
EXTERN_C char** environ;
#endif

PRIVATE char* const* port_environ(void) { return is_set_user_id() ? NULL : environ; }

#include "environ.h"

// NOLINTNEXTLINE(readability-redundant-declaration) strict C11 hides it
EXTERN_C char* realpath(const char* name, char* resolved) NOTHROW;

PRIVATE char* port_realpath(const char* name, char* resolved) { return realpath(name, resolved); }

// ---- limits ----

#ifndef RLIMIT_AS  // OpenBSD counts what a process maps as its data
#define RLIMIT_AS RLIMIT_DATA
#endif

static size_t ask_limit(bool data) {
  struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
  const int saved = errno;
  (void)getrlimit(data ? RLIMIT_DATA : RLIMIT_AS, &limit);
  errno = saved;
  return limit.rlim_cur == RLIM_INFINITY || (uintmax_t)limit.rlim_cur >= SIZE_MAX
             ? SIZE_MAX
             : (size_t)limit.rlim_cur;
}

// SIZE_MAX without one, and where it is more than there are addresses. A program may change it, and
// may be forbidden later to ask: so it is asked again only after memory was refused.
static size_t limit_of(bool data) {
  size_t limit = load_relaxed(&known_limits[data]);
  if (limit == 0) {
    store_relaxed(&known_limits[!data], ask_limit(!data));
    limit = ask_limit(data);
    store_relaxed(&known_limits[data], limit);
  }
  return limit;
}

PRIVATE size_t port_address_limit(void) { return limit_of(false); }

PRIVATE bool port_data_is_limited(void) { return limit_of(true) != SIZE_MAX; }

// ---- standard error ----

static _Atomic(bool) stderr_is_other;

PRIVATE void port_check_stderr(void) {
  const int saved = errno;
  store_relaxed(&stderr_is_other, fcntl(STDERR_FILENO, F_GETFD) == -1);
  errno = saved;
}

// The copy of standard error, and which file it is; 0: there is none.
static struct {
  _Atomic(int) number;
  dev_t device;
  ino_t inode;
} stderr_copy;

// Far from the numbers that a program's own files get.
PRIVATE void port_keep_stderr(void) {
  enum { FIRST_NUMBER = 500, FIRST_OF_FEW = 50 };
  const int saved = errno;
  struct stat status;
  int number = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, (int)FIRST_NUMBER);
  if (number < 0) { number = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, (int)FIRST_OF_FEW); }
  if (number >= 0 && fstat(number, &status) == 0) {
    stderr_copy.device = status.st_dev;
    stderr_copy.inode = status.st_ino;
    store_release(&stderr_copy.number, number);  // [E1] out: which file it is
  }
  errno = saved;
}

// -1 if there is no copy, or if the number is another file's by now.
static int kept_stderr(void) {
  struct stat status;
  const int number = load_acquire(&stderr_copy.number);  // [E1] in
  const bool is_ours = number != 0 && fstat(number, &status) == 0 &&
                       status.st_dev == stderr_copy.device && status.st_ino == stderr_copy.inode;
  return is_ours ? number : -1;
}

// Returns false if the descriptor is closed.
static bool write_all(int descriptor, const char* text, size_t length) {
  while (length > 0) {
    const long done = os_write(descriptor, text, length);
    if (done <= 0 && errno != EINTR) { return errno != EBADF; }
    if (done > 0) { text += done, length -= (size_t)done; }
  }
  return true;
}

PRIVATE void port_write_stderr(const char* text, size_t length) {
  const int saved = errno;
  if (!load_relaxed(&stderr_is_other) && !write_all(STDERR_FILENO, text, length)) {
    (void)write_all(kept_stderr(), text, length);
  }
  errno = saved;
}

#endif
