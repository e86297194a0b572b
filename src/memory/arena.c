// Arenas: reserved from the OS or given by the program, and unmapped. See arena.h.
#include <errno.h>

#include "../service/options.h"
#include "internal.h"
#include "meta.h"

// ---- one of them, and all ----

static void arena_link(arena_t* arena) {
  arena_t** at = &memory.first;
  while (*at != NULL) { at = &(*at)->next; }
  *at = arena;
  stat_add(&memory_stats.arena_count, 1);
  stat_up(&memory_stats.reserved, slices_bytes(arena->slices));
}

PRIVATE bool arena_fits(const arena_t* arena, const span_request_t* request) {
  if (request->arena != NULL) { return arena == request->arena; }
  const bool near =
      request->numa_node == 0 || arena->numa_node < 0 || arena->numa_node == request->numa_node - 1;
  return near && !arena->exclusive && arena->large == request->large;
}

PRIVATE bool arena_contains(const arena_t* arena, const void* p) {
  return (uintptr_t)p - (uintptr_t)arena->start < slices_bytes(arena->slices);
}

PRIVATE void account_taken(arena_t* arena, size_t slices) {
  arena->taken += (uint32_t)slices;
  memory.taken_slices += slices;
}

PRIVATE void account_given(arena_t* arena, size_t slices) {
  arena->taken -= (uint32_t)slices;
  memory.taken_slices -= slices;
  memory.now_ms = port_clock_ms();
}

PRIVATE void memory_visit_arenas(arena_visit_fun* visit, void* arg) {
  lock_acquire(&memory.lock);
  for (arena_t* arena = memory.first; arena != NULL && visit(arena, arg);) { arena = arena->next; }
  lock_release(&memory.lock);
}

// ---- as memory grows ----

// Size of the next arena: as much as there is already, from 8 MiB to arena_reserve, or a quarter
// of a large heap.
static size_t next_arena_bytes(size_t need) {
  const size_t reserved = memory_reserved_bytes();
  size_t most = size_max(option_size(mi_option_arena_reserve), reserved / 4);
  most = size_min(most >> SLICE_SHIFT, ARENA_MAX_SLICES / 2) << SLICE_SHIFT;
  size_t bytes = size_min(size_max(reserved, FIRST_ARENA), size_max(most, HUGE_PAGE));
  bytes = size_min(bytes, size_max(port_address_limit() / 8, HUGE_PAGE));
  return align_up(size_max(bytes, need + need / 256 + HUGE_PAGE), HUGE_PAGE);
}

// Arenas lie at random places in a region of 4 GiB, which one part of the map covers, and the
// region lies between an eighth and five eighths of the way to the stack. NULL where there is
// little room.
static void* random_place(size_t bytes) {
  enum { REGION_SHIFT = MAP_PART_SHIFT, REGION_SHARE = 2 };
  static uint64_t region, left;  // under the memory lock; bytes to use of the region
  const uint64_t here = (uintptr_t)__builtin_frame_address(0);
  const uint64_t region_bytes = (uint64_t)1 << REGION_SHIFT;
  if (sizeof(void*) < 8 || bytes > region_bytes / REGION_SHARE || addresses_are_limited()) {
    return NULL;
  }
  if (left < bytes) {
    region = (here / 8 + random_below(&memory.random, here / 2)) >> REGION_SHIFT << REGION_SHIFT;
    left = region_bytes / REGION_SHARE;
  }
  left -= bytes;
  const uint64_t place = region + random_below(&memory.random, region_bytes - bytes);
  return (void*)align_down((uintptr_t)place, HUGE_PAGE);
}

static int try_reserve(size_t bytes, void** out) {
  stat_add(&memory_stats.mmap_calls, 1);
  *out = RANDOM_PLACE ? random_place(bytes) : NULL;
  return port_reserve(bytes, bytes >= ARENA_ALIGN ? ARENA_ALIGN : SLICE_BYTES * 4, out);
}

