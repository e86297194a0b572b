// What the files of this folder share.
#include "internal.h"

SHARED_DATA_DEF(memory_state_t, memory);
SHARED_DATA_DEF(stats_t, memory_stats);
SHARED_DATA_DEF(_Atomic(size_t), memory_untouched);
SHARED_DATA_DEF(_Atomic(uint32_t), memory_growths);
SHARED_DATA_DEF(_Atomic(memory_trend_t), memory_trend);
SHARED_DATA_DEF(_Atomic(size_t), memory_spare_room);

PRIVATE size_t memory_reserved_bytes(void) {
  size_t bytes = 0;
  for (const arena_t* arena = memory.first; arena != NULL; arena = arena->next) {
    bytes += arena->kept ? 0 : slices_bytes(arena->slices);
  }
  return bytes;
}
