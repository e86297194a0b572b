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

#include "port/local.h"

#ifdef PORT_SOURCE

#include PORT_SOURCE
#include PORT_FAULT_SOURCE

#include "service/format.c"
#include "service/options.c"
#include "service/message.c"
#include "service/environment.c"
#include "service/stats.c"
#include "service/random.c"
#include "service/trace.c"

#include "memory/meta.c"
#include "memory/map.c"
#include "memory/state.c"
#include "memory/run.c"
#include "memory/frontier.c"
#include "memory/growing.c"
#include "memory/arena.c"
#include "memory/whole.c"
#include "memory/purge.c"
#include "memory/freed.c"
#include "memory/direct.c"
#include "memory/memory.c"
#include "memory/verify.c"

#include "page/record.c"
#include "page/page.c"
#include "page/blocks.c"
#include "page/spare.c"
#include "page/check.c"
#include "page/holes.c"
#include "page/waiting.c"

#include "heap/state.c"
#include "heap/count.c"
#include "heap/return.c"
#include "heap/ration.c"
#include "heap/row.c"
#include "heap/tracked.c"
#include "heap/quarantine.c"
#include "heap/keep.c"
#include "heap/theap.c"
#include "heap/heap.c"
#include "heap/thread.c"
#include "heap/guard.c"
#include "heap/guard_report.c"
#include "heap/subproc.c"
#include "heap/pool.c"
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
#include "api/usage.c"
#include "api/stats.c"
#include "api/leaks.c"
#include "api/process.c"
#include "api/basic.c"
#include "api/posix.c"
#include "api/live.c"
#include "api/profile.c"

#include "entry/redirected.c"
#include "entry/new.c"
#include "entry/cxx_elf.c"
#include "entry/cxx_wasm.c"
#include "entry/cxx_windows.c"
#include "entry/cxx_darwin.c"
#include "entry/dlopen.c"
#include "entry/glibc.c"
#include "entry/bionic.c"
#include "entry/elf.c"
#include "entry/wasm.c"
#include "entry/darwin_zone.c"
#include "entry/darwin.c"
#include "entry/windows_redirect.c"
#include "entry/windows_static.c"
#include "entry/windows_dll.c"
#include "entry/load.c"

#endif
