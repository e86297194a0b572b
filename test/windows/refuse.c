/* A DLL that comes before mimalloc.dll, and plays a system that lets nobody change code: by the
   other's table of imports it stands in for VirtualProtect, and refuses what may be run and written
   to. With REFUSE_ALL in the environment nothing may be made to run either. */
#include <windows.h>

__declspec(dllexport) LONG refused(void);

static LONG count;
static int all;

LONG refused(void) { return count; }

static BOOL WINAPI stand_in(void* start, SIZE_T bytes, DWORD protection, DWORD* before) {
  const DWORD written = PAGE_EXECUTE_READWRITE | PAGE_EXECUTE_WRITECOPY;
  const DWORD run = written | PAGE_EXECUTE | PAGE_EXECUTE_READ;
  if ((protection & (all ? run : written)) == 0) {
    return VirtualProtect(start, bytes, protection, before);
  }
  InterlockedIncrement(&count);
  SetLastError(ERROR_ACCESS_DENIED);
  return FALSE;
}

static int same(const char* a, const char* b) {
  while (*a != 0 && *a == *b) { a++, b++; }
  return *a == *b;
}

static void replace(char* base) {
  void* const by = (void*)stand_in;
  const IMAGE_NT_HEADERS* headers =
      (const IMAGE_NT_HEADERS*)(base + ((const IMAGE_DOS_HEADER*)base)->e_lfanew);
  const DWORD at =
      headers->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_IMPORT].VirtualAddress;
  const IMAGE_IMPORT_DESCRIPTOR* dll = (const IMAGE_IMPORT_DESCRIPTOR*)(base + at);
  for (; dll->Name != 0; dll++) {
    const IMAGE_THUNK_DATA* name = (const IMAGE_THUNK_DATA*)(base + dll->OriginalFirstThunk);
    void** entry = (void**)(base + dll->FirstThunk);
    for (; name->u1.AddressOfData != 0; name++, entry++) {
      DWORD before;
      if (IMAGE_SNAP_BY_ORDINAL(name->u1.Ordinal)) { continue; }
      if (!same(((const IMAGE_IMPORT_BY_NAME*)(base + name->u1.AddressOfData))->Name,
                "VirtualProtect")) {
        continue;
      }
      (void)VirtualProtect(entry, sizeof(by), PAGE_READWRITE, &before);
      *entry = by;
      (void)VirtualProtect(entry, sizeof(by), before, &before);
    }
  }
}

BOOL WINAPI DllMain(HINSTANCE module, DWORD reason, void* reserved) {
  const HMODULE other = GetModuleHandleA("mimalloc.dll");
  char text[8];
  (void)module, (void)reserved;
  if (reason != DLL_PROCESS_ATTACH || other == NULL) { return TRUE; }
  all = GetEnvironmentVariableA("REFUSE_ALL", text, sizeof(text)) != 0;
  replace((char*)other);
  return TRUE;
}
