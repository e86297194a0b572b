// malloc and its kin by the macros of mimalloc-override.h.
#include <stdlib.h>
#include <string.h>
#include <mimalloc-override.h>

int main(void) {
  char* p = malloc(10);
  char* q = strdup("text");
  int ok = mi_is_in_heap_region(p) && mi_is_in_heap_region(q);
  free(p);
  free(q);
  return ok ? 0 : 1;
}
