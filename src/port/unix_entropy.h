// Random bytes by getentropy, which does not allocate, as arc4random of macOS would.
#ifndef MI_PORT_UNIX_ENTROPY_H
#define MI_PORT_UNIX_ENTROPY_H

PRIVATE int port_random(void* out, size_t bytes) {
  const int saved = errno;
  const int error = getentropy(out, bytes) == 0 ? 0 : ENOSYS;
  errno = saved;
  return error;
}

#endif
