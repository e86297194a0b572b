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

typedef struct space {
  size_t taken;     /* bytes of addresses */
  size_t committed; /* of memory that counts towards the system's limit */
} space_t;

static space_t space(void) {
  MEMORY_BASIC_INFORMATION info;
  space_t now = {0, 0};
  for (char* p = NULL; VirtualQuery(p, &info, sizeof(info)) != 0;) {
    if (info.State != MEM_FREE) { now.taken += info.RegionSize; }
    if (info.State == MEM_COMMIT && info.Type == MEM_PRIVATE) { now.committed += info.RegionSize; }
    p = (char*)info.BaseAddress + info.RegionSize;
  }
  return now;
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
  enum { TIMES = 1000, EARLY = 10, KIB = 1024, MOST = 1024 * KIB };
  const space_t none = space();
  space_t early = none;
  if (argc < 2) { return 2; }
  for (int i = 0; i < TIMES; i++) {
    const int error = once(argv[1]);
    if (error != 0) {
      printf("time %d: error %d\n", i, error);
      return 1;
    }
    if (i == EARLY) { early = space(); }
  }
  const space_t late = space();
  const space_t all[] = {none, early, late};
  for (int i = 0; i < 3; i++) {
    printf("%lu KiB of addresses, %lu KiB committed\n", (unsigned long)(all[i].taken / KIB),
           (unsigned long)(all[i].committed / KIB));
  }
  return late.taken > early.taken + MOST || late.committed > early.committed + MOST;
}
