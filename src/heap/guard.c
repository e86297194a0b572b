// Sampled guards: placing, freeing, quarantine, settings. See guard.h.
#include "guard.h"

#include "../memory/meta.h"
#include "../service/message.h"
#include "../service/options.h"
#include "../service/random.h"
#include "count.h"

enum { CANARY_BYTE = 0xDE };

// ---- quarantine ----

// So many blocks, and so many bytes of address space; the memory itself has been given back. Longer
// ones do not wait.
enum { QUARANTINE_BLOCKS = 256, QUARANTINE_BYTES = 16 << 20, QUARANTINE_LONGEST = 8 << 20 };

static struct {
  lock_t lock;
  page_t *oldest, *newest;  // in quarantine, linked by `next`
  size_t blocks, bytes;
  random_t random;
} guards;

// The oldest or one of those after it, so that nobody can tell how long an address stays away.
static page_t* guards_pick(void) {
  enum { CHOICE = 16 };
  page_t** link = &guards.oldest;
  page_t* before = NULL;
  for (uint64_t i = random_below(&guards.random, CHOICE); i > 0 && (*link)->next != NULL; i--) {
    before = *link;
    link = &before->next;
  }
  page_t* page = *link;
  *link = page->next;
  if (guards.newest == page) { guards.newest = before; }
  guards.blocks--;
  guards.bytes -= page_bytes(page);
  return page;
}

// NULL: no more than that is there.
static page_t* guards_excess(size_t blocks, size_t bytes) {
  lock_acquire(&guards.lock);
  const bool full = guards.blocks > blocks || guards.bytes > bytes;
  page_t* page = full ? guards_pick() : NULL;
  lock_release(&guards.lock);
  return page;
}

static void guards_put(page_t* page) {
  lock_acquire(&guards.lock);
  page->next = NULL;
  if (guards.oldest == NULL) {
    guards.oldest = page;
  } else {
    guards.newest->next = page;
  }
  guards.newest = page;
  guards.blocks++;
  guards.bytes += page_bytes(page);
  lock_release(&guards.lock);
}

// ---- inaccessible: each part of a span by itself, as the port counts them ----

enum { HEAD, INNER, TAIL, PARTS };

// Or where the part before it ends.
static uint8_t* part_start(const guard_t* guard, int part) {
  const page_t* page = guard->page;
  switch (part) {
    case HEAD: return page->span_start;
    case INNER: return guard->inner;
    case TAIL: return guard->inner_end;
    default: return page->span_start + page_bytes(page);
  }
}

static size_t part_bytes(const guard_t* guard, int part) {
  return (size_t)(part_start(guard, part + 1) - part_start(guard, part));
}

// Where that fails, some of it may be inaccessible all the same.
static bool part_guard(guard_t* guard, int part) {
  guard->away |= (uint8_t)(1 << part);
  return port_guard(part_start(guard, part), part_bytes(guard, part)) == 0;
}

static bool guard_bring_back(guard_t* guard) {
  for (int part = 0; part < PARTS; part++) {
    const uint8_t bit = (uint8_t)(1 << part);
    if ((guard->away & bit) != 0 &&
        port_unguard(part_start(guard, part), part_bytes(guard, part)) == 0) {
      guard->away &= (uint8_t)~bit;
    }
  }
  return guard->away == 0;
}

static void guard_drop(page_t* page) {
  guard_t* guard = page->guard;
  const bool reached = guard_bring_back(guard);
  map_enter(page->span_start, page->span_slices, NULL);
  page->next = NULL;
  page->guard = NULL;
  if (reached) {
    page_release(page, true);
  } else {
    page_release_unreachable(page);
  }
  meta_free(guard, sizeof(guard_t));
}

// Returns false if page and record have gone.
static bool guard_both_ends(guard_t* guard) {
  guard->page->guard = guard;
  if (part_guard(guard, HEAD) && part_guard(guard, TAIL)) { return true; }
  guard_drop(guard->page);
  return false;
}

static void guards_trim(size_t blocks, size_t bytes) {
  page_t* page = guards_excess(blocks, bytes);
  for (; page != NULL; page = guards_excess(blocks, bytes)) { guard_drop(page); }
}

PRIVATE void guard_flush(void) {
  if (!SMALL) { guards_trim(0, 0); }
}

PRIVATE void guard_lock_for_fork(void) { lock_acquire(&guards.lock); }
PRIVATE void guard_unlock_after_fork(bool child) { lock_after_fork(&guards.lock, child); }

PRIVATE void guard_rescue(void) {
  if (!lock_is_left(&guards.lock)) { return; }
  guards.oldest = guards.newest = NULL;
  guards.blocks = guards.bytes = 0;
}

// ---- taking ----

