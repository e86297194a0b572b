// Threads' ends, and fork handlers, which may allocate and then set errno.
#ifndef MI_PORT_UNIX_THREAD_H
#define MI_PORT_UNIX_THREAD_H

#include <pthread.h>

#include "unix_exit.h"

PRIVATE int port_at_fork(void (*prepare)(void), void (*parent)(void), void (*child)(void)) {
  const int saved = errno;
  const int error = pthread_atfork(prepare, parent, child);
  errno = saved;
  return error;
}

#endif
