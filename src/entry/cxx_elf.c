// The C++ runtime of a program in ELF. It is found when it is needed: linked with the program, or
// loaded since by a plug-in. So this library does not depend on it. To end an exception takes what
// C has no words for: see "catch". Compiled with -fexceptions.
#include "cxx.h"

#ifdef __ELF__

#include <dlfcn.h>
#include <setjmp.h>
#include <string.h>

#include "../service/message.h"
#include "unwind.h"

// ---- the C++ runtime ----

typedef new_handler_t* get_new_handler_t(void);
typedef void throw_t(void);
typedef void* begin_catch_t(void* exception);
typedef void end_catch_t(void);

#define NAMED(type, name, symbol) extern type name __asm__(symbol) WEAK
NAMED(get_new_handler_t, cxx_get_new_handler, "_ZSt15get_new_handlerv");
NAMED(throw_t, cxx_throw_bad_alloc, "_ZSt17__throw_bad_allocv");
NAMED(begin_catch_t, cxx_begin_catch, "__cxa_begin_catch");
NAMED(end_catch_t, cxx_end_catch, "__cxa_end_catch");
#undef NAMED
#pragma weak dlsym  // a program without shared libraries may have none

typedef void any_function_t(void);
typedef void* dlopen_t(const char* name, int flags);

static any_function_t* function_in(void* library, const char* symbol) {
  any_function_t* function = NULL;
  void* const address = dlsym(library, symbol);
  memcpy(&function, &address, sizeof(function));
  return function;
}

// In a runtime that is loaded, but not for all to see. The caller knows the type. (Named, dlopen
// would make the linker warn about every program without shared libraries.)
static any_function_t* loaded_function(const char* symbol) {
  static const char libraries[][16] = {"libstdc++.so.6", "libc++abi.so.1", "libc++.so.1"};
  if (dlsym == NULL) { return NULL; }
  dlopen_t* open = (dlopen_t*)function_in(RTLD_DEFAULT, "dlopen");
  any_function_t* function = NULL;
  for (size_t i = 0; open != NULL && i < sizeof(libraries) / sizeof(libraries[0]); i++) {
    void* library = open(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
    if (library != NULL) { function = function_in(library, symbol); }
    if (function != NULL) { break; }
  }
  return function;
}

PRIVATE new_handler_t* new_handler(void) {
  get_new_handler_t* get = cxx_get_new_handler;
  if (get == NULL) { get = (get_new_handler_t*)loaded_function("_ZSt15get_new_handlerv"); }
  return get == NULL ? NULL : get();
}

PRIVATE COLD void throw_bad_alloc(size_t size) {
  throw_t* throw_it = cxx_throw_bad_alloc;
  if (throw_it == NULL) { throw_it = loaded_function("_ZSt17__throw_bad_allocv"); }
  if (throw_it != NULL) { throw_it(); }
  message_fatal("out of memory in new of %zu bytes, and no C++ runtime to tell", size);
}

// ---- catch ----
//
// attempt_run has a frame that ends every exception (unwind.h): when all frames above are
// cleaned up, it jumps to where attempt_returns waits.

static THREAD_LOCAL jmp_buf* catch_place;

static void end_exception(struct _Unwind_Exception* exception) {
  begin_catch_t* begin = cxx_begin_catch;
  end_catch_t* end = cxx_end_catch;
  if (begin == NULL) { begin = (begin_catch_t*)loaded_function("__cxa_begin_catch"); }
  if (end == NULL) { end = loaded_function("__cxa_end_catch"); }
  if (begin == NULL || end == NULL) { return; }
  begin(exception);
  end();
}

static _Noreturn void caught(struct _Unwind_Exception* exception) {
  end_exception(exception);
  longjmp(*catch_place, 1);
}

CATCH_ROUTINE(caught)

// A call that may throw: of a new-handler, or of one of the program's operators.
typedef enum { CALL_HANDLER, CALL_NEW, CALL_NEW_ALIGNED } call_t;

typedef struct attempt {
  call_t call;
  new_handler_t* handler;
  new_fun_t* plain;
  new_aligned_fun_t* aligned;
  size_t size, alignment;
  void* block;
} attempt_t;

static NOINLINE void attempt_run(attempt_t* attempt) {
  CATCHES_ALL;
  switch (attempt->call) {
    case CALL_HANDLER: attempt->handler(); break;
    case CALL_NEW: attempt->block = attempt->plain(attempt->size); break;
    default: attempt->block = attempt->aligned(attempt->size, attempt->alignment); break;
  }
  __asm__ volatile("");  // so that no call above is the last thing, and the frame is there
}

// Returns false if it threw.
static NOINLINE bool attempt_returns(attempt_t* attempt) {
  jmp_buf place;
  jmp_buf* const outer = catch_place;
  const bool threw = setjmp(place) != 0;
  if (!threw) {
    catch_place = &place;
    attempt_run(attempt);
  }
  catch_place = outer;
  return !threw;
}

PRIVATE bool handler_returns(new_handler_t* handler) {
  attempt_t attempt = {.call = CALL_HANDLER, .handler = handler};
  return attempt_returns(&attempt);
}

PRIVATE COLD void* new_nothrow_by(new_fun_t* fun, size_t size) {
  attempt_t attempt = {.call = CALL_NEW, .plain = fun, .size = size};
  return attempt_returns(&attempt) ? attempt.block : NULL;
}

PRIVATE COLD void* new_aligned_nothrow_by(new_aligned_fun_t* fun, size_t size, size_t alignment) {
  attempt_t attempt = {
      .call = CALL_NEW_ALIGNED, .aligned = fun, .size = size, .alignment = alignment};
  return attempt_returns(&attempt) ? attempt.block : NULL;
}

#endif
