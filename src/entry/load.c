// What the loader calls, but for the DLL of Windows, which has a DllMain, and macOS (darwin.c).
// The least priority that programs may use: we are the first of the program's or the library's
// constructors, so our fork handlers hold the locks for the shortest time, and the last of its
// destructors, so the statistics tell all. errno is 0 when main starts.
#include "../api/basic.h"
#include "../base/modes.h"

#if !defined(__APPLE__) && (!defined(_WIN32) || !defined(MI_SHARED_LIB))

AT_LOAD static void on_load(void) {
  const int saved = port_errno_keep();
  mi_process_init();
  port_errno_restore(saved);
}

AT_UNLOAD static void on_unload(void) {
  const int saved = port_errno_keep();
  mi_process_done();
  port_errno_restore(saved);
}

#endif
