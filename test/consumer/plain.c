// Knows nothing of the library; finds out whether it is there, as it should be when preloaded.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

typedef bool in_region_t(const void*);

int main(void) {
  union {
    void* data;
    in_region_t* call;
  } in_region = {.data = dlsym(RTLD_DEFAULT, "mi_is_in_heap_region")};
  void* volatile p = malloc(10);
  bool ok = in_region.data != NULL && in_region.call(p);
  free(p);
  if (!ok) { fprintf(stderr, "plain: malloc is not the library's\n"); }
  return ok ? 0 : 1;
}
