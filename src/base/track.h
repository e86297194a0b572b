// What memory tools are told about blocks: Valgrind's memcheck, AddressSanitizer, and events of
// Windows (ETW). The only place that knows them; without a tool all of this vanishes.
//
// Who calls what:
//   track_quiet, track_loud   src/alloc/tracked.c, src/heap/tracked.c: around the allocator's own
//                             accesses to blocks, whose links lie in memory that the tool has been
//                             told is out of bounds
//   track_taken, _resized, _given   src/alloc/tracked.c, src/heap/tracked.c: one block each
//   track_hide                src/page/page.c: what a page has from the OS, before its first block
//   track_show                src/memory/frontier.c: memory of the program's own function
//   track_start, track_stop   src/port/windows_thread.h: as the process starts, as the DLL goes
//   track_mapped, _unmapped   src/port/unix_map.h, src/port/windows.c: ranges of addresses
//   track_committed, _decommitted, _protected   src/port/windows.c: parts of them
//   track_read                src/port/linux.c: what the kernel has written
//   track_refused, _wrong     src/alloc/tracked.c: misuses that only the allocator sees
#ifndef MI_BASE_TRACK_H
#define MI_BASE_TRACK_H

#include "attributes.h"
#include "modes.h"

#if MI_TRACK_VALGRIND

#include <valgrind/memcheck.h>

FAST void track_quiet(void) { VALGRIND_DISABLE_ERROR_REPORTING; }
FAST void track_loud(void) { VALGRIND_ENABLE_ERROR_REPORTING; }
FAST void track_taken(void* p, size_t bytes) { VALGRIND_MALLOCLIKE_BLOCK(p, bytes, 0, 0); }
FAST void track_resized(void* p, size_t old_bytes, size_t bytes) {
  VALGRIND_RESIZEINPLACE_BLOCK(p, old_bytes, bytes, 0);
}
FAST void track_given(void* p, size_t bytes) {
  (void)bytes;
  VALGRIND_FREELIKE_BLOCK(p, 0);
}
FAST void track_hide(void* p, size_t bytes) { (void)VALGRIND_MAKE_MEM_NOACCESS(p, bytes); }
FAST void track_show(void* p, size_t bytes) { (void)VALGRIND_MAKE_MEM_DEFINED(p, bytes); }
FAST void track_mapped(void* p, size_t bytes) { (void)p, (void)bytes; }
FAST void track_unmapped(void* p, size_t bytes) { (void)p, (void)bytes; }
// Counts as an error, and shows the stack that allocated the block `bytes` behind p.
FAST void track_wrong(const void* p, size_t bytes) {
  (void)VALGRIND_CHECK_MEM_IS_ADDRESSABLE(p, bytes);
}
// The program frees what is no block in use.
FAST void track_refused(void* p) { VALGRIND_FREELIKE_BLOCK(p, 0); }

#elif MI_TRACK_ASAN

#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>

// The library itself is not instrumented: its own accesses are not seen.
FAST void track_quiet(void) {}
FAST void track_loud(void) {}
FAST void track_taken(void* p, size_t bytes) { __asan_unpoison_memory_region(p, bytes); }
FAST void track_given(void* p, size_t bytes) { __asan_poison_memory_region(p, bytes); }
FAST void track_resized(void* p, size_t old_bytes, size_t bytes) {
  track_given(p, old_bytes);
  track_taken(p, bytes);
}
FAST void track_hide(void* p, size_t bytes) { __asan_poison_memory_region(p, bytes); }
FAST void track_show(void* p, size_t bytes) { __asan_unpoison_memory_region(p, bytes); }
// Blocks of the system's malloc that only blocks of ours point to are no leaks.
FAST void track_mapped(void* p, size_t bytes) { __lsan_register_root_region(p, bytes); }
FAST void track_unmapped(void* p, size_t bytes) { __asan_unpoison_memory_region(p, bytes); }
FAST void track_wrong(const void* p, size_t bytes) { (void)p, (void)bytes; }
FAST void track_refused(void* p) {
  (void)p;
  __sanitizer_print_stack_trace();
}

#elif MI_TRACK_ETW

#include "etw.h"

#else

FAST void track_quiet(void) {}
FAST void track_loud(void) {}
FAST void track_taken(void* p, size_t bytes) { (void)p, (void)bytes; }
FAST void track_given(void* p, size_t bytes) { (void)p, (void)bytes; }
FAST void track_resized(void* p, size_t old_bytes, size_t bytes) {
  (void)p, (void)old_bytes, (void)bytes;
}
FAST void track_hide(void* p, size_t bytes) { (void)p, (void)bytes; }
FAST void track_show(void* p, size_t bytes) { (void)p, (void)bytes; }
FAST void track_mapped(void* p, size_t bytes) { (void)p, (void)bytes; }
FAST void track_unmapped(void* p, size_t bytes) { (void)p, (void)bytes; }
FAST void track_wrong(const void* p, size_t bytes) { (void)p, (void)bytes; }
FAST void track_refused(void* p) { (void)p; }

#endif

#if !MI_TRACK_ETW
FAST void track_start(void) {}
FAST void track_stop(void) {}
FAST void track_committed(const void* p, size_t bytes) { (void)p, (void)bytes; }
FAST void track_decommitted(const void* p, size_t bytes) { (void)p, (void)bytes; }
FAST void track_protected(const void* p, size_t bytes) { (void)p, (void)bytes; }
#endif

// ---- MemorySanitizer, which knows the C library's calls, but no system call ----

#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#define MI_UNDER_MSAN 1
#endif
#endif

#ifdef MI_UNDER_MSAN
#include <sanitizer/msan_interface.h>
// The kernel wrote here.
FAST void track_read(void* p, size_t bytes) { __msan_unpoison(p, bytes); }
#else
FAST void track_read(void* p, size_t bytes) { (void)p, (void)bytes; }
#endif

#endif
