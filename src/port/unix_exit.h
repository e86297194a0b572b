// Threads' ends by a key with a destructor. Both calls may allocate, and then set errno.
#ifndef MI_PORT_UNIX_EXIT_H
#define MI_PORT_UNIX_EXIT_H

#include <pthread.h>

static pthread_key_t exit_key;
static _Atomic(bool) has_exit_key;

PRIVATE int port_thread_exit_init(void (*on_exit)(void*)) {
  const int saved = errno;
  const int error = pthread_key_create(&exit_key, on_exit);
  errno = saved;
  store_release(&has_exit_key, error == 0);  // [K1] out: the key
  return error;
}

PRIVATE int port_thread_arm(void* argument) {
  if (!load_acquire(&has_exit_key)) { return EAGAIN; }  // [K1] in
  const int saved = errno;
  const int error = pthread_setspecific(exit_key, argument);
  errno = saved;
  return error;
}

#endif
