// A system whose C++ runtime this library does not know: there are no new-handlers, and `new` that
// finds no memory ends the program.
#include "cxx.h"

#ifdef _WIN32

#include "../service/message.h"

PRIVATE new_handler_t* new_handler(void) { return NULL; }

PRIVATE bool handler_returns(new_handler_t* handler) {
  handler();
  return true;
}

PRIVATE COLD void throw_bad_alloc(size_t size) {
  message_fatal("out of memory in new of %zu bytes, and no C++ runtime to tell", size);
}

#endif
