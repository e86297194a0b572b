// Android's way to tune a heap, answered for ours: see elf.c. Its C library keeps a malloc of its
// own, which gets all that is not for ours.
#include <stdlib.h>

#include "../api/basic.h"
#include "../service/options.h"

#if defined(MI_MALLOC_OVERRIDE) && defined(__ANDROID__)

// Parameters of Android's <malloc.h>, those of later API levels too.
enum {
  BIONIC_DECAY_TIME = -100,    // milliseconds until memory that is not in use goes back
  BIONIC_PURGE = -101,         // what is not in use goes back now
  BIONIC_DISABLE_INIT = -103,  // no thread initializes its blocks
  BIONIC_PURGE_ALL = -104,     // however long it takes
  BIONIC_ZERO_INIT = -203,     // all blocks are initialized
  BIONIC_LOG_STATS = -205,
};

static int libc_mallopt(int parameter, int value) {
  int (*own)(int, int) = (int (*)(int, int))port_libc_function("mallopt");
  return own == NULL ? 0 : own(parameter, value);
}

// 1 where it is done, by ours or, what ours has nothing for, by the C library's own malloc: what
// tags its blocks get (ours have none), limits of its caches, and what is not known here.
OVERRIDE int mallopt(int parameter, int value) {
  switch (parameter) {
    case BIONIC_DECAY_TIME: mi_option_set(mi_option_purge_delay, value); break;
    case BIONIC_PURGE: mi_collect(false); break;
    case BIONIC_PURGE_ALL: mi_collect(true); break;
    case BIONIC_LOG_STATS: mi_stats_print(NULL); break;
    case BIONIC_DISABLE_INIT: break;                                        // they never were
    case BIONIC_ZERO_INIT: (void)libc_mallopt(parameter, value); return 0;  // ours stay as they are
    default: return libc_mallopt(parameter, value);
  }
  (void)libc_mallopt(parameter, value);
  return 1;
}

#endif