// As mimalloc rounds a request. Its bounds are compared with that, and recipes are written for it.
static size_t size_as_rounded(size_t size) {
  enum { QUARTERS_LEAST = 64 };
  return size <= QUARTERS_LEAST ? align_up(size_max(size, 1), GRANULE) : quarter_up(size);
}

PRIVATE bool guard_suits(const theap_t* theap, const guard_request_t* request) {
  const guard_setting_t* setting = &theap->guarding;
  if (page_release_is_asked()) { return false; }          // what is freed would be inaccessible
  if (request->size > PTRDIFF_MAX / 2) { return false; }  // sums of it would overflow
  return size_as_rounded(request->size) >= setting->least && request->size <= setting->most &&
         request->align <= port_page_bytes();
}

PRIVATE bool guard_suits_class(const theap_t* theap, unsigned bin) {
  const guard_setting_t* setting = &theap->guarding;
  if (bin == BIN_LARGE) { return true; }
  if (page_release_is_asked()) { return false; }
  const size_t below = bin == 1 ? 0 : bin_bytes(bin - 1);
  return size_as_rounded(bin_bytes(bin)) >= setting->least &&
         below <= size_min(setting->most, MEDIUM_MAX) + PAD_BYTES;
}

// Aligned as the request says. A plain one gets 16, or, to the byte, none.
static size_t alignment_of(const guard_request_t* request) {
  const size_t least = option_is_enabled(mi_option_guarded_precise) ? 1 : GRANULE;
  return request->offset != 0 ? request->align : size_max(request->align, least);
}

static void guard_place(guard_t* guard, const guard_request_t* request, bool left) {
  const size_t align = alignment_of(request), offset = request->offset & (align - 1);
  const uintptr_t start = (uintptr_t)guard->inner, end = (uintptr_t)guard->inner_end;
  const uintptr_t at = left ? align_up(start + offset, align) - offset
                            : align_down(end - guard->bytes + offset, align) - offset;
  guard->block = guard->inner + (at - start);
}

static bool guard_coin(theap_t* theap) { return (quick_next(&theap->guarding.random) & 1) != 0; }

// The guard before the block has one OS page or two, by a coin: where the next block comes to lie
// is not known beforehand.
static page_t* guard_page(theap_t* theap, size_t inner_bytes) {
  enum { DIRECT_LEAST = 32 << 20 };
  const size_t os_page = port_page_bytes();
  page_request_t request = {.bin = BIN_LARGE,
                            .bytes = inner_bytes + os_page,
                            .align = SLICE_BYTES,
                            .shift = os_page << guard_coin(theap),
                            .direct = inner_bytes >= DIRECT_LEAST};
  return heap_page_new(theap->heap, &request);
}

static size_t inner_wanted(const guard_request_t* request, size_t bytes) {
  return align_up(size_max(bytes, 1) + (request->offset != 0 ? request->align : 0),
                  port_page_bytes());
}

// The span. The page does not name the record yet.
static bool guard_map(guard_t* guard, theap_t* theap, const guard_request_t* request) {
  const size_t inner = inner_wanted(request, guard->bytes);
  page_t* page = guard_page(theap, inner);
  if (page == NULL) { return false; }
  guard->page = page;
  guard->inner = page->start;
  guard->inner_end = page->start + inner;
  if (arena_can_protect(page->span_arena)) { return true; }
  page_release(page, true);
  return false;
}

static void guard_fill(const guard_t* guard, bool zero) {
  uint8_t* end = guard->block + guard->bytes;
  memset(guard->inner, CANARY_BYTE, (size_t)(guard->block - guard->inner));
  memset(end, CANARY_BYTE, (size_t)(guard->inner_end - end));
  if (zero && !guard->page->fresh_zero) { memset(guard->block, 0, guard->bytes); }
}

static void guard_enter(theap_t* theap, guard_t* guard) {
  heap_t* heap = theap->heap;
  page_t* page = guard->page;
  page->start = guard->block;
  page->block_bytes = guard->bytes;
  block_return(page, (block_t*)(void*)guard->block);
  block_set_size(page, guard->block, guard->bytes);
  store_relaxed(&page->last_owner, theap->serial);
  map_enter(page->span_start, page->span_slices, page);
  heap_add_page(heap, page);
  theap_count_large(theap, page);
  if (COUNT_EACH) { heap_count_taken(page, guard->bytes); }
  stat_add(&heap->stats.malloc_guarded_count, 1);
}

// Does the block start right behind a guard? Else it ends right before one.
static bool guard_is_before(theap_t* theap, const guard_request_t* request) {
  if (request->size == 0) { return false; }
  if (option_is_enabled(mi_option_guarded_underflow)) { return true; }
  return !option_is_enabled(mi_option_guarded_precise) && guard_coin(theap);
}

