// What macOS and the BSDs answer alike.
#ifndef MI_PORT_UNIX_BSD_H
#define MI_PORT_UNIX_BSD_H

#include "unix_entropy.h"

// Nothing limits mappings to a number.
static size_t guard_mappings_most(void) { return SIZE_MAX / 2; }

#include "unix_guard.h"

PRIVATE int port_guard(void* start, size_t bytes) { return guard_by_mapping(start, bytes); }

PRIVATE int port_unguard(void* start, size_t bytes) { return unguard_mapping(start, bytes, true); }

static bool is_set_user_id(void) { return issetugid() != 0; }

PRIVATE const char* port_program_name(void) { return getprogname(); }

#endif
