// In the header of a port whose C library has a malloc of its own beside ours; unix_libc.h has the
// bodies. See port.h.
#ifndef MI_PORT_UNIX_LIBC_HEAD_H
#define MI_PORT_UNIX_LIBC_HEAD_H

#include "../base/attributes.h"

// NULL: there is none.
PRIVATE void (*port_libc_function(const char* name))(void);
PRIVATE bool port_free_foreign(void* p);
PRIVATE bool port_realloc_foreign(void* p, size_t size, void** out);

#endif
