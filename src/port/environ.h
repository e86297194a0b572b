// Variables of the environment: ours, out of what the including port's port_environ has, and the
// program's own.
#ifndef MI_PORT_ENVIRON_H
#define MI_PORT_ENVIRON_H

#include <stdlib.h>
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

PRIVATE size_t port_variable(const char* name, char* out, size_t most) {
  const char* value = getenv(name);  // NOLINT(concurrency-mt-unsafe) the program's own doing
  const size_t length = value == NULL ? 0 : strlen(value) + 1;
  if (value != NULL && out != NULL && length <= most) { memcpy(out, value, length); }
  return length;
}

// NOLINTNEXTLINE(readability-non-const-parameter) other ports write there
PRIVATE size_t port_variable_wide(const wchar_t* name, wchar_t* out, size_t most) {
  (void)name, (void)out, (void)most;
  return 0;
}

#endif
