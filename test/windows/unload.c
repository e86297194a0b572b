/* The DLL is loaded, used by two threads and freed, a thousand times. It stays where it is, and
   takes no more memory for it.
   unload mimalloc.dll */
#include <stdio.h>
#include <windows.h>

typedef void* take_fun(size_t size);
typedef void give_fun(void* p);

static take_fun* take;
static give_fun* give;

static DWORD WINAPI run(void* unused) {
  (void)unused;
  void* small = take(100);
  void* large = take(10000000);
  give(large);
  give(small);
  return small == NULL || large == NULL;
}

/* Bytes of address space that are taken. */
static size_t taken(void) {
  MEMORY_BASIC_INFORMATION info;
  size_t bytes = 0;
  for (char* p = NULL; VirtualQuery(p, &info, sizeof(info)) != 0;) {
    if (info.State != MEM_FREE) { bytes += info.RegionSize; }
    p = (char*)info.BaseAddress + info.RegionSize;
  }
  return bytes;
}

static int once(const char* name) {
  HMODULE dll = LoadLibraryA(name);
  DWORD failed = 1;
  if (dll == NULL) { return 1; }
  take = (take_fun*)(void*)GetProcAddress(dll, "mi_malloc");
  give = (give_fun*)(void*)GetProcAddress(dll, "mi_free");
  if (run(NULL) != 0) { return 2; }
  HANDLE thread = CreateThread(NULL, 0, run, NULL, 0, NULL);
  WaitForSingleObject(thread, INFINITE);
  GetExitCodeThread(thread, &failed);
  CloseHandle(thread);
  if (failed != 0) { return 3; }
  if (!FreeLibrary(dll) || GetModuleHandleA(name) != dll) { return 4; }
  return 0;
}

int main(int argc, char** argv) {
  enum { TIMES = 1000, MIB = 1 << 20 };
  size_t before = 0;
  if (argc < 2) { return 2; }
  for (int i = 0; i < TIMES; i++) {
    const int error = once(argv[1]);
    if (error != 0) {
      printf("time %d: error %d\n", i, error);
      return 1;
    }
    if (i == 10) { before = taken(); }
  }
  const size_t more = taken() - before;
  if ((ptrdiff_t)more > 16 * MIB) { printf("%zu MiB are left behind\n", more / MIB); }
  return (ptrdiff_t)more > 16 * MIB;
}
