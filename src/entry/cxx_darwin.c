// The C++ runtime of a program on macOS and iOS. It is found when it is needed, so that this
// library does not depend on it. What a new-handler throws is nobody's to catch: it goes through
// `new` that does not throw.
#include "cxx.h"

#ifdef __APPLE__

#include <dlfcn.h>
#include <string.h>

#include "../service/message.h"

typedef new_handler_t* get_new_handler_t(void);
typedef void throw_t(void);

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

PRIVATE bool handler_returns(new_handler_t* handler) {
  handler();
  return true;
}

#endif
