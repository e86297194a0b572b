/* A sampled block is written to past its end, or read after it was freed. The process ends as by
   any such access, and standard error names the block before. Who else asked to be told of
   exceptions is told as ever: a handler that makes the memory accessible goes on from there, and
   the last filter ends the process in its own way.
   guard          each case in a process of its own
   guard CASE     one of them: writes to standard output where the block is */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "mimalloc.h"

enum { BYTES = 64, WENT_ON = 42, FILTERED = 43, NOT_TOLD = 44 };

/* ---- a case ---- */

static volatile LONG told;

static LONG CALLBACK make_accessible(EXCEPTION_POINTERS* info) {
  const EXCEPTION_RECORD* record = info->ExceptionRecord;
  if (record->ExceptionCode != EXCEPTION_ACCESS_VIOLATION) { return EXCEPTION_CONTINUE_SEARCH; }
  InterlockedIncrement(&told);
  void* at = (void*)record->ExceptionInformation[1];
  return VirtualAlloc(at, 1, MEM_COMMIT, PAGE_READWRITE) == at ? EXCEPTION_CONTINUE_EXECUTION
                                                               : EXCEPTION_CONTINUE_SEARCH;
}

static LONG WINAPI filter(EXCEPTION_POINTERS* info) {
  (void)info;
  TerminateProcess(GetCurrentProcess(), FILTERED);
  return EXCEPTION_CONTINUE_SEARCH;
}

static int run_case(const char* name) {
  SetErrorMode(SEM_NOGPFAULTERRORBOX | SEM_FAILCRITICALERRORS); /* and no debugger */
  mi_option_set(mi_option_guarded_sample_rate, 1);
  mi_option_set(mi_option_guarded_precise, 1);
  for (int i = 0; i < 10; i++) { mi_free(mi_malloc(BYTES)); }
  if (strcmp(name, "handler") == 0) { (void)AddVectoredExceptionHandler(0, make_accessible); }
  if (strcmp(name, "filter") == 0) { (void)SetUnhandledExceptionFilter(filter); }
  volatile char* p = (volatile char*)mi_malloc(BYTES);
  printf("a block of %d bytes, 0x%llx\n", BYTES, (unsigned long long)(size_t)p);
  fflush(stdout);
  p[BYTES - 1] = 1;
  if (strcmp(name, "freed") == 0) {
    mi_free((void*)p);
    return p[0] == 1 ? 1 : 2;
  }
  p[BYTES] = 1;
  return told == 1 && p[BYTES] == 1 ? WENT_ON : NOT_TOLD;
}

/* ---- all ---- */

/* What the process writes, to standard output and to standard error. */
static DWORD run(const char* program, const char* name, char* text, DWORD most) {
  char command[MAX_PATH + 32];
  SECURITY_ATTRIBUTES inherited = {sizeof(inherited), NULL, TRUE};
  STARTUPINFOA start = {.cb = sizeof(start), .dwFlags = STARTF_USESTDHANDLES};
  PROCESS_INFORMATION info;
  HANDLE end = NULL;
  DWORD status = 0, bytes = 0, more = 0;
  snprintf(command, sizeof(command), "\"%s\" %s", program, name);
  if (!CreatePipe(&end, &start.hStdOutput, &inherited, 0)) { return 1; }
  SetHandleInformation(end, HANDLE_FLAG_INHERIT, 0);
  start.hStdError = start.hStdOutput;
  if (!CreateProcessA(NULL, command, NULL, NULL, TRUE, 0, NULL, NULL, &start, &info)) { return 1; }
  CloseHandle(start.hStdOutput);
  while (ReadFile(end, text + bytes, most - 1 - bytes, &more, NULL) && more > 0) { bytes += more; }
  text[bytes] = 0;
  WaitForSingleObject(info.hProcess, INFINITE);
  GetExitCodeProcess(info.hProcess, &status);
  CloseHandle(end);
  CloseHandle(info.hProcess);
  CloseHandle(info.hThread);
  return status;
}

/* The first line says which block; the rest is what the library says. */
static int test(const char* program, const char* name, DWORD expected, const char* words) {
  static char text[20000];
  const DWORD status = run(program, name, text, sizeof(text));
  char* rest = strpbrk(text, "\r\n");
  int named = 0;
  if (rest != NULL) {
    *rest = 0;
    named = strstr(rest + 1, words) != NULL && strstr(rest + 1, text) != NULL;
  }
  if (status == expected && named) { return 0; }
  printf("%s: status 0x%lX, it says of %s:\n%s\n", name, status, text,
         rest == NULL ? "" : rest + 1);
  return 1;
}

int main(int argc, char** argv) {
  static const char beyond[] = "overflow, a write";
  char program[MAX_PATH];
  int failures = 0;
  if (argc > 1) { return run_case(argv[1]); }
  GetModuleFileNameA(NULL, program, sizeof(program));
  failures += test(program, "beyond", EXCEPTION_ACCESS_VIOLATION, beyond);
  failures += test(program, "freed", EXCEPTION_ACCESS_VIOLATION, "use after free, a read");
  failures += test(program, "handler", WENT_ON, beyond);
  failures += test(program, "filter", FILTERED, beyond);
  return failures != 0;
}
