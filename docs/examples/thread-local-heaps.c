#include <mimalloc.h>

/* What `work` allocates by the plain functions goes to a heap, whoever wrote it. */
static void* run_in(mi_heap_t* heap, void* (*work)(void)) {
  mi_theap_t* former = mi_theap_set_default(mi_heap_theap(heap));
  void* result = work();
  mi_theap_set_default(former);
  return result;
}

static void* work(void) { return mi_malloc(100); }

int main(void) {
  mi_heap_t* heap = mi_heap_new();
  if (heap == NULL) { return 1; }
  void* result = run_in(heap, work);
  const int ok = result != NULL && mi_heap_of(result) == heap;
  mi_heap_destroy(heap);
  return ok ? 0 : 1;
}
