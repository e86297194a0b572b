// dlopen without RTLD_DEEPBIND. A module that is opened with this flag looks for malloc and free in
// the C library before it looks in ours: it frees there what comes from us, and the reverse.
//
// The C library knows by the return address who calls dlopen: which RUNPATH it searches, what
// $ORIGIN stands for, and in which name space the module shall be. So ours ends in a jump, which
// leaves that address as it was; where it can't there is none. Test:
// test/lifecycle/dlopen_deepbind.c.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../service/message.h"
#include "../service/options.h"

// Only the shared library: in a statically linked program there is no other dlopen to go on to.
#if defined(MI_MALLOC_OVERRIDE) && defined(MI_SHARED_LIB) && defined(__GLIBC__) && HAS_JUMPS
#include <dlfcn.h>
#include <string.h>

#pragma weak dlsym  // before glibc 2.34 it is in a library that the program may not have

typedef void* dlopen_fun(const char* name, int mode);

// The one that would have been found without ours.
static NOINLINE dlopen_fun* dlopen_next(void) {
  static _Atomic(dlopen_fun*) known;
  dlopen_fun* next = load_relaxed(&known);
  if (unlikely(next == NULL) && dlsym != NULL) {
    void* found = dlsym(RTLD_NEXT, "dlopen");
    memcpy(&next, &found, sizeof(next));
    store_relaxed(&known, next);
  }
  return next;
}

static COLD void tell_once(const char* name) {
  static _Atomic(bool) told;
  if (load_relaxed(&told)) { return; }
  store_relaxed(&told, true);
  message_verbose("dlopen of %s: RTLD_DEEPBIND is left out, so that it finds this malloc",
                  name == NULL ? "the program" : name);
}

// A program whose malloc is not ours opens its modules as it likes.
static NOINLINE int dlopen_mode(const char* name, int mode) {
  if (likely((mode & RTLD_DEEPBIND) == 0)) { return mode; }
  if (!option_is_enabled(mi_option_dlopen_deepbind) || !mi_is_redirected()) { return mode; }
  tell_once(name);
  return mode & ~RTLD_DEEPBIND;
}

// Under its own name: as C++ the header's declaration throws nothing, from which clang cannot jump.
OVERRIDE dlopen_fun dlopen_ours __asm__("dlopen");

ENDS_IN_JUMP void* dlopen_ours(const char* name, int mode) {
  dlopen_fun* next = dlopen_next();
  mode = dlopen_mode(name, mode);
  JUMP_TO(next(name, mode));
}

#endif
