// A variable's value, out of what the including port's port_environ has.
#ifndef MI_PORT_ENVIRON_H
#define MI_PORT_ENVIRON_H

#include <string.h>

PRIVATE const char* port_getenv(const char* name) {
  const size_t length = strlen(name);
  char* const* entry = port_environ();
  for (; entry != NULL && *entry != NULL; entry++) {
    if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') {
      return *entry + length + 1;
    }
  }
  return NULL;
}

#endif
