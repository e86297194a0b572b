// Calls the library and checks that malloc and its kin are the library's too.
#include <mimalloc-stats.h>
#include <mimalloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check(int ok, const char* what) {
  if (!ok) { fprintf(stderr, "use: not true: %s\n", what); }
  return ok ? 0 : 1;
}

int main(void) {
  int bad = check(mi_version() == MI_MALLOC_VERSION, "header and library are of one version");
  void* p = mi_malloc(100);
  bad += check(mi_is_in_heap_region(p), "mi_malloc gives a block of the library");
  mi_free(p);
#ifndef NO_OVERRIDE
  char* volatile q = malloc(10);
  bad += check(mi_is_in_heap_region(q), "malloc gives a block of the library");
  q = realloc(q, 10000);
  bad += check(mi_is_in_heap_region(q), "realloc gives a block of the library");
  free(q);
  q = strdup("text");
  bad += check(mi_is_in_heap_region(q), "strdup in libc gives a block of the library");
  free(q);
#endif
  return bad;
}
