// mmap for a system that places memory in the upper half of the addresses as long as it is not
// asked for another place: what it gives lies below LOW_END, or is nothing. The port that includes
// this has the C library's mmap taken for it, see unix_calls.h.
#ifndef MI_PORT_UNIX_LOW_H
#define MI_PORT_UNIX_LOW_H

#include <errno.h>
#include <sys/mman.h>
#include <sys/types.h>

#include "../base/atomic.h"
#include "../base/bits.h"

#ifndef LOW_END  // a test may have another one
#define LOW_END ((uint64_t)1 << 47)
#endif

// Hints fall from half of LOW_END to a sixteenth of it, and begin again at the top: far from the
// program, whose heap grows upward, and at multiples of what arenas begin at.
enum { LOW_ALIGN = 2 << 20, LOW_TRIES = 64 };
#define LOW_TOP   (LOW_END / 2)
#define LOW_FLOOR (LOW_END / 16)

static _Atomic(uintptr_t) low_hint;  // where the last one was; 0: none was needed yet

static bool is_low(const void* p, size_t bytes) {
  return (uint64_t)(uintptr_t)p <= LOW_END - bytes;
}

// NULL: nothing so long can be low.
static void* low_next(size_t bytes) {
  if ((uint64_t)bytes > LOW_TOP - LOW_FLOOR - LOW_ALIGN) { return NULL; }
  uintptr_t before = load_relaxed(&low_hint);
  uintptr_t next = 0;
  do {
    const bool at_end = before < LOW_FLOOR + bytes + LOW_ALIGN;
    next = ((at_end ? (uintptr_t)LOW_TOP : before) - bytes) / LOW_ALIGN * LOW_ALIGN;
  } while (!cas_relaxed(&low_hint, &before, next));
  return (void*)next;
}

// What others have near a hint is stepped over in strides that double.
static void* low_mmap(void* hint, size_t bytes, int protection, int flags, int file, off_t offset) {
  if (hint == NULL && load_relaxed(&low_hint) != 0) { hint = low_next(bytes); }
  void* p = mmap(hint, bytes, protection, flags, file, offset);
  size_t stride = 0;
  for (int i = 0; p != MAP_FAILED && !is_low(p, bytes); i++) {
    (void)munmap(p, bytes);
    hint = i < LOW_TRIES ? low_next(bytes + stride) : NULL;
    p = hint == NULL ? MAP_FAILED : mmap(hint, bytes, protection, flags, file, offset);
    if (hint == NULL) { errno = ENOMEM; }
    stride = i < 20 ? stride * 2 + LOW_ALIGN : stride;
  }
  return p;
}

#endif
