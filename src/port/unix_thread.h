// Threads' ends by a key with a destructor, and fork handlers. All three may allocate, and then set
// errno.
#ifndef MI_PORT_UNIX_THREAD_H
#define MI_PORT_UNIX_THREAD_H

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

PRIVATE int port_at_fork(void (*prepare)(void), void (*parent)(void), void (*child)(void)) {
  const int saved = errno;
  const int error = pthread_atfork(prepare, parent, child);
  errno = saved;
  return error;
}

#endif
