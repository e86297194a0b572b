// What the loader calls, but for the DLL of Windows, which has a DllMain, and macOS (darwin.c).
// The least priority that programs may use: we are the first of the program's or the library's
// constructors, so our fork handlers hold the locks for the shortest time, and the last of its
// destructors, so the statistics tell all. errno is 0 when main starts.
#ifndef _GNU_SOURCE  // for Dl_info
#define _GNU_SOURCE
#endif
#include "../api/basic.h"
#include "../base/modes.h"

#if !defined(__APPLE__) && (!defined(_WIN32) || !defined(MI_SHARED_LIB))

#if defined(__linux__) && !defined(MI_SHARED_LIB)  // which is linked so that it stays
#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>

#pragma weak dladdr  // before glibc 2.34 they are in a library that the program may not have
#pragma weak dlopen

// NOLINTNEXTLINE(bugprone-reserved-identifier) the linker defines it: where this module begins
extern const ElfW(Ehdr) __ehdr_start WEAK HIDDEN;

static bool is_in_program(void) {
  const ElfW(Ehdr)* module = &__ehdr_start;
  return module == NULL || (uintptr_t)module + module->e_phoff == getauxval(AT_PHDR);
}

// The ends of threads lead here until the process ends: so a plug-in that this is part of stays,
// also where who has opened it closes it.
static void plug_in_stays(void) {
  Dl_info info;
  if (is_in_program() || dlopen == NULL || dladdr == NULL || dladdr(&__ehdr_start, &info) == 0) {
    return;
  }
  // cppcheck-suppress leakReturnValNotUsed ; it is to stay
  (void)dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

#else
static void plug_in_stays(void) {}
#endif

AT_LOAD static void on_load(void) {
  const int saved = port_errno_keep();
  mi_process_init();
  plug_in_stays();
  port_errno_restore(saved);
}

AT_UNLOAD static void on_unload(void) {
  const int saved = port_errno_keep();
  mi_process_done();
  port_errno_restore(saved);
}

#endif