// That of the first arena, which stays, lies among the other records: as long as little of the
// arena is in use they share their OS pages. NULL if out of memory.
static slice_t* table_place(const arena_t* arena, size_t bytes) {
  const size_t page = port_page_bytes();
  if (memory.first == NULL && slices_bytes(arena->slices) <= FIRST_ARENA) {
    return (slice_t*)meta_alloc(bytes);
  }
  uint8_t* table = arena->start + arena->mapped_bytes - page - bytes;
  const int error = arena->committed ? 0 : port_commit(table, bytes);
  return error == 0 ? (slice_t*)(void*)table : NULL;
}

// Slices and, between two guard pages, the slice table in one reservation. The slices are whole
// huge pages if these have the room that is needed: a part of one would be in small OS pages. Where
// SIZE_MAX is needed none of them is left out.
static int arena_layout(arena_t* arena, void* start, size_t bytes, size_t need) {
  const size_t page = port_page_bytes();
  const size_t room = bytes - align_up(bytes / SLICE_BYTES * sizeof(slice_t), page) - 2 * page;
  const size_t whole = align_down(room, HUGE_PAGE);
  const size_t usable = whole >= need ? whole : align_down(room, size_max(page, SLICE_BYTES));
  arena->start = (uint8_t*)start;
  arena->slices = (uint32_t)(usable / SLICE_BYTES);
  arena->mapped_bytes = bytes;
  arena->fresh_is_zero = true;
  arena->numa_node = -1;
  const int error = map_cover(start, usable);
  if (error != 0) { return error; }
  arena->table = table_place(arena, align_up(arena->slices * sizeof(slice_t), page));
  return arena->table == NULL ? ENOMEM : 0;
}

// On explicit 2 MiB pages, if the user wants them and the OS has them; such memory is resident from
// the start.
static bool reserve_large_pages(size_t bytes, void** out) {
  static _Atomic(bool) refused;
  if (likely(!option_is_enabled(mi_option_allow_large_os_pages)) || load_relaxed(&refused)) {
    return false;
  }
  const int error = port_map_huge(bytes, HUGE_PAGE, -1, out);
  if (error != 0) { store_relaxed(&refused, true); }
  return error == 0;
}

static int layout_or_release(arena_t* arena, void* start, size_t bytes, size_t need) {
  const int error = arena_layout(arena, start, bytes, need);
  if (error != 0) { port_release(start, bytes); }
  return error;
}

// One that can't have its length is shorter, down to what is needed. What was refused is not wanted
// again before something was had.
static int arena_obtain(arena_t* arena, size_t need) {
  if (!PORT_CAN_RELEASE) { return growing_obtain(arena, need >> SLICE_SHIFT) ? 0 : ENOMEM; }
  size_t bytes = next_arena_bytes(need);
  void* start = NULL;
  arena->committed = arena->pinned = reserve_large_pages(bytes, &start);
  if (arena->committed) { return layout_or_release(arena, start, bytes, SIZE_MAX); }
  const size_t least = align_up(need + need / 256 + 4 * port_page_bytes(), 4 * SLICE_BYTES);
  if (!addresses_are_limited()) { bytes += HUGE_PAGE; }  // for the table: huge pages are whole
  if (bytes >= memory.refused_bytes && memory.refused_bytes != 0) { bytes = least; }
  for (;; bytes = size_max(align_up(bytes / 2, SLICE_BYTES * 4), least)) {
    int error = try_reserve(bytes, &start);
    const size_t whole_from = addresses_are_limited() ? SIZE_MAX : need;
    if (error == 0) { error = layout_or_release(arena, start, bytes, whole_from); }
    if (error == 0 || bytes <= least) {
      memory.refused_bytes = error == 0 ? 0 : bytes;
      return error;
    }
  }
}

