// Solaris and illumos: the port to POSIX alone, with memory in the lower half of the addresses. See
// local.h.
#ifndef MI_PORT_LOCAL_SOLARIS_H
#define MI_PORT_LOCAL_SOLARIS_H

#include "local_unix.h"

#undef PORT_SOURCE
#define PORT_SOURCE "port/solaris.c"

#endif
