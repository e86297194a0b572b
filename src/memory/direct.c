// Mappings of their own, for blocks that are long or grow: they move by exchanging page tables.
#include "../service/options.h"
#include "internal.h"

enum {
  MAX_DIRECT = GUARD_PAGES ? 16 : 24,  // beside one for each GiB in use; waiting blocks take some
  LONG_SWINGS = 4                      // swings in a second before a long one has a fresh run
};

// The number of mappings stays within a constant and one for each GiB in use.
static bool direct_admit(size_t bytes, size_t* in_use_bytes) {
  lock_acquire(&memory.lock);
  const size_t in_use = slices_bytes(memory.taken_slices) + memory.direct.bytes + bytes;
  *in_use_bytes = in_use;
  const bool ok = memory.direct.count < MAX_DIRECT + in_use / GiB;
  if (ok) {
    memory.direct.count++, memory.direct.bytes += bytes;
    memory.direct_most.count = size_max(memory.direct_most.count, memory.direct.count);
    memory.direct_most.bytes = size_max(memory.direct_most.bytes, memory.direct.bytes);
  }
  lock_release(&memory.lock);
  return ok;
}

static void direct_uncount(size_t bytes) {
  lock_acquire(&memory.lock);
  memory.direct.count--;
  memory.direct.bytes -= bytes;
  lock_release(&memory.lock);
}

// The longest that went within the last second, or 0.
static size_t gone_lately(void) { return was_lately(memory.direct_stamp) ? memory.direct_gone : 0; }

PRIVATE bool direct_refault(size_t bytes, bool* waiting) {
  lock_acquire(&memory.lock);
  memory.now_ms = port_clock_ms();
  const bool is_back = bytes <= gone_lately();
  if (is_back) { purge_refault(memory.direct_stamp, bytes >> SLICE_SHIFT); }
  const size_t waits = slices_bytes(memory.dirty_slices + memory.reset_slices);
  const bool may_grow = is_back && waits < bytes / 2 && memory.swings >= LONG_SWINGS;
  *waiting = bytes >= SHORT_DIRECT && !may_grow;
  const bool swings = memory_swings();
  lock_release(&memory.lock);
  return swings;
}

UNUSED PRIVATE direct_t memory_direct_most(void) {
  lock_acquire(&memory.lock);
  const direct_t most = memory.direct_most;
  lock_release(&memory.lock);
  return most;
}

static bool direct_map(size_t bytes, size_t align, void** out) {
  stat_add(&memory_stats.mmap_calls, 1);
  if (port_map(bytes, size_max(align, SLICE_BYTES), out) != 0) { return false; }
  if (memory_cover(*out, bytes)) { return true; }
  port_release(*out, bytes);
  return false;
}

// A long block in a large heap gets them, as arenas beyond the first do.
static bool direct_wants_huge(size_t bytes, size_t in_use) {
  return bytes >= 2 * HUGE_PAGE && huge_is_wanted(in_use > FIRST_ARENA);
}

PRIVATE bool memory_take_direct(const span_request_t* request, span_t* out) {
  const size_t bytes = slices_bytes(slices_rounded(request->slices));
  void* start = NULL;
  size_t in_use = 0;
  // Page records count them in 32 bits.
  if (!PORT_CAN_RELEASE || request->slices > INT32_MAX) { return false; }
  if (option_is_enabled(mi_option_disallow_os_alloc) || !direct_admit(bytes, &in_use)) {
    return false;
  }
  const bool huge = request->dense && direct_wants_huge(bytes, in_use);
  if (!direct_map(bytes, huge ? size_max(request->align, HUGE_PAGE) : request->align, &start)) {
    direct_uncount(bytes);
    return false;
  }
  if (huge) { (void)port_advise_huge(start, bytes, true); }
  stat_up(&memory_stats.reserved, bytes);
  stat_up(&memory_stats.committed, bytes);
  *out = (span_t){NULL, (uint8_t*)start, bytes >> SLICE_SHIFT, true, huge};
  return true;
}

static void direct_account_given(size_t bytes) {
  stat_down(&memory_stats.reserved, bytes);
  stat_down(&memory_stats.committed, bytes);
}

static void direct_account_gone(const span_t* span) {
  const size_t bytes = slices_bytes(span->slices);
  direct_uncount(bytes);
  direct_account_given(bytes);
}

// It may be wanted again soon.
static void note_direct_gone(size_t bytes) {
  lock_acquire(&memory.lock);
  memory.now_ms = port_clock_ms();
  memory.direct_gone = size_max(bytes, gone_lately());
  memory.direct_stamp = (uint32_t)memory.now_ms;
  memory.has_purged = true;
  lock_release(&memory.lock);
}

// Who looks at what others own holds the lock: the memory goes only after it was free.
PRIVATE void direct_give(const span_t* span) {
  const size_t bytes = slices_bytes(span->slices);
  direct_account_gone(span);
  note_direct_gone(bytes);
  port_release(span->start, bytes);
}

PRIVATE bool memory_remap_direct(span_t* span, size_t bytes) {
  const span_request_t request = {
      .slices = divide_up(bytes, SLICE_BYTES), .align = SLICE_BYTES, .dense = true};
  span_t target;
  if (!PORT_CAN_MOVE || !memory_take_direct(&request, &target)) { return false; }
  if (port_move(span->start, slices_bytes(span->slices), target.start,
                slices_bytes(target.slices)) != 0) {
    direct_give(&target);
    return false;
  }
  if (target.huge) {  // the pages that were moved brought their own advice
    (void)port_advise_huge(target.start, slices_bytes(target.slices), true);
  }
  direct_account_gone(span);
  *span = target;
  return true;
}

PRIVATE void direct_shorten(span_t* span, size_t slices) {
  if (port_shorten(span->start, slices_bytes(span->slices), slices_bytes(slices)) != 0) { return; }
  lock_acquire(&memory.lock);
  memory.direct.bytes -= slices_bytes(span->slices - slices);
  lock_release(&memory.lock);
  direct_account_given(slices_bytes(span->slices - slices));
  span->slices = slices;
}
