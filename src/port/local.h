// Which port this is: the only place in src/ that asks about the system. A port's header has its
// constants, described in port.h, and what it answers in a few instructions; PORT_SOURCE and
// PORT_FAULT_SOURCE are its files. The test ports, which the build asks for by name, come first.
#ifndef MI_PORT_LOCAL_H
#define MI_PORT_LOCAL_H

#if defined(MI_PORT_UNIX)
#include "local_unix.h"
#elif defined(MI_PORT_STRICT)
#include "local_strict.h"
#elif defined(MI_PORT_GROW)
#include "local_grow.h"
#elif defined(__linux__)
#include "local_linux.h"
#elif defined(_WIN32)
#include "local_windows.h"
#elif defined(__APPLE__)
#include "local_darwin.h"
#elif defined(__FreeBSD__) || defined(__NetBSD__) || defined(__OpenBSD__)
#include "local_bsd.h"
#elif defined(__wasm__)
#include "local_wasm.h"
#elif defined(__sun)
#include "local_solaris.h"
#elif defined(__HAIKU__) || defined(__QNX__) || defined(__CYGWIN__) || defined(__DragonFly__)
#include "local_unix.h"
#else
#error "mimalloc has no port to this platform yet: MI_PORT_UNIX=1 asks for the one to POSIX alone"
#endif

#endif
