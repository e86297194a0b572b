// mimalloc.dll: what the loader calls. It is linked with no C runtime, so that it may come before
// the one that it serves, and imports kernel32.dll and ntdll.dll alone.
#include "../port/port.h"

#if defined(_WIN32) && defined(MI_SHARED_LIB)
#include "../port/windows_head.h"

#include "../heap/heap.h"

PRIVATE bool redirect_start(bool at_start);

BOOL WINAPI DllMain(HINSTANCE module, DWORD reason, void* reserved);

BOOL WINAPI DllMain(HINSTANCE module, DWORD reason, void* reserved) {
  const bool of_process = reserved != NULL;  // starts with it, or ends with it
  loader_calls(reason);
  if (reason == DLL_PROCESS_ATTACH) {
    mi_process_init();
    if (redirect_start(of_process)) { stay_loaded(); }
  }
  if (reason == DLL_PROCESS_DETACH) {
    mi_process_done();
    if (!of_process) {  // FreeLibrary: nothing was redirected, or it would have stayed
      process_unload();
      loader_lets_go();
    }
  }
  (void)module;
  return TRUE;
}

#ifdef _MSC_VER  // who uses floating point asks for it; no runtime is linked that has it
int _fltused = 0x9875;
#endif

#endif