PRIVATE void* guard_take(theap_t* theap, const guard_request_t* request) {
  guard_t* guard = (guard_t*)meta_alloc(sizeof(guard_t));
  if (guard == NULL) { return NULL; }
  guard->bytes = request->size;
  if (!guard_map(guard, theap, request)) {
    meta_free(guard, sizeof(guard_t));
    return NULL;
  }
  if (!guard_both_ends(guard)) { return NULL; }
  guard_place(guard, request, guard_is_before(theap, request));
  guard_fill(guard, request->zero);
  trace_take(&guard->taken);
  guard_enter(theap, guard);
  return guard->block;
}

// ---- freeing ----

static const uint8_t* first_changed(const uint8_t* from, const uint8_t* end) {
  const size_t bytes = (size_t)(end - from);
  if (bytes == 0 || (*from == CANARY_BYTE && memcmp(from, from + 1, bytes - 1) == 0)) {
    return end;
  }
  while (from < end && *from == CANARY_BYTE) { from++; }
  return from;
}

static void check_canary(const guard_t* guard) {
  const uint8_t* end = guard->block + guard->bytes;
  const uint8_t* before = first_changed(guard->inner, guard->block);
  const uint8_t* after = first_changed(end, guard->inner_end);
  if (before < guard->block) { guard_report(guard, GUARD_UNDERFLOW, before); }
  if (after < guard->inner_end) { guard_report(guard, GUARD_OVERFLOW, after); }
}

// Returns false if it was freed before.
static bool guard_mark_freed(guard_t* guard) {
  lock_acquire(&guards.lock);
  const bool first = !guard->freed;
  guard->freed = true;
  lock_release(&guards.lock);
  return first;
}

PRIVATE void guard_free(void* p, page_t* page) {
  guard_t* guard = page->guard;
  if (p != guard->block) {
    guard_report(guard, GUARD_INSIDE, p);
  } else if (!guard_mark_freed(guard)) {
    guard_report(guard, GUARD_DOUBLE_FREE, p);
  } else {
    check_canary(guard);
    trace_take(&guard->given);
    if (COUNT_EACH) { heap_count_freed(page, p); }
    heap_drop_page(page);
  }
}

PRIVATE NOINLINE void guard_retire(page_t* page) {
  guard_t* guard = page->guard;
  guard->freed = true;
  if (guard->given.thread == 0) { guard->given.thread = port_thread_number(); }  // with its heap
  if (part_guard(guard, INNER) && page_bytes(page) <= QUARANTINE_LONGEST) {
    guards_put(page);
    guards_trim(QUARANTINE_BLOCKS, QUARANTINE_BYTES);
  } else {
    guard_drop(page);
  }
}

// ---- sampling ----

// In 2^-16; x is not 0. By squaring, bit after bit.
static uint64_t log2_of(uint32_t x) {
  uint64_t result = high_bit(x);
  uint64_t m = (uint64_t)x << (31 - result);  // 1 to 2, in 2^-31
  for (int i = 0; i < 16; i++) {
    m = m * m >> 31;
    result = result * 2 + (m >> 32);
    m >>= m >> 32;
  }
  return result;
}

// Geometric: each one counted is sampled with the same chance, whatever came before.
static uint64_t gap_of_mean(uint64_t* random, uint64_t mean) {
  enum { LN_2 = 45426 };  // in 2^-16
  const uint64_t most = UINT64_C(1) << 40, twice = 2 * (mean < most ? mean : most);
  if (mean <= 1) { return 1; }
  const uint64_t minus_log2 = (32u << 16) - log2_of(quick_next(random) | 1);
  return 1 + (((minus_log2 * LN_2) >> 16) * (twice - 1) >> 17);
}

PRIVATE uint32_t guard_gap(theap_t* theap) {
  if (SMALL) { return INT32_MAX; }
  const uint64_t gap = gap_of_mean(&theap->guarding.random, theap->guarding.rate);
  return gap > INT32_MAX ? INT32_MAX : (uint32_t)gap;
}

PRIVATE size_t guard_gap_bytes(theap_t* theap) {
  if (SMALL || theap->guarding.bytes == 0) { return PTRDIFF_MAX; }
  const uint64_t gap = gap_of_mean(&theap->guarding.random, theap->guarding.bytes);
  return (size_t)(gap > PTRDIFF_MAX ? PTRDIFF_MAX : gap - 1);
}

// ---- settings: of the options, of a heap, of a theap; the last word counts ----

SHARED_DATA_DEF(_Atomic(uint32_t), guard_versions) = 1;
static _Atomic(uint32_t) options_version = 1;

static guard_setting_t setting_of_options(void) {
  const long seed = option_get(mi_option_guarded_sample_seed);
  return (guard_setting_t){.rate = option_size(mi_option_guarded_sample_rate),
                           .seed = (size_t)seed,
                           .bytes = option_size(mi_option_guarded_sample_bytes),
                           .least = option_size(mi_option_guarded_min),
                           .most = option_size(mi_option_guarded_max),
                           .version = load_relaxed(&options_version)};
}

