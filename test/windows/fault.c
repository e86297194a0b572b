/* The system refuses memory: VirtualAlloc and VirtualAlloc2 fail at call n, at n and the next, or
   from n on, for all n of a small program, each in a process of its own. It may get NULL, with
   ENOMEM and the last error as it was, but does not crash; what it got is whole; and when memory is
   there again, all works. With the system's word that the page file is growing, a call is repeated
   for as long as the option retry_on_oom says. Last, eight threads ask at once for aligned memory.
   fault                  all
   fault FIRST LAST       one process: the calls from FIRST to LAST fail
   With FAULT_OLD in the environment the library finds none of what came after Windows 7. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "mimalloc.h"

/* ---- stand-ins, to which the linker leads the library ---- */

typedef void* WINAPI alloc_fun(void* start, SIZE_T bytes, DWORD kind, DWORD protection);
typedef void* WINAPI alloc2_fun(HANDLE process, void* start, SIZE_T bytes, ULONG kind,
                                ULONG protection, void* extras, ULONG count);

static LONG calls, first, last, injected, found_none;
static int is_old;
static DWORD error = ERROR_NOT_ENOUGH_MEMORY;

/* Before main too: the library reads nothing before its first call. */
static void read_plan(void) {
  static LONG is_read;
  char text[32];
  if (InterlockedExchange(&is_read, 1) != 0) { return; }
  if (GetEnvironmentVariableA("FAULT_FIRST", text, sizeof(text)) != 0) { first = atoi(text); }
  if (GetEnvironmentVariableA("FAULT_LAST", text, sizeof(text)) != 0) { last = atoi(text); }
  is_old = GetEnvironmentVariableA("FAULT_OLD", text, sizeof(text)) != 0;
}

static int fails(void) {
  read_plan();
  const LONG n = InterlockedIncrement(&calls);
  if (n < first || n > last) { return 0; }
  InterlockedIncrement(&injected);
  SetLastError(error);
  return 1;
}

typedef struct name {
  USHORT length, most;
  const char* text;
} name_t;
__declspec(dllimport) LONG NTAPI LdrGetProcedureAddress(HMODULE module, const name_t* name,
                                                        ULONG number, void** out);

static void* find(HMODULE module, const char* text) {
  const name_t name = {(USHORT)strlen(text), (USHORT)(strlen(text) + 1), text};
  void* found = NULL;
  (void)LdrGetProcedureAddress(module, &name, 0, &found);
  return found;
}

static void* find_real(const char* name) { return find(GetModuleHandleW(L"kernelbase.dll"), name); }

static void* WINAPI failing_alloc(void* start, SIZE_T bytes, DWORD kind, DWORD protection) {
  static alloc_fun* real;
  if (fails()) { return NULL; }
  if (real == NULL) { real = (alloc_fun*)find_real("VirtualAlloc"); }
  return real(start, bytes, kind, protection);
}

static void* WINAPI failing_alloc2(HANDLE process, void* start, SIZE_T bytes, ULONG kind,
                                   ULONG protection, void* extras, ULONG count) {
  static alloc2_fun* real;
  if (fails()) { return NULL; }
  if (real == NULL) { real = (alloc2_fun*)find_real("VirtualAlloc2"); }
  return real(process, start, bytes, kind, protection, extras, count);
}

static int came_later(const char* name) {
  static const char* const names[] = {"VirtualAlloc2", "WaitOnAddress", "WakeByAddressSingle",
                                      "ProcessPrng"};
  int i = 0;
  while (i < 4 && strcmp(name, names[i]) != 0) { i++; }
  return i < 4;
}

/* The library asks for VirtualAlloc2 by its name. */
static void* WINAPI find_for_library(HMODULE module, const char* name) {
  read_plan();
  if (is_old && came_later(name)) {
    found_none++;
    return NULL;
  }
  void* found = find(module, name);
  return found != NULL && strcmp(name, "VirtualAlloc2") == 0 ? (void*)failing_alloc2 : found;
}

