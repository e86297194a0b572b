// C++ `new` in C, for programs with and without a C++ runtime.
//
//   first try --NULL--> new_retry: new-handler --returns--> try again
//                         |          `--throws--> to the caller, or for nothrow: NULL
//                         `-- no handler --> throw bad_alloc, or for nothrow: NULL
//
// The runtime is found when it is needed: linked with the program, or loaded since by a plug-in. So
// this library does not depend on it. Exceptions pass through frames of this file, which is
// therefore compiled with -fexceptions. To end one here takes what C has no words for: see "catch".
#include "new.h"

#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>

#include "../port/unwind.h"
#include "../service/message.h"
#include "basic.h"

// ---- the C++ runtime ----

typedef void new_handler_t(void);
typedef new_handler_t* get_new_handler_t(void);
typedef void throw_t(void);
typedef void* begin_catch_t(void* exception);
typedef void end_catch_t(void);

#define WEAK(type, name, symbol) extern type name __asm__(symbol) __attribute__((weak))
WEAK(get_new_handler_t, cxx_get_new_handler, "_ZSt15get_new_handlerv");
WEAK(throw_t, cxx_throw_bad_alloc, "_ZSt17__throw_bad_allocv");
WEAK(begin_catch_t, cxx_begin_catch, "__cxa_begin_catch");
WEAK(end_catch_t, cxx_end_catch, "__cxa_end_catch");
#undef WEAK
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

static new_handler_t* new_handler(void) {
  get_new_handler_t* get = cxx_get_new_handler;
  if (get == NULL) { get = (get_new_handler_t*)loaded_function("_ZSt15get_new_handlerv"); }
  return get == NULL ? NULL : get();
}

static COLD void throw_bad_alloc(size_t size) {
  throw_t* throw_it = cxx_throw_bad_alloc;
  if (throw_it == NULL) { throw_it = loaded_function("_ZSt17__throw_bad_allocv"); }
  if (throw_it != NULL) { throw_it(); }
  message_fatal("out of memory in new of %zu bytes, and no C++ runtime to tell", size);
}

// ---- catch ----
//
// attempt_run has a frame that ends every exception (port/unwind.h): when all frames above are
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

// False: it threw.
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

static bool handler_returns(new_handler_t* handler) {
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

// ---- retry ----

static void* try_new(size_t size, size_t alignment) {
  if (alignment == 0) { return theap_malloc(theap_current(), size); }
  return theap_malloc_aligned(theap_current(), (aligned_t){size, alignment, 0, false});
}

// Throws unless there is a handler, and that returns.
static void call_handler(size_t size) {
  new_handler_t* handler = new_handler();
  if (handler != NULL) {
    handler();
  } else {
    throw_bad_alloc(size);
  }
}

static bool alignment_is_wrong(size_t alignment) {
  return alignment != 0 && !is_power_of_two(alignment);  // no handler helps
}

PRIVATE COLD void* new_retry(size_t size, size_t alignment) {
  void* p = NULL;
  if (alignment_is_wrong(alignment)) { throw_bad_alloc(size); }
  while (p == NULL) {
    call_handler(size);
    p = try_new(size, alignment);
  }
  return p;
}

PRIVATE COLD void* new_retry_nothrow(size_t size, size_t alignment) {
  void* p = NULL;
  while (p == NULL && !alignment_is_wrong(alignment)) {
    new_handler_t* handler = new_handler();
    if (handler == NULL || !handler_returns(handler)) { break; }
    p = try_new(size, alignment);
  }
  return p;
}

// ---- public ----

API void* mi_new(size_t size) { return new_block(size); }

API void* mi_new_aligned(size_t size, size_t alignment) { return new_aligned(size, alignment); }

API void* mi_new_nothrow(size_t size) { return new_block_nothrow(size); }

API void* mi_new_aligned_nothrow(size_t size, size_t alignment) {
  return new_aligned_nothrow(size, alignment);
}

API void* mi_new_n(size_t count, size_t size) {
  size_t total = 0;
  if (unlikely(size_mul_overflows(count, size, &total))) { throw_bad_alloc(SIZE_MAX); }
  return new_block(total);
}

API void* mi_new_realloc(void* p, size_t newsize) {
  for (;;) {
    void* q = theap_realloc(theap_current(), p, newsize, false);
    if (likely(q != NULL)) { return q; }
    call_handler(newsize);
  }
}

API void* mi_new_reallocn(void* p, size_t newcount, size_t size) {
  size_t total = 0;
  if (unlikely(size_mul_overflows(newcount, size, &total))) { throw_bad_alloc(SIZE_MAX); }
  return mi_new_realloc(p, total);
}

API void* mi_heap_alloc_new(heap_t* heap, size_t size) {
  for (;;) {
    void* p = mi_heap_malloc(heap, size);
    if (likely(p != NULL)) { return p; }
    call_handler(size);
  }
}

API void* mi_heap_alloc_new_n(heap_t* heap, size_t count, size_t size) {
  size_t total = 0;
  if (unlikely(size_mul_overflows(count, size, &total))) { throw_bad_alloc(SIZE_MAX); }
  return mi_heap_alloc_new(heap, total);
}

API void* mi_theap_alloc_new(theap_t* theap, size_t size) {
  for (;;) {
    void* p = theap_malloc(theap, size);
    if (likely(p != NULL)) { return p; }
    call_handler(size);
  }
}

API void* mi_theap_alloc_new_n(theap_t* theap, size_t count, size_t size) {
  size_t total = 0;
  if (unlikely(size_mul_overflows(count, size, &total))) { throw_bad_alloc(SIZE_MAX); }
  return mi_theap_alloc_new(theap, total);
}

API void* mi_theap_alloc_new_nothrow(theap_t* theap, size_t size) {
  void* p = theap_malloc(theap, size);
  while (unlikely(p == NULL)) {
    new_handler_t* handler = new_handler();
    if (handler == NULL || !handler_returns(handler)) { break; }
    p = theap_malloc(theap, size);
  }
  return p;
}
