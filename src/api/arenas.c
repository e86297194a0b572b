// Arenas by their public names: reserved from the OS, given by the program, printed.
// An arena's id is the address of its record. Tests: test/api/arenas.c, arena_full.c.
#include <errno.h>

#include "../memory/arena.h"
#include "../port/port.h"
#include "../service/message.h"
#include "../service/options.h"
#include "inspect.h"

enum { LARGE_OS_PAGE = 2 << 20, LEAST_ARENA = 1 << 20 };

// ---- given by the program ----

API bool mi_manage_memory(void* start, size_t size, bool is_committed, bool is_pinned, bool is_zero,
                          int numa_node, bool exclusive, mi_commit_fun_t* commit_fun,
                          void* commit_fun_arg, mi_arena_id_t* arena_id) {
  arena_t* arena = NULL;
  const size_t rounding = 2 * mi_arena_min_alignment();
  if (arena_id != NULL) { *arena_id = NULL; }
  process_init();
  if (start != NULL && size >= LEAST_ARENA + rounding && size <= UINTPTR_MAX - (uintptr_t)start) {
    const arena_spec_t spec = {
        .start = start,
        .bytes = size,
        .committed = is_committed,
        .pinned = is_pinned,
        .zero = is_zero,
        .exclusive = exclusive,
        .numa_node = numa_node < 0 ? -1 : numa_node,
        .commit_fun = commit_fun,
        .commit_arg = commit_fun_arg,
    };
    arena = arena_add(&spec);
  }
  if (arena == NULL) { message_warning("cannot use %zu bytes at %p as an arena", size, start); }
  if (arena_id != NULL) { *arena_id = arena; }
  return arena != NULL;
}

API bool mi_manage_os_memory_ex(void* start, size_t size, bool is_committed, bool is_pinned,
                                bool is_zero, int numa_node, bool exclusive,
                                mi_arena_id_t* arena_id) {
  return mi_manage_memory(start, size, is_committed, is_pinned, is_zero, numa_node, exclusive, NULL,
                          NULL, arena_id);
}

API bool mi_manage_os_memory(void* start, size_t size, bool is_committed, bool is_pinned,
                             bool is_zero, int numa_node) {
  return mi_manage_os_memory_ex(start, size, is_committed, is_pinned, is_zero, numa_node, false,
                                NULL);
}

// ---- reserved from the OS ----

static int reserve_large_or_plain(arena_spec_t spec, bool allow_large, arena_t** arena) {
  if (spec.bytes == 0 || spec.bytes > PTRDIFF_MAX) { return EINVAL; }
  if (allow_large) {
    arena_spec_t large = spec;
    large.bytes = align_up(spec.bytes, LARGE_OS_PAGE);
    const bool had = arena_reserve(&large, LARGE_OS_PAGE, arena) == 0;
    const size_t pages = large.bytes / LARGE_OS_PAGE;
    message_verbose("large OS pages of 2 MiB: %zu of %zu were had", had ? pages : 0, pages);
    if (had) { return 0; }
  }
  return arena_reserve(&spec, 0, arena);
}

API int mi_reserve_os_memory_ex(size_t size, bool commit, bool allow_large, bool exclusive,
                                mi_arena_id_t* arena_id) {
  arena_t* arena = NULL;
  if (arena_id != NULL) { *arena_id = NULL; }
  process_init();
  const arena_spec_t spec = {
      .bytes = size, .committed = commit, .exclusive = exclusive, .numa_node = -1};
  const int error = reserve_large_or_plain(spec, allow_large, &arena);
  if (error != 0) {
    message_warning("cannot reserve %zu bytes: error %d", size, error);
    return error;
  }
  message_verbose("reserved an arena of %zu KiB", size / KiB);
  if (arena_id != NULL) { *arena_id = arena; }
  return 0;
}

API int mi_reserve_os_memory(size_t size, bool commit, bool allow_large) {
  return mi_reserve_os_memory_ex(size, commit, allow_large, false, NULL);
}

// ---- huge OS pages of 1 GiB ----

typedef struct deadline {
  int64_t end_ms;  // 0: none
} deadline_t;

static deadline_t deadline_after(size_t msecs) {
  return (deadline_t){msecs == 0 ? 0 : port_clock_ms() + (int64_t)size_min(msecs, INT32_MAX)};
}

static bool deadline_is_over(deadline_t deadline) {
  return deadline.end_ms != 0 && port_clock_ms() > deadline.end_ms;
}