#ifdef __i386__ /* where names tell the bytes of their arguments */
#define IMPORT(name, bytes) __asm__("__imp__" name "@" bytes)
#else
#define IMPORT(name, bytes) __asm__("__imp_" name)
#endif
alloc_fun* const import_alloc IMPORT("VirtualAlloc", "16") = failing_alloc;
void* const import_find IMPORT("GetProcAddress", "8") = (void*)find_for_library;

/* ---- the program ---- */

static int failures;

static void expect(const char* what, int condition) {
  if (condition) { return; }
  printf("failed, calls %ld to %ld: %s\n", first, last, what);
  failures++;
}

enum { BLOCKS = 40, MARK = 42 };

static void* take(size_t size) {
  SetLastError(MARK);
  errno = 0;
  void* p = mi_malloc(size);
  expect("the last error is kept", GetLastError() == MARK);
  expect("no memory: ENOMEM", p != NULL || errno == ENOMEM);
  if (p != NULL) { memset(p, (int)(size & 0xFF), size); }
  return p;
}

static int is_whole(const unsigned char* p, size_t size) {
  for (size_t i = 0; i < size; i += size / 100 + 1) {
    if (p[i] != (size & 0xFF)) { return 0; }
  }
  return 1;
}

static size_t size_at(int i) { return (size_t)1 << (i % 24); }

static DWORD WINAPI run(void* unused) {
  void* blocks[BLOCKS];
  (void)unused;
  for (int i = 0; i < BLOCKS; i++) { blocks[i] = take(size_at(i)); }
  for (int i = 0; i < BLOCKS; i += 3) {
    void* p = blocks[i] == NULL ? NULL : mi_realloc(blocks[i], size_at(i) * 2);
    if (p != NULL) { blocks[i] = p; }
  }
  for (int i = 0; i < BLOCKS; i++) {
    expect("a block is whole", blocks[i] == NULL || is_whole(blocks[i], size_at(i)));
    mi_free(blocks[i]);
    expect("free keeps the last error", GetLastError() == MARK);
  }
  mi_heap_t* heap = mi_heap_new();
  if (heap != NULL) {
    mi_free(mi_heap_malloc(heap, 1000));
    (void)mi_heap_malloc(heap, 100000);
    mi_heap_destroy(heap);
  }
  mi_free(mi_malloc_aligned(1 << 20, 1 << 20));
  mi_free(mi_malloc((size_t)3 << 30));
  mi_collect(1);
  return 0;
}

static void run_all(void) {
  (void)run(NULL);
  HANDLE thread = CreateThread(NULL, 0, run, NULL, 0, NULL);
  WaitForSingleObject(thread, INFINITE);
  CloseHandle(thread);
}

enum { THREADS = 8, ROUNDS = 50, ALIGNED = 7 };

/* Of 64 KiB to 4 MiB. */
static DWORD WINAPI take_aligned(void* seed) {
  for (unsigned round = 0; round < ROUNDS; round++) {
    unsigned char* blocks[ALIGNED];
    for (unsigned i = 0; i < ALIGNED; i++) {
      const size_t align = (size_t)1 << (16 + (i + (size_t)seed) % ALIGNED);
      blocks[i] = (unsigned char*)mi_malloc_aligned(align + 1000, align);
      expect("aligned memory", blocks[i] != NULL && (size_t)blocks[i] % align == 0);
      if (blocks[i] != NULL) { memset(blocks[i], (int)(i + round), 1000); }
    }
    for (unsigned i = 0; i < ALIGNED; i++) {
      expect("an aligned block is whole",
             blocks[i] == NULL || (blocks[i][0] == i + round && blocks[i][999] == i + round));
      mi_free(blocks[i]);
    }
    if (round % 10 == 0) { mi_collect(1); }
  }
  return 0;
}

