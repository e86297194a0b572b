/* A process ends while its threads allocate, some of them stopped by the system in the middle of
   it: what runs after that, in the last thread, allocates, frees and collects, and does not hang.
   `exit_storm stopped`: the threads are suspended first, wherever they are. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "mimalloc.h"

enum { THREADS = 8 };

static DWORD WINAPI work(void* unused) {
  (void)unused;
  for (unsigned i = 0;; i++) {
    void* p = mi_malloc(100000 + i % 300000);
    void* q = mi_malloc(i % 3000);
    mi_heap_t* heap = i % 64 == 0 ? mi_heap_new() : NULL;
    void* r = heap != NULL ? mi_heap_malloc(heap, 100) : NULL;
    mi_free(r);
    mi_free(q);
    mi_free(p);
    if (heap != NULL) { mi_heap_destroy(heap); }
  }
}

static void at_the_end(void) {
  for (size_t i = 0; i < 2000; i++) {
    void* p = mi_malloc(60000);
    void* q = mi_malloc(i);
    if (p == NULL || q == NULL) { TerminateProcess(GetCurrentProcess(), 3); }
    memset(p, 1, 60000);
    mi_free(p);
    mi_free(q);
  }
  mi_collect(true);
}

static void NTAPI on_loader_call(void* module, DWORD reason, void* reserved) {
  (void)module, (void)reserved;
  if (reason == DLL_PROCESS_DETACH) { at_the_end(); }
}
__attribute__((section(".CRT$XLX"), used)) const PIMAGE_TLS_CALLBACK before_the_library =
    on_loader_call;

__attribute__((destructor)) static void at_exit(void) { at_the_end(); }

int main(int argc, char** argv) {
  HANDLE threads[THREADS];
  (void)argv;
  for (int i = 0; i < THREADS; i++) { threads[i] = CreateThread(NULL, 0, work, NULL, 0, NULL); }
  Sleep(20);
  for (int i = 0; argc > 1 && i < THREADS; i++) { (void)SuspendThread(threads[i]); }
  if (argc > 1) { ExitProcess(0); } /* a stopped thread may have a lock that exit wants */
  return 0;
}
