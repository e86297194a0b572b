// The whole library as one translation unit, in the order of the ladder (src/README.md).
//
// Static library, shared library, override object and single-source use are all this file: `cc -c
// src/static.c`.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#ifdef __cplusplus
#define MI_IMPLEMENTATION
#endif

#ifdef __linux__

#include "port/linux.c"
#include "port/linux_fault.c"

#include "service/format.c"
#include "service/options.c"
#include "service/message.c"
#include "service/environment.c"
#include "service/stats.c"
#include "service/random.c"
#include "service/trace.c"

#include "memory/meta.c"
#include "memory/map.c"
#include "memory/run.c"
#include "memory/frontier.c"
#include "memory/arena.c"
#include "memory/purge.c"
#include "memory/freed.c"
#include "memory/direct.c"
#include "memory/memory.c"
#include "memory/verify.c"

#include "page/page.c"
#include "page/check.c"
#include "page/holes.c"
#include "page/waiting.c"

#include "heap/count.c"
#include "heap/home.c"
#include "heap/tracked.c"
#include "heap/quarantine.c"
#include "heap/keep.c"
#include "heap/theap.c"
#include "heap/heap.c"
#include "heap/thread.c"
#include "heap/guard.c"
#include "heap/guard_report.c"
#include "heap/subproc.c"
#include "heap/process.c"
#include "heap/verify.c"

#include "alloc/malloc.c"
#include "alloc/free.c"
#include "alloc/aligned.c"
#include "alloc/realloc.c"
#include "alloc/tracked.c"

#include "api/options.c"
#include "api/heaps.c"
#include "api/arenas.c"
#include "api/visit.c"
#include "api/stats.c"
#include "api/leaks.c"
#include "api/process.c"
#include "api/basic.c"
#include "api/posix.c"
#include "api/new.c"
#include "api/live.c"
#include "api/profile.c"
#include "api/dlopen.c"
#include "api/glibc.c"
#include "api/override.c"

#elif defined(_WIN32)
#error "mimalloc has no port to Windows yet"
#elif defined(__APPLE__)
#error "mimalloc has no port to macOS and iOS yet"
#elif defined(__FreeBSD__) || defined(__DragonFly__)
#error "mimalloc has no port to FreeBSD yet"
#elif defined(__NetBSD__)
#error "mimalloc has no port to NetBSD yet"
#elif defined(__OpenBSD__)
#error "mimalloc has no port to OpenBSD yet"
#elif defined(__sun)
#error "mimalloc has no port to Solaris and illumos yet"
#elif defined(__wasm__)
#error "mimalloc has no port to WebAssembly yet"
#elif defined(__HAIKU__)
#error "mimalloc has no port to Haiku yet"
#else
#error "mimalloc has no port to this platform yet"
#endif
