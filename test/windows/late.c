/* A DLL that hears of the end of the process, when the other threads are no more: it allocates,
   frees and collects, and then ends the process with status 7. The program's own functions are not
   called any more. See exit_storm.c. */
#include <string.h>
#include <windows.h>

#include "mimalloc.h"

enum { DONE = 7, NO_MEMORY = 3, CALLED = 5 };

static int calls;

static void call(bool force, unsigned long long heartbeat, void* argument) {
  (void)force, (void)heartbeat, (void)argument;
  calls++;
}

static UINT use(void) {
  mi_register_deferred_free(call, NULL);
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
  return calls == 0 ? DONE : CALLED;
}

BOOL WINAPI DllMain(HINSTANCE self, DWORD reason, void* reserved) {
  (void)self;
  if (reason == DLL_PROCESS_DETACH && reserved != NULL) {
    TerminateProcess(GetCurrentProcess(), use());
  }
  return TRUE;
}
