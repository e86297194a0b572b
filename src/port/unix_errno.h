// errno where it is a thread's plain variable: see port.h.
#ifndef MI_PORT_UNIX_ERRNO_H
#define MI_PORT_UNIX_ERRNO_H

#include <errno.h>

#include "../base/attributes.h"

FAST int port_errno_keep(void) { return errno; }
FAST void port_errno_restore(int kept) { errno = kept; }
FAST int port_errno_get(void) { return errno; }
FAST void port_errno_set(int error) { errno = error; }

#endif
