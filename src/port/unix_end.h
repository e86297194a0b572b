// The end of a process whose threads all go on until it is gone, and memory that is there at once
// or not at all: see port.h.
#ifndef MI_PORT_UNIX_END_H
#define MI_PORT_UNIX_END_H

#include "../base/attributes.h"

FAST bool port_is_ending(void) { return false; }
FAST void port_end_init(void (*on_end)(void)) { (void)on_end; }
FAST void port_see_end(void) {}
FAST void port_retry_for(long ms) { (void)ms; }

#endif