/* Locks are waited for, and places where there is room are taken by others meanwhile. */
static void test_threads(LPTHREAD_START_ROUTINE what) {
  HANDLE threads[THREADS];
  for (size_t i = 0; i < THREADS; i++) {
    threads[i] = CreateThread(NULL, 0, what, (void*)i, 0, NULL);
  }
  expect("all threads end", WaitForMultipleObjects(THREADS, threads, TRUE, 60000) == WAIT_OBJECT_0);
  for (int i = 0; i < THREADS; i++) { CloseHandle(threads[i]); }
}

static int run_with_faults(void) {
  run_all();
  const int done = injected;
  first = 1, last = 0;
  void* p = mi_malloc(100);
  void* large = mi_malloc(10000000);
  expect("memory is there again", p != NULL && large != NULL);
  mi_free(p);
  mi_free(large);
  run_all();
  return failures != 0 ? 1 : done > 0 ? 0 : 3;
}

/* Three calls fail since the page file is growing. */
static void test_retry(void) {
  error = ERROR_COMMITMENT_LIMIT;
  first = calls + 1, last = first + 2, injected = 0;
  void* p = mi_malloc(50000000);
  expect("what is refused for a moment is asked for again", p != NULL && injected == 3);
  mi_free(p);
  mi_collect(1);
  first = calls + 1, last = INT32_MAX;
  expect("what is refused for long is not there", mi_malloc(50000000) == NULL);
  expect("it was asked for many times", calls - first > 10);
  error = ERROR_NOT_ENOUGH_MEMORY;
}

/* Under load Wine refuses one process in a thousand: "internal error", 1359. */
static int process_start(char* command, STARTUPINFOA* start, PROCESS_INFORMATION* info) {
  enum { TRIES = 5 };
  for (int i = 0; i < TRIES; i++) {
    if (CreateProcessA(NULL, command, NULL, NULL, TRUE, 0, NULL, NULL, start, info)) { return 1; }
  }
  return 0;
}

static int process(const char* name, int from, int to) {
  char command[600], number[32];
  STARTUPINFOA start = {.cb = sizeof(start)};
  PROCESS_INFORMATION info;
  DWORD status = 99;
  snprintf(number, sizeof(number), "%d", from);
  SetEnvironmentVariableA("FAULT_FIRST", number);
  snprintf(number, sizeof(number), "%d", to);
  SetEnvironmentVariableA("FAULT_LAST", number);
  snprintf(command, sizeof(command), "\"%s\" %d %d", name, from, to);
  if (!process_start(command, &start, &info)) { return 98; }
  if (WaitForSingleObject(info.hProcess, 60000) != WAIT_OBJECT_0) {
    TerminateProcess(info.hProcess, 97);
    WaitForSingleObject(info.hProcess, INFINITE);
  }
  GetExitCodeProcess(info.hProcess, &status);
  CloseHandle(info.hProcess);
  CloseHandle(info.hThread);
  return (int)status;
}

int main(int argc, char** argv) {
  enum { NOTHING_FAILED = 3, EVER = 1000000, MOST = 500 };
  char name[MAX_PATH];
  read_plan();
  if (argc > 2) { return run_with_faults(); }
  GetModuleFileNameA(NULL, name, sizeof(name));
  int reached = 0, n = 1;
  for (; n < MOST; n++) {
    const int lasts[] = {n, n + 1, EVER};
    for (int i = 0; i < 3; i++) {
      const int status = process(name, n, lasts[i]);
      if (status == NOTHING_FAILED && i == 0) { goto done; }
      if (status != 0 && status != NOTHING_FAILED) {
        printf("calls %d to %d: status 0x%X\n", n, lasts[i], (unsigned)status);
        failures++;
      }
      reached++;
    }
  }
done:
  test_retry();
  first = 1, last = 0;
  test_threads(run);
  test_threads(take_aligned);
  expect("what came later is looked up", is_old ? found_none >= 3 : found_none == 0);
  printf("%d processes, calls 1 to %d\n", reached, n - 1);
  return failures != 0 || n < 10;
}
