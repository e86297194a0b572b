// What is forgotten as the system refuses memory.
#ifndef MI_PORT_UNIX_REFUSED_H
#define MI_PORT_UNIX_REFUSED_H

#include <errno.h>

#include "../base/atomic.h"

static _Atomic(size_t) known_limits[2];  // of addresses, of data; 0: to be asked, see unix_env.h

// The error, as it comes.
static int see_refused(int error) {
  if (unlikely(error == ENOMEM)) {
    store_relaxed(&known_limits[0], 0);
    store_relaxed(&known_limits[1], 0);
  }
  return error;
}

#endif
