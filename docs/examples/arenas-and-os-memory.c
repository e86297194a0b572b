#include <mimalloc.h>

enum { MIB = 1024 * 1024 };

int main(void) {
  /* 64 MiB for one heap alone: a bound that it cannot pass. */
  mi_arena_id_t arena = NULL;
  if (mi_reserve_os_memory_ex(64 * MIB, false, false, true, &arena) != 0) { return 1; }
  mi_heap_t* heap = mi_heap_new_in_arena(arena);
  if (heap == NULL) { return 1; }
  int count = 0;
  for (void* block; (block = mi_heap_malloc(heap, MIB)) != NULL; count++) {
    if (!mi_arena_contains(arena, block)) { return 1; }
  }
  mi_heap_destroy(heap);
  return count > 32 && count <= 64 ? 0 : 1;
}
