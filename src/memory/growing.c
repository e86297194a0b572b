// Where memory only grows: an arena becomes longer as long as nobody else has had memory behind it;
// then the next arena begins. All that an arena has is committed, and nothing of it goes back, so
// what counts is that free memory is used again before there is more of it.
#include <string.h>

#include "../service/options.h"
#include "internal.h"
#include "meta.h"

// ---- its table ----

// Room for so many slices, or twice that. The tables that an arena has had before stay, unused:
// together they are shorter than the last.
static bool table_reach(arena_t* arena, size_t slices) {
  if (slices * sizeof(slice_t) <= arena->table_bytes) { return true; }
  const size_t bytes = 2 * slices * sizeof(slice_t);
  slice_t* table = (slice_t*)meta_alloc(bytes);
  if (table == NULL) { return false; }
  if (arena->slices > 0) { memcpy(table, arena->table, arena->slices * sizeof(slice_t)); }
  arena->table = table;
  arena->table_bytes = bytes;
  return true;
}

// ---- how much more ----

// Little at a time, as what is too much stays unused.
static size_t step_slices(size_t least) { return size_max(FIRST_ARENA >> SLICE_SHIFT, least); }

// Where somebody else has had memory in between: the more arenas there are the longer is the next,
// so that about a hundred suffice for all there can be.
static size_t arena_slices(size_t least) {
  enum { SHARE = 256 };
  size_t count = 0;
  for (const arena_t* arena = memory.first; arena != NULL; arena = arena->next) { count++; }
  return size_max(memory_reserved_bytes() / SHARE * count >> SLICE_SHIFT, step_slices(least));
}

// Slices that are free at the end.
static size_t free_at_end(const arena_t* arena) {
  const uint32_t end = arena->frontier;
  return run_state(arena, end - 1) == RUN_TAKEN ? 0 : run_length(arena, end - 1);
}

static size_t needed(const span_request_t* request) {
  return request->slices + (request->align > SLICE_BYTES ? request->align >> SLICE_SHIFT : 0);
}

// What is new follows what was free and may be needed with it; where it suffices alone it is known
// to be zero.
static void add_slices(arena_t* arena, size_t slices, bool suffices) {
  arena->slices += (uint32_t)slices;
  arena->mapped_bytes += slices_bytes(slices);
  frontier_move(arena, (uint32_t)slices, suffices);
}

// ---- the last arena, and the next ----

static const arena_t* last_grown;

// The table of an arena that could not be had: it is the next one's.
static slice_t* left_table;
static size_t left_table_bytes;

static bool grow_by(arena_t* arena, size_t slices) {
  uint8_t* end = slice_start(arena, arena->slices);
  stat_add(&memory_stats.mmap_calls, 1);
  return table_reach(arena, arena->slices + slices) && map_cover(end, slices_bytes(slices)) == 0 &&
         port_lengthen(arena->start, arena->mapped_bytes,
                       arena->mapped_bytes + slices_bytes(slices)) == 0;
}

PRIVATE bool growing_advance(arena_t* arena, const span_request_t* request) {
  const size_t need = needed(request), there = free_at_end(arena);
  const size_t least = need > there ? need - there : 1;
  if (arena != last_grown || option_is_enabled(mi_option_disallow_os_alloc)) { return false; }
  for (size_t slices = step_slices(least); slices >= least; slices /= 2) {
    if (grow_by(arena, slices)) {
      stat_up(&memory_stats.reserved, slices_bytes(slices));
      add_slices(arena, slices, slices >= need);
      return true;
    }
  }
  return false;
}

static bool obtain(arena_t* arena, size_t need_slices) {
  for (size_t slices = arena_slices(need_slices); slices >= need_slices; slices /= 2) {
    void* start = NULL;
    stat_add(&memory_stats.mmap_calls, 1);
    if (!table_reach(arena, slices) ||
        port_reserve(slices_bytes(slices), SLICE_BYTES, &start) != 0) {
      continue;
    }
    if (map_cover(start, slices_bytes(slices)) != 0) { return false; }
    last_grown = arena;
    arena->start = (uint8_t*)start;
    arena->grows = arena->committed = arena->pinned = arena->fresh_is_zero = true;
    arena->numa_node = -1;
    add_slices(arena, slices, true);
    return true;
  }
  return false;
}

PRIVATE bool growing_obtain(arena_t* arena, size_t need_slices) {
  arena->table = left_table;
  arena->table_bytes = left_table_bytes;
  const bool ok = obtain(arena, need_slices);
  left_table = ok ? NULL : arena->table;
  left_table_bytes = ok ? 0 : arena->table_bytes;
  return ok;
}

PRIVATE void growing_join(arena_t* arena) {
  if (arena->grows) { run_join(arena, RUN_CLEAN); }
}