// An arena for each, so that a limit can end it half-way and what we had is kept.
static int reserve_one_by_one(size_t pages, int node, deadline_t deadline, size_t* reserved) {
  const arena_spec_t spec = {.bytes = GiB, .numa_node = node};
  arena_t* arena = NULL;
  for (size_t i = 0; i < pages; i++) {
    if (deadline_is_over(deadline)) { return ETIMEDOUT; }
    const int error = arena_reserve(&spec, GiB, &arena);
    if (error != 0) { return error; }
    ++*reserved;
  }
  return 0;
}

static int huge_result(size_t pages, size_t reserved, int error) {
  if (error != 0) {
    message_warning(
        "reserved %zu of %zu huge OS pages of 1 GiB: error %d; "
        "ordinary pages serve instead",
        reserved, pages, error);
  } else if (pages > 0) {
    message_verbose("reserved %zu huge OS pages of 1 GiB", reserved);
  }
  return error;
}

// An arena that is to have an id is in one piece, which a limit cannot interrupt.
static int reserve_as_one(const arena_spec_t* spec, mi_arena_id_t* arena_id) {
  arena_t* arena = NULL;
  const int error = arena_reserve(spec, GiB, &arena);
  if (error == 0 && arena_id != NULL) { *arena_id = arena; }
  return error;
}

API int mi_reserve_huge_os_pages_at_ex(size_t pages, int numa_node, size_t timeout_msecs,
                                       bool exclusive, mi_arena_id_t* arena_id) {
  const int node = numa_node < 0 ? -1 : numa_node;
  size_t reserved = 0;
  if (arena_id != NULL) { *arena_id = NULL; }
  if (pages == 0) { return 0; }
  process_init();
  if (pages > PTRDIFF_MAX / GiB) { return huge_result(pages, 0, EINVAL); }
  if (exclusive || arena_id != NULL) {
    const arena_spec_t spec = {.bytes = pages * GiB, .exclusive = exclusive, .numa_node = node};
    const int error = reserve_as_one(&spec, arena_id);
    return huge_result(pages, error == 0 ? pages : 0, error);
  }
  const int error = reserve_one_by_one(pages, node, deadline_after(timeout_msecs), &reserved);
  return huge_result(pages, reserved, error);
}

API int mi_reserve_huge_os_pages_at(size_t pages, int numa_node, size_t timeout_msecs) {
  return mi_reserve_huge_os_pages_at_ex(pages, numa_node, timeout_msecs, false, NULL);
}

static size_t count_numa_nodes(size_t wanted) {
  const size_t limit = option_size(mi_option_use_numa_nodes);
  const size_t there = limit != 0 ? limit : (size_t)port_numa_count();
  return wanted == 0 ? there : size_min(wanted, there);
}

static int reserve_spread(size_t pages, size_t wanted_nodes, size_t timeout_msecs,
                          size_t* reserved) {
  *reserved = 0;
  if (pages == 0) { return 0; }
  process_init();
  const size_t nodes = count_numa_nodes(wanted_nodes);
  const deadline_t deadline = deadline_after(timeout_msecs);
  int error = 0;
  for (size_t node = 0; node < nodes && error == 0; node++) {
    const size_t share = pages / nodes + (node < pages % nodes ? 1 : 0);
    error = reserve_one_by_one(share, (int)node, deadline, reserved);
  }
  return huge_result(pages, *reserved, error);
}

API int mi_reserve_huge_os_pages_interleave(size_t pages, size_t numa_nodes, size_t timeout_msecs) {
  size_t reserved = 0;
  return reserve_spread(pages, numa_nodes, timeout_msecs, &reserved);
}

API int mi_reserve_huge_os_pages(size_t pages, double max_secs, size_t* pages_reserved) {
  const bool limited = max_secs > 0 && max_secs < 1e6;  // more is no limit
  size_t reserved = 0;
  const int error =
      reserve_spread(pages, 0, limited ? (size_t)(max_secs * 1000) + 1 : 0, &reserved);
  if (pages_reserved != NULL) { *pages_reserved = reserved; }
  return error;
}

// ---- questions ----

API size_t mi_arena_min_alignment(void) { return size_max(SLICE_BYTES, port_page_bytes()); }

// With room for both ends to be rounded.
API size_t mi_arena_min_size(void) { return LEAST_ARENA + 2 * mi_arena_min_alignment(); }