static COLD guard_setting_t setting_of_heap(heap_t* heap) {
  guard_setting_t setting = setting_of_options();
  lock_acquire(&heap->lock);
  if (heap->guarding.version > setting.version) { setting = heap->guarding; }
  lock_release(&heap->lock);
  return setting;
}

// The same numbers for the same seed in the same theap of a program.
static uint64_t random_start(const guard_setting_t* setting, uint32_t serial) {
  uint64_t state = setting->seed;
  if (state == 0) {
    lock_acquire(&guards.lock);
    state = random_next(&guards.random);
    lock_release(&guards.lock);
  }
  state ^= (uint64_t)serial * 0x9E3779B97F4A7C15u;
  for (int i = 0; i < 4; i++) { (void)quick_next(&state); }
  return state;
}

static bool wants_samples(const guard_setting_t* setting) {
  return (setting->rate != 0 || setting->bytes != 0) && !TRACKED;
}

static COLD void theap_take_setting(theap_t* theap, const guard_setting_t* setting) {
  theap->guarding = *setting;
  if (wants_samples(setting)) { theap->guarding.random = random_start(setting, theap->serial); }
  theap_set_special(theap, SPECIAL_SAMPLES, setting->rate != 0 && !TRACKED);
  theap_set_special(theap, SPECIAL_BYTES, setting->bytes != 0 && !TRACKED);
}

PRIVATE void guard_catch_up(theap_t* theap) {
  if (SMALL || theap->thread->id == ORPHAN_ID) { return; }
  const guard_setting_t setting = setting_of_heap(theap->heap);
  if (setting.version > theap->guarding.version) { theap_take_setting(theap, &setting); }
}

// If samples are wanted: the first time, prepares for stacks and faults.
static void guard_start(const guard_setting_t* setting) {
  static _Atomic(bool) started;
  if (!wants_samples(setting) || exchange_relaxed(&started, true)) { return; }
  port_stack_prepare();
  (void)port_watch_faults(guard_see_fault);
}

PRIVATE void guard_start_by_options(void) {
  const guard_setting_t setting = setting_of_options();
  guard_start(&setting);
}

static uint32_t next_version(void) { return add_relaxed(&guard_versions, 1) + 1; }

// Other threads take it over in their next slow path.
static void tell_all(const guard_setting_t* setting) {
  thread_t* self = theap_current()->thread;
  (void)add_relaxed(&heap_epoch, 1);
  guard_start(setting);
  if (self != NULL) { thread_catch_up(self); }
}

static bool is_of_setting(mi_option_t option) {
  return option == mi_option_guarded_sample_rate || option == mi_option_guarded_sample_bytes ||
         option == mi_option_guarded_sample_seed || option == mi_option_guarded_min ||
         option == mi_option_guarded_max;
}

PRIVATE void guard_option_changed(mi_option_t option) {
  if (!is_of_setting(option)) { return; }
  store_relaxed(&options_version, next_version());
  const guard_setting_t setting = setting_of_options();
  tell_all(&setting);
}

// The functions of the interface know rates only: theirs is the last word on bytes too.
static void set_rate(guard_setting_t* setting, size_t rate, size_t seed) {
  setting->rate = rate;
  setting->seed = seed;
  setting->bytes = 0;
}

static void theap_change(theap_t* theap, guard_setting_t setting) {
  setting.version = next_version();
  theap_take_setting(theap, &setting);
  guard_start(&setting);
}

PRIVATE void guard_set_rate_of_theap(theap_t* theap, size_t rate, size_t seed) {
  guard_setting_t setting = theap->guarding;
  set_rate(&setting, rate, seed);
  theap_change(theap, setting);
}

PRIVATE void guard_set_sizes_of_theap(theap_t* theap, size_t least, size_t most) {
  guard_setting_t setting = theap->guarding;
  setting.least = least, setting.most = most;
  theap_change(theap, setting);
}

static void heap_change(heap_t* heap, guard_setting_t setting) {
  setting.version = next_version();
  lock_acquire(&heap->lock);
  heap->guarding = setting;
  lock_release(&heap->lock);
  tell_all(&setting);
}

PRIVATE void guard_set_rate_of_heap(heap_t* heap, size_t rate, size_t seed) {
  guard_setting_t setting = setting_of_heap(heap);
  set_rate(&setting, rate, seed);
  heap_change(heap, setting);
}

PRIVATE void guard_set_sizes_of_heap(heap_t* heap, size_t least, size_t most) {
  guard_setting_t setting = setting_of_heap(heap);
  setting.least = least, setting.most = most;
  heap_change(heap, setting);
}
