/* Processes end while their threads allocate: the system stops these wherever they are, inside a
   lock too. What runs after that is late.c, whose exit status tells that it came to its end.
   exit_storm COUNT running|stopped     so many processes, one after the other, half a minute for
                                        each; `stopped`: the threads are suspended before
   Each thread has been at work before: in 32 bits wine 8 itself faults where a thread is ended that
   it is about to start. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "mimalloc.h"

enum { THREADS = 8, DONE = 7, DOES_NOT_END = 97, MOST_MS = 30000 };
enum { NOT_RUN = 2, NOT_LOADED = 3, NOT_HEARD = 4 };

static volatile LONG at_work;

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
    if (i == 0) { InterlockedIncrement(&at_work); }
  }
  return 0;
}

static int end_amid_threads(int stopped, DWORD after_ms) {
  HANDLE threads[THREADS];
  if (LoadLibraryA("late.dll") == NULL) {
    printf("late.dll is not loaded: error %lu\n", GetLastError());
    return NOT_LOADED;
  }
  for (int i = 0; i < THREADS; i++) { threads[i] = CreateThread(NULL, 0, work, NULL, 0, NULL); }
  while (at_work < THREADS) { Sleep(1); }
  Sleep(after_ms);
  for (int i = 0; stopped && i < THREADS; i++) { (void)SuspendThread(threads[i]); }
  ExitProcess(NOT_HEARD); /* not exit: a stopped thread may have a lock of the runtime */
}

static DWORD run(char* command) {
  STARTUPINFOA start = {.cb = sizeof(start)};
  PROCESS_INFORMATION info;
  DWORD status = NOT_RUN;
  /* A process that could not be made ran nothing of ours: on a busy machine wine may fail so. */
  for (int i = 0; !CreateProcessA(NULL, command, NULL, NULL, FALSE, 0, NULL, NULL, &start, &info);
       i++) {
    printf("no process: error %lu\n", GetLastError());
    if (i == 2) { return NOT_RUN; }
    Sleep(100);
  }
  if (WaitForSingleObject(info.hProcess, MOST_MS) != WAIT_OBJECT_0) {
    (void)TerminateProcess(info.hProcess, DOES_NOT_END);
    (void)WaitForSingleObject(info.hProcess, INFINITE);
  }
  (void)GetExitCodeProcess(info.hProcess, &status);
  CloseHandle(info.hProcess);
  CloseHandle(info.hThread);
  return status;
}

int main(int argc, char** argv) {
  char name[MAX_PATH], command[2 * MAX_PATH];
  int failures = 0;
  if (argc < 3) { return NOT_RUN; }
  if (argc > 3) { return end_amid_threads(strcmp(argv[2], "stopped") == 0, (DWORD)atoi(argv[3])); }
  GetModuleFileNameA(NULL, name, sizeof(name));
  for (int i = 0; i < atoi(argv[1]); i++) {
    snprintf(command, sizeof(command), "\"%s\" one %s %d", name, argv[2], i % 30);
    const DWORD status = run(command);
    if (status == DONE) { continue; }
    printf("process %d: status 0x%lX\n", i, status);
    failures++;
  }
  printf("%s processes, %d failures\n", argv[1], failures);
  return failures != 0;
}
