/* A process ends while its threads allocate: the system stops them wherever they are, inside a lock
   too. What runs after that is late.c, whose exit status tells that it came to its end.
   `exit_storm stopped`: the threads are suspended before. */
#include <string.h>
#include <windows.h>

#include "mimalloc.h"

enum { THREADS = 8 };

static DWORD WINAPI work(void* unused) {
  (void)unused;
  for (unsigned i = 0;; i++) {
    void* p = mi_malloc(100000 + i % 300000);
    mi_heap_t* heap = mi_heap_new();
    void* q = heap == NULL ? NULL : mi_heap_malloc(heap, i % 3000);
    memset(p, 1, 100000);
    mi_free(p);
    mi_free(q);
    if (heap != NULL) { mi_heap_delete(heap); }
    if (i % 4 == 0) { mi_collect(true); }
    if (i % 8 == 0) { mi_thread_done(); }
  }
  return 0;
}

int main(int argc, char** argv) {
  HANDLE threads[THREADS];
  (void)argv;
  if (LoadLibraryA("late.dll") == NULL) { return 1; }
  for (int i = 0; i < THREADS; i++) { threads[i] = CreateThread(NULL, 0, work, NULL, 0, NULL); }
  Sleep(20);
  for (int i = 0; argc > 1 && i < THREADS; i++) { (void)SuspendThread(threads[i]); }
  ExitProcess(1); /* not exit: a stopped thread may have a lock of the runtime */
}