// A size that the arenas could not hold at all is not promised, whatever the option says.
API size_t mi_arena_max_object_size(void) {
  enum { SHARE = 2 };  // see memory_take
  options_init();
  return size_min(option_size(mi_option_arena_max_object_size),
                  (size_t)ARENA_MAX_SLICES / SHARE * SLICE_BYTES);
}

API void mi_arenas_purge(void) { memory_collect(true); }

API void* mi_arena_area(mi_arena_id_t arena_id, size_t* size) {
  const arena_t* arena = (const arena_t*)arena_id;
  if (size != NULL) { *size = arena == NULL ? 0 : arena->slices * (size_t)SLICE_BYTES; }
  return arena == NULL ? NULL : arena->start;
}

API bool mi_arena_contains(mi_arena_id_t arena_id, const void* p) {
  return arena_id != NULL && arena_contains((const arena_t*)arena_id, p);
}

// ---- printing ----
// Under the lock facts are copied, a few arenas at a time; the text comes after it, because an
// output function may allocate.

typedef struct arena_facts {
  const void* start;
  size_t slices, untouched, taken, free_runs, free_slices[FREE_STATES];
  bool exclusive, pinned;
  int numa_node;
} arena_facts_t;

enum { FACTS_AT_ONCE = 16 };

typedef struct facts_batch {
  size_t skip, count;
  arena_facts_t facts[FACTS_AT_ONCE];
} facts_batch_t;

static void count_free(const arena_t* arena, arena_facts_t* facts) {
  for (uint32_t at = 0; at < arena->frontier; at += run_length(arena, at)) {
    const unsigned state = run_state(arena, at);
    if (state != RUN_TAKEN) {
      facts->free_runs++;
      facts->free_slices[state - 1] += run_length(arena, at);
    }
  }
}

static bool copy_facts(arena_t* arena, void* arg) {
  facts_batch_t* batch = (facts_batch_t*)arg;
  if (batch->skip > 0) {
    batch->skip--;
    return true;
  }
  arena_facts_t* facts = &batch->facts[batch->count++];
  *facts = (arena_facts_t){
      .start = arena->start,
      .slices = arena->slices,
      .untouched = arena->slices - arena->frontier,
      .taken = arena->taken,
      .exclusive = arena->exclusive,
      .pinned = arena->pinned,
      .numa_node = arena->numa_node,
  };
  count_free(arena, facts);
  return batch->count < FACTS_AT_ONCE;
}

static void print_facts(const out_t* out, size_t number, const arena_facts_t* facts) {
  char size[AMOUNT_CHARS], taken[AMOUNT_CHARS], dirty[AMOUNT_CHARS], clean[AMOUNT_CHARS];
  char reset[AMOUNT_CHARS], untouched[AMOUNT_CHARS];
  format_bytes(size, (int64_t)(facts->slices * SLICE_BYTES));
  format_bytes(taken, (int64_t)(facts->taken * SLICE_BYTES));
  format_bytes(dirty, (int64_t)(facts->free_slices[RUN_DIRTY - 1] * SLICE_BYTES));
  format_bytes(clean, (int64_t)(facts->free_slices[RUN_CLEAN - 1] * SLICE_BYTES));
  format_bytes(reset, (int64_t)(facts->free_slices[RUN_RESET - 1] * SLICE_BYTES));
  format_bytes(untouched, (int64_t)(facts->untouched * SLICE_BYTES));
  out_printf(out, "arena %zu at %p: %s%s%s, NUMA node %d\n", number, facts->start, size,
             facts->exclusive ? ", exclusive" : "", facts->pinned ? ", pinned" : "",
             facts->numa_node);
  out_printf(out,
             "  in use %s, free %s resident, %s until the system wants it and %s not, in %zu runs; "
             "untouched %s\n",
             taken, dirty, reset, clean, facts->free_runs, untouched);
}

API void mi_arenas_print(void) {
  const out_t out = message_sink(NULL, NULL);
  facts_batch_t batch;
  size_t printed = 0;
  process_init();
  do {
    batch.skip = printed, batch.count = 0;
    memory_visit_arenas(copy_facts, &batch);
    for (size_t i = 0; i < batch.count; i++) { print_facts(&out, ++printed, &batch.facts[i]); }
  } while (batch.count == FACTS_AT_ONCE);
  if (printed == 0) { out_printf(&out, "no arenas\n"); }
}

API void mi_debug_show_arenas(void) { mi_arenas_print(); }
