// The C library takes its blocks from our malloc: there are none of others to give back. See
// port.h.
#ifndef MI_PORT_UNIX_FOREIGN_H
#define MI_PORT_UNIX_FOREIGN_H

#include "../base/attributes.h"

FAST bool port_free_foreign(void* p) {
  (void)p;
  return false;
}
FAST bool port_realloc_foreign(void* p, size_t size, void** out) {
  (void)p, (void)size, (void)out;
  return false;
}

#endif
