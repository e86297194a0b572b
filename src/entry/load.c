// What the loader calls, but for the DLL of Windows, which has a DllMain.
// The least priority that programs may use: we are the first of the program's or the library's
// constructors, so our fork handlers hold the locks for the shortest time, and the last of its
// destructors, so the statistics tell all. errno is 0 when main starts.
#ifndef _GNU_SOURCE  // for Dl_info
#define _GNU_SOURCE
#endif
#include "../api/basic.h"
#include "../base/modes.h"
#if defined(__APPLE__) && defined(MI_MALLOC_OVERRIDE)
#include "darwin_zone.h"
#endif

#if !defined(_WIN32) || !defined(MI_SHARED_LIB)

#if defined(__APPLE__) || (defined(__linux__) && !defined(MI_SHARED_LIB))  // else it stays
#include <dlfcn.h>

#ifdef __APPLE__
#include <mach-o/loader.h>

extern const struct mach_header_64 this_module __asm__("___dso_handle") HIDDEN;

static bool stays_anyway(void) { return this_module.filetype == MH_EXECUTE; }
#else
#include <link.h>
#include <sys/auxv.h>

#pragma weak dladdr  // before glibc 2.34 they are in a library that the program may not have
#pragma weak dlopen

extern const ElfW(Ehdr) this_module __asm__("__ehdr_start") WEAK HIDDEN;

// It is part of the program, or cannot be told to stay.
static bool stays_anyway(void) {
  const ElfW(Ehdr)* module = &this_module;
  return module == NULL || dlopen == NULL || dladdr == NULL ||
         (uintptr_t)module + module->e_phoff == getauxval(AT_PHDR);
}
#endif

// The ends of threads lead here until the process ends, and on macOS zones and forks: so a library
// or a plug-in that this is part of stays, also where who has opened it closes it.
static void module_stays(void) {
  Dl_info info;
  if (stays_anyway() || dladdr(&this_module, &info) == 0) { return; }
  // cppcheck-suppress leakReturnValNotUsed ; it is to stay
  (void)dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

#else
static void module_stays(void) {}
#endif

AT_LOAD static void on_load(void) {
  const int saved = port_errno_keep();
#if defined(__APPLE__) && defined(MI_MALLOC_OVERRIDE)
  zone_start();
#endif
  mi_process_init();
  module_stays();
  port_errno_restore(saved);
}

AT_UNLOAD static void on_unload(void) {
  const int saved = port_errno_keep();
  mi_process_done();
  port_errno_restore(saved);
}

#endif
