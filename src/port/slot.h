// One pointer for each thread: a thread-local variable where the port has PORT_NATIVE_TLS, else the
// port's slot. `first` is what it is before it is set.
#ifndef MI_PORT_SLOT_H
#define MI_PORT_SLOT_H

#include "port.h"

#if PORT_NATIVE_TLS
#define SLOT(type, name)             extern HIDDEN THREAD_LOCAL type name
#define SLOT_DEF(type, name, first)  HIDDEN THREAD_LOCAL type name = (first)
#define SLOT_GET(type, name, first)  (name)
#define SLOT_SET(name, first, value) ((name) = (value), true)
#else
#define SLOT(type, name)             _Static_assert(sizeof(type) == sizeof(void*), "a pointer")
#define SLOT_DEF(type, name, first)  _Static_assert(sizeof(type) == sizeof(void*), "a pointer")
#define SLOT_GET(type, name, first)  ((type)port_slot_get_or(first))
#define SLOT_SET(name, first, value) port_slot_set((value) == (first) ? NULL : (value))

FAST void* port_slot_get_or(void* first) {
  void* value = port_slot_get();
  return value == NULL ? first : value;
}
#endif

#endif
