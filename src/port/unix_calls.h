// mmap, munmap and mprotect of the C library, which answer 0 or an error number and keep errno.
#ifndef MI_PORT_UNIX_CALLS_H
#define MI_PORT_UNIX_CALLS_H

#include <errno.h>
#include <sys/mman.h>

#include "../base/attributes.h"
#include "unix_refused.h"

#ifndef OS_FILE  // a port may have more to say of memory that is no file's
#define OS_FILE (-1)
#endif
#ifndef OS_MMAP  // a port may have more to say of where memory lies
#define OS_MMAP mmap
#endif

static int os_mmap(void* hint, size_t bytes, int protection, int flags, void** out) {
  const int saved = errno;
  // cppcheck-suppress invalidFunctionArg ; -1 is no file
  void* p = OS_MMAP(hint, bytes, protection, flags, OS_FILE, 0);
  const int error = p == MAP_FAILED ? errno : 0;
  errno = saved;
  if (error == 0) { *out = p; }
  // cppcheck-suppress memleak ; it is the caller's by `out`
  return see_refused(error);
}

UNUSED static int os_munmap(void* start, size_t bytes) {
  const int saved = errno;
  const int error = munmap(start, bytes) == 0 ? 0 : errno;
  errno = saved;
  return error;
}

static int os_mprotect(void* start, size_t bytes, int protection) {
  const int saved = errno;
  const int error = mprotect(start, bytes, protection) == 0 ? 0 : errno;
  errno = saved;
  return see_refused(error);
}

#endif
