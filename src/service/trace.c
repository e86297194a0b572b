// See trace.h. Kept stacks are in a table of hashes with open addressing, which is never emptied:
// programs allocate in few places. A stack that finds no place near its own is not kept.
// Tests: test/api/leaks_stacks.c, test/api/guarded_misuse.c.
#include "trace.h"

#include <string.h>

#include "../base/bits.h"
#include "../port/lock.h"

// ---- one ----

PRIVATE void trace_take(trace_t* trace) {
  trace->thread = port_thread_number();
  trace->count = (uint16_t)port_stack(trace->frames, TRACE_FRAMES);
  trace->exact = false;
}

// The first frame that is shown.
static unsigned first_shown(const trace_t* trace) {
  for (unsigned i = 0; !trace->exact && i < trace->count; i++) {
    port_place_t place;
    port_locate(trace->frames[i], &place);
    if (!place.is_ours) { return i; }
  }
  return 0;
}

static void frame_text(unsigned number, const void* code, char* text) {
  port_place_t place;
  port_locate(code, &place);
  if (place.module == NULL) {
    (void)format_text(text, LINE_CHARS, "    #%u %p", number, code);
  } else if (place.symbol == NULL) {
    (void)format_text(text, LINE_CHARS, "    #%u %p (%s+0x%zx)", number, code, place.module,
                      (size_t)place.offset);
  } else {
    (void)format_text(text, LINE_CHARS, "    #%u %p %s+0x%zx (%s+0x%zx)", number, code,
                      place.symbol, place.into_symbol, place.module, (size_t)place.offset);
  }
}

PRIVATE void trace_print(const trace_t* trace, trace_show_fun* show, void* arg) {
  const unsigned first = first_shown(trace);
  for (unsigned i = first; i < trace->count; i++) {
    const bool is_instruction = trace->exact && i == 0;
    const char* code = (const char*)trace->frames[i];
    char line[LINE_CHARS];
    frame_text(i - first, is_instruction ? code : code - 1, line);
    show(line, arg);
  }
}

// ---- kept ----

enum { KEPT_MOST = 1 << 14, TRIES_MOST = 64 };

static struct {
  lock_t lock;
  trace_t* kept;  // KEPT_MOST; NULL: none are
  _Atomic(bool) wanted;
} traces;

static size_t kept_bytes(void) { return align_up(KEPT_MOST * sizeof(trace_t), port_page_bytes()); }

PRIVATE void traces_start(void) {
  port_stack_prepare();
  lock_acquire(&traces.lock);
  if (traces.kept == NULL && port_map(kept_bytes(), port_page_bytes(), (void**)&traces.kept) == 0) {
    store_relaxed(&traces.wanted, true);
  }
  lock_release(&traces.lock);
}

static size_t trace_place(const trace_t* trace) {
  uint64_t hash = trace->count;
  for (unsigned i = 0; i < trace->count; i++) {
    hash = (hash ^ (uintptr_t)trace->frames[i]) * 0x9e3779b97f4a7c15u;
  }
  return (size_t)(hash >> 32) % KEPT_MOST;
}

static bool is_same(const trace_t* a, const trace_t* b) {
  return a->count == b->count && memcmp(a->frames, b->frames, a->count * sizeof(void*)) == 0;
}

static uint16_t keep_locked(const trace_t* trace) {
  size_t at = trace_place(trace);
  for (int tries = 0; tries < TRIES_MOST; tries++, at = (at + 1) % KEPT_MOST) {
    trace_t* kept = &traces.kept[at];
    if (kept->count == 0) { *kept = *trace; }
    if (is_same(kept, trace)) { return (uint16_t)(at + 1); }
  }
  return 0;
}

PRIVATE uint16_t traces_keep(void) {
  trace_t trace;
  if (!load_relaxed(&traces.wanted)) { return 0; }
  trace_take(&trace);
  if (trace.count == 0) { return 0; }
  lock_acquire(&traces.lock);
  const uint16_t number = keep_locked(&trace);
  lock_release(&traces.lock);
  return number;
}

PRIVATE const trace_t* traces_get(uint16_t number) {
  return number == 0 ? NULL : &traces.kept[number - 1];
}

PRIVATE void traces_lock_for_fork(void) { lock_acquire(&traces.lock); }
PRIVATE void traces_unlock_after_fork(bool child) { lock_after_fork(&traces.lock, child); }
PRIVATE void traces_rescue(void) { (void)lock_is_left(&traces.lock); }

UNUSED PRIVATE void traces_unload(void) {
  if (traces.kept != NULL) { (void)port_release(traces.kept, kept_bytes()); }
}
