/* A DLL that hears of the end of the process, when the other threads are no more: it allocates,
   frees and collects, and then ends the process with status 7. See exit_storm.c. */
#include <string.h>
#include <windows.h>

#include "mimalloc.h"

enum { DONE = 7, NO_MEMORY = 3 };

static UINT use(void) {
  for (size_t i = 0; i < 2000; i++) {
    char* p = (char*)mi_malloc(60000);
    void* q = mi_malloc(i);
    mi_heap_t* heap = mi_heap_new();
    if (p == NULL || q == NULL || heap == NULL) { return NO_MEMORY; }
    memset(p, 1, 60000);
    mi_free(mi_heap_malloc(heap, i));
    mi_free(p);
    mi_free(q);
    mi_heap_delete(heap);
  }
  mi_collect(true);
  return DONE;
}

BOOL WINAPI DllMain(HINSTANCE self, DWORD reason, void* reserved) {
  (void)self;
  if (reason == DLL_PROCESS_DETACH && reserved != NULL) {
    TerminateProcess(GetCurrentProcess(), use());
  }
  return TRUE;
}
