#include <mimalloc.h>
#include <string.h>

int main(void) {
  mi_heap_t* heap = mi_heap_new();
  if (heap == NULL) { return 1; }
  char* name = mi_heap_strdup(heap, "kept");
  int* numbers = mi_heap_calloc(heap, 100, sizeof(int));
  if (name == NULL || numbers == NULL) { return 1; }
  mi_free(numbers);     /* one by one, if that is wanted */
  mi_heap_delete(heap); /* what is left moves to the main heap */
  const int ok = strcmp(name, "kept") == 0 && mi_heap_of(name) == mi_heap_main();
  mi_free(name);
  return ok ? 0 : 1;
}
