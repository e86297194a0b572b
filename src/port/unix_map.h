// Memory by mmap, as the ports have it to which parts of mappings may come and go. The port that
// includes this has defined MAP_PLAIN, and os_mmap, os_munmap and os_mprotect, which return 0 or an
// error number and keep errno.
#ifndef MI_PORT_UNIX_MAP_H
#define MI_PORT_UNIX_MAP_H

#include "unix_aligned.h"

PRIVATE size_t port_granularity(void) { return port_page_bytes(); }

PRIVATE int port_reserve(size_t bytes, size_t align, void** out) {
  const int error = map_aligned(bytes, align, PROT_NONE, out);
  if (error == 0) { track_mapped(*out, bytes); }
  return error;
}

PRIVATE int port_map(size_t bytes, size_t align, void** out) {
  *out = NULL;
  const int error = map_aligned(bytes, align, PROT_READ | PROT_WRITE, out);
  if (error == 0) { track_mapped(*out, bytes); }
  return error;
}

PRIVATE int port_commit(void* start, size_t bytes) {
  const int error = os_mprotect(start, bytes, PROT_READ | PROT_WRITE);
  if (likely(error == 0)) { return 0; }
  void* same = NULL;  // a sandbox may forbid the one call and not the other
  return os_mmap(start, bytes, PROT_READ | PROT_WRITE, MAP_PLAIN | MAP_FIXED, &same) == 0 ? 0
                                                                                          : error;
}

PRIVATE int port_purge(void* start, size_t bytes) { return port_decommit(start, bytes); }

PRIVATE int port_release(void* start, size_t bytes) {
  track_unmapped(start, bytes);
  return os_munmap(start, bytes);
}

PRIVATE int port_shorten(void* start, size_t old_bytes, size_t new_bytes) {
  return os_munmap((uint8_t*)start + new_bytes, old_bytes - new_bytes);
}

PRIVATE int port_lengthen(void* start, size_t old_bytes, size_t new_bytes) {
  (void)start, (void)old_bytes, (void)new_bytes;
  return ENOSYS;
}

PRIVATE int port_seal(void* start, size_t bytes, bool on) {
  return os_mprotect(start, bytes, on ? PROT_NONE : PROT_READ | PROT_WRITE);
}

#endif