PRIVATE bool arena_grow_memory(size_t need_slices, bool large) {
  if (option_is_enabled(mi_option_disallow_os_alloc) || need_slices > ARENA_MAX_SLICES / 2) {
    return false;
  }
  arena_t* arena = (arena_t*)meta_alloc(sizeof(arena_t));
  if (arena == NULL) { return false; }
  if (arena_obtain(arena, slices_bytes(need_slices)) != 0) {
    meta_free(arena, sizeof(arena_t));
    return false;
  }
  arena->large = large;
  if (!arena->committed) {  // all of it, else what is not in use yet would be two mappings
    (void)port_advise_huge(arena->start, arena->mapped_bytes, large);
  }
  arena_link(arena);
  if (option_get(mi_option_arena_eager_commit) == 1) {
    const span_request_t all = {.slices = arena->slices};
    (void)arena_advance(arena, &all);
  }
  memory.unannounced = arena;
  return true;
}

// ---- as memory is collected ----

static void arena_unmap(arena_t** link) {
  arena_t* arena = *link;
  *link = arena->next;
  stat_down(&memory_stats.reserved, slices_bytes(arena->slices));
  port_release(arena->start, arena->mapped_bytes);
  meta_free(arena, sizeof(arena_t));
}

static bool arena_is_clean(const arena_t* arena) {
  return bin_highest(arena, RUN_DIRTY) == RUN_BINS && bin_highest(arena, RUN_RESET) == RUN_BINS;
}

// The first one stays.
PRIVATE void memory_unmap_empty(void) {
  if (!PORT_CAN_RELEASE) { return; }
  arena_t** link = memory.first == NULL ? &memory.first : &memory.first->next;
  while (*link != NULL) {
    const arena_t* arena = *link;
    if (arena->taken == 0 && !arena->kept && arena_is_clean(arena)) {
      arena_unmap(link);
    } else {
      link = &(*link)->next;
    }
  }
}

// ---- as the library goes ----

// Some of it is in use: all else goes, up to the OS page behind the table.
static void arena_unload_free(const arena_t* arena) {
  uint8_t *table = (uint8_t*)arena->table, *end = arena->start + arena->mapped_bytes;
  for (uint32_t at = 0; at < arena->frontier; at += run_length(arena, at)) {
    if (run_state(arena, at) != RUN_TAKEN) {
      (void)port_decommit(slice_start(arena, at), slices_bytes(run_length(arena, at)));
    }
  }
  if (table > arena->start && table < end) {
    (void)port_decommit(table, (size_t)(end - table) - port_page_bytes());
  }
}

// What the program gave stays its own; the table of it is ours.
static void arena_unload(const arena_t* arena, bool whole) {
  if (arena->mapped_bytes != 0 && !whole) { arena_unload_free(arena); }
  if (arena->table_bytes != 0) { meta_unmap(arena->table, arena->table_bytes); }
  if (arena->mapped_bytes != 0 && whole) { (void)port_release(arena->start, arena->mapped_bytes); }
}

UNUSED PRIVATE void memory_unload(bool everything) {
  const arena_t* arena = memory.first;
  for (; arena != NULL; arena = arena->next) {
    arena_unload(arena, everything || arena->taken == 0);
  }
  memory.first = NULL;
}

// ---- of the program; these take the lock ----

static void arena_fill(arena_t* arena, const arena_spec_t* spec) {
  arena->exclusive = spec->exclusive;
  arena->pinned = spec->pinned;
  arena->fresh_is_zero = spec->zero;
  arena->numa_node = spec->numa_node;
  arena->commit_fun = spec->commit_fun;
  arena->commit_arg = spec->commit_arg;
  arena->kept = true;
}

// With what it reserved around its slices.
static uintptr_t arena_end(const arena_t* arena) {
  return (uintptr_t)arena->start + size_max(slices_bytes(arena->slices), arena->mapped_bytes);
}

static bool arena_overlaps(const arena_t* arena) {
  const arena_t* other = memory.first;
  while (other != NULL && ((uintptr_t)arena->start >= arena_end(other) ||
                           (uintptr_t)other->start >= arena_end(arena))) {
    other = other->next;
  }
  return other != NULL;
}

