// The C++ runtime of a WebAssembly program: it is linked in or there is none, and what it throws is
// nobody's to catch.
#include "cxx.h"

#ifdef __wasm__

#include "../service/message.h"

EXTERN_C new_handler_t* cxx_get_new_handler(void) __asm__("_ZSt15get_new_handlerv") WEAK;
EXTERN_C void cxx_throw_bad_alloc(void) __asm__("_ZSt17__throw_bad_allocv") WEAK;

PRIVATE new_handler_t* new_handler(void) {
  return cxx_get_new_handler == NULL ? NULL : cxx_get_new_handler();
}

PRIVATE COLD void throw_bad_alloc(size_t size) {
  if (cxx_throw_bad_alloc != NULL) { cxx_throw_bad_alloc(); }
  message_fatal("out of memory in new of %zu bytes, and no C++ runtime to tell", size);
}

PRIVATE bool handler_returns(new_handler_t* handler) {
  handler();
  return true;
}

#endif
