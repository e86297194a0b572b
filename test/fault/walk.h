/* Walks of what the library knows of its memory, for tests that include its sources: true if it is
   in order. No other thread runs. */
#ifndef TEST_FAULT_WALK_H
#define TEST_FAULT_WALK_H

/* The runs of an arena follow on each other up to the frontier; no two neighbours are free in the
   same way; as many slices are taken as the arena says. */
static inline bool arena_is_sound(const arena_t* arena, size_t* dirty, size_t* reset) {
  uint32_t taken = 0;
  unsigned before = RUN_TAKEN;
  for (uint32_t at = 0; at < arena->frontier; at += run_length(arena, at)) {
    const uint32_t length = run_length(arena, at);
    const unsigned state = run_state(arena, at);
    if (length == 0 || length > arena->frontier - at) { return false; }
    if (arena->table[at + length - 1].run != arena->table[at].run) { return false; }
    if (state != RUN_TAKEN && state == before) { return false; }
    taken += state == RUN_TAKEN ? length : 0;
    *dirty += state == RUN_DIRTY ? length : 0;
    *reset += state == RUN_RESET ? length : 0;
    before = state;
  }
  return taken == arena->taken;
}

static inline bool arenas_are_sound(void) {
  size_t dirty = 0, stuck = 0, reset = 0;
  for (const arena_t* arena = memory.first; arena != NULL; arena = arena->next) {
    if (!arena_is_sound(arena, arena_may_purge(arena) ? &dirty : &stuck, &reset)) { return false; }
  }
  return dirty == memory.dirty_slices && stuck == memory.stuck_slices &&
         reset == memory.reset_slices;
}

static inline bool count_a_page(page_t* page, void* count) {
  (void)page;
  ++*(size_t*)count;
  return true;
}

static inline size_t pages_in_use(void) {
  size_t count = 0;
  page_visit_all(count_a_page, &count);
  return count;
}

#endif