// Returns false if some of it is an arena's already.
static bool arena_publish(arena_t* arena, bool committed) {
  const span_request_t all = {.slices = arena->slices};
  lock_acquire(&memory.lock);
  const bool ok = !arena_overlaps(arena);
  if (ok) { arena_link(arena); }
  if (ok && committed) { (void)arena_advance(arena, &all); }
  lock_release(&memory.lock);
  return ok;
}

PRIVATE bool memory_cover(const void* start, size_t bytes) {
  lock_acquire(&memory.lock);
  const bool covered = map_cover(start, bytes) == 0;
  lock_release(&memory.lock);
  return covered;
}

// An arena's table in a mapping of its own.
static bool table_add(arena_t* arena) {
  void* table = NULL;
  arena->table_bytes = align_up(arena->slices * sizeof(slice_t), port_page_bytes());
  if (meta_map(arena->table_bytes, &table) != 0) { return false; }
  arena->table = (slice_t*)table;
  if (memory_cover(arena->start, slices_bytes(arena->slices))) { return true; }
  meta_unmap(table, arena->table_bytes);
  return false;
}

PRIVATE arena_t* arena_add(const arena_spec_t* spec) {
  const size_t unit = size_max(SLICE_BYTES, port_page_bytes());
  uint8_t* start = (uint8_t*)align_up((uintptr_t)spec->start, unit);
  uint8_t* end = (uint8_t*)align_down((uintptr_t)spec->start + spec->bytes, unit);
  if (start >= end || (size_t)(end - start) / SLICE_BYTES >= ARENA_MAX_SLICES) { return NULL; }
  arena_t* arena = (arena_t*)meta_alloc(sizeof(arena_t));
  if (arena == NULL) { return NULL; }
  arena->start = (uint8_t*)start;
  arena->slices = (uint32_t)((size_t)(end - start) / SLICE_BYTES);
  if (!table_add(arena)) {
    meta_free(arena, sizeof(arena_t));
    return NULL;
  }
  arena_fill(arena, spec);
  arena->committed = spec->committed && spec->commit_fun == NULL;
  if (arena_publish(arena, arena->committed)) { return arena; }
  meta_unmap(arena->table, arena->table_bytes);
  meta_free(arena, sizeof(arena_t));
  return NULL;
}

static int reserve_plain(const arena_spec_t* spec, arena_t* arena) {
  void* start = NULL;
  const size_t bytes =
      align_up(spec->bytes + spec->bytes / 512 + 4 * port_page_bytes(), 4 * SLICE_BYTES);
  stat_add(&memory_stats.mmap_calls, 1);
  int error = port_reserve(bytes, bytes >= ARENA_ALIGN ? ARENA_ALIGN : 4 * SLICE_BYTES, &start);
  if (error != 0) { return error; }
  lock_acquire(&memory.lock);
  error = layout_or_release(arena, start, bytes, SIZE_MAX);
  lock_release(&memory.lock);
  if (error != 0) { return error; }
  arena_fill(arena, spec);
  arena->fresh_is_zero = true;
  (void)arena_publish(arena, spec->committed);
  return 0;
}

PRIVATE int arena_reserve(const arena_spec_t* spec, size_t huge_bytes, arena_t** out) {
  if (spec->bytes == 0 || spec->bytes / SLICE_BYTES >= ARENA_MAX_SLICES) { return EINVAL; }
  if (huge_bytes != 0) {
    arena_spec_t huge = *spec;
    const int error = port_map_huge(spec->bytes, huge_bytes, spec->numa_node, &huge.start);
    if (error != 0) { return error; }
    huge.committed = huge.pinned = huge.zero = true;
    *out = arena_add(&huge);
    if (*out == NULL) {
      port_release(huge.start, spec->bytes);
      return ENOMEM;
    }
    (*out)->mapped_bytes = spec->bytes;
    return 0;
  }
  arena_t* arena = (arena_t*)meta_alloc(sizeof(arena_t));
  if (arena == NULL) { return ENOMEM; }
  const int error = reserve_plain(spec, arena);
  if (error != 0) { meta_free(arena, sizeof(arena_t)); }
  *out = error == 0 ? arena : NULL;
  return error;
}
