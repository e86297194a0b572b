#include <mimalloc.h>

/* A program for 2.x lets the plain functions use a heap of its own for a while. In new programs:
   mi_heap_malloc, or mi_theap_set_default. */
int main(void) {
  mi_heap_t* heap = mi_heap_new();
  if (heap == NULL) { return 1; }
  mi_heap_t* former = mi_heap_set_default(heap);
  void* block = mi_malloc(100);
  const int ok = mi_heap_check_owned(heap, block) && mi_heap_get_default() == heap;
  mi_heap_set_default(former);
  mi_heap_destroy(heap); /* with the block */
  return ok ? 0 : 1;
}
