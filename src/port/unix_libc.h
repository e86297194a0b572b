// The C library has a malloc of its own beside ours, and gives the program blocks from it, such as
// strdup's: they go back to it. See port.h. The port that includes this has defined libc_handle,
// which is what dlsym finds the C library's own free by, or NULL.
#ifndef MI_PORT_UNIX_LIBC_H
#define MI_PORT_UNIX_LIBC_H

#include <dlfcn.h>
#include <string.h>

#include "unix_libc_head.h"

PRIVATE void (*port_libc_function(const char* name))(void) {
  void (*function)(void) = NULL;
  void* const library = libc_handle();
  void* const found = library == NULL ? NULL : dlsym(library, name);
  memcpy(&function, &found, sizeof(function));
  return function;
}

PRIVATE bool port_free_foreign(void* p) {
  void (*own)(void*) = (void (*)(void*))port_libc_function("free");
  if (own != NULL) { own(p); }
  return own != NULL;
}

PRIVATE bool port_realloc_foreign(void* p, size_t size, void** out) {
  void* (*own)(void*, size_t) = (void* (*)(void*, size_t))port_libc_function("realloc");
  if (own != NULL) { *out = own(p, size); }
  return own != NULL;
}

#endif
