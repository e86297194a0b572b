#include <mimalloc.h>
#include <stdio.h>

int main(void) {
  void* p = mi_malloc(100);
  const bool is_ours = mi_is_in_heap_region(p);
  mi_free(p);
  printf("mimalloc %d: %s\n", mi_version(), is_ours ? "works" : "does not know its block");
  return is_ours && mi_version() == MI_MALLOC_VERSION ? 0 : 1;
}
