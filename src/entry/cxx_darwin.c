// The C++ runtime of a program on macOS and iOS. It is found when it is needed, so that this
// library does not depend on it.
#include "cxx.h"

#ifdef __APPLE__

#include <dlfcn.h>
#include <string.h>

#include "../service/message.h"
#include "try.h"

typedef new_handler_t* get_new_handler_t(void);
typedef void throw_t(void);
typedef void* begin_catch_t(void* exception);

// The caller knows the type.
static void cxx_find(const char* name, void* function) {
  void* const found = dlsym(RTLD_DEFAULT, name);
  memcpy(function, (const void*)&found, sizeof(found));
}

PRIVATE new_handler_t* new_handler(void) {
  get_new_handler_t* get = NULL;
  cxx_find("_ZSt15get_new_handlerv", (void*)&get);
  return get == NULL ? NULL : get();
}

PRIVATE COLD void throw_bad_alloc(size_t size) {
  throw_t* throw_it = NULL;
  cxx_find("_ZSt17__throw_bad_allocv", (void*)&throw_it);
  if (throw_it != NULL) { throw_it(); }
  message_fatal("out of memory in new of %zu bytes, and no C++ runtime to tell", size);
}

// ---- catch ----

static personality_t* cxx_personality(void) {
  personality_t* personality = NULL;
  cxx_find("__gxx_personality_v0", (void*)&personality);
  return personality;
}

PRIVATE bool handler_returns(new_handler_t* handler) {
  begin_catch_t* begin = NULL;
  throw_t* end = NULL;
  void* const exception = _mi_try(handler);
  if (exception == NULL) { return true; }
  cxx_find("__cxa_begin_catch", (void*)&begin);
  cxx_find("__cxa_end_catch", (void*)&end);
  if (begin != NULL && end != NULL) {
    begin(exception);
    end();
  }
  return false;
}

#endif
