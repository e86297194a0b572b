/* A loader of macOS's programs for tests on Linux: see machorun.c. What it has of libSystem is in
   libsystem.c. */
#ifndef TOOLS_MACHORUN_H
#define TOOLS_MACHORUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

_Noreturn void die(const char* what, const char* name);

/* machorun.c: what a name of libSystem's stands for, as the caller's module is to see it; by the
   loader's interposing. `module` NULL: libSystem itself. */
void* interposed(void* function, const void* module);
/* By its name without an underscore, in the modules and then in libSystem; NULL: nowhere. */
void* find_symbol(const char* name);

/* dlopen, dlclose and dlsym of what is no part of libSystem; a library that is closed is gone,
   unless it came with the program or is to stay. NULL: there is none. */
void* module_open(const char* path, int mode);
int module_close(void* module);
void* module_symbol(const void* module, const char* name);
/* Of the module that the address is in, and where that begins; NULL: it is in none. */
const char* module_path(const void* address, void** start);

/* libsystem.c: with an underscore; NULL: there is none. */
void* system_symbol(const char* name);
void system_start(void);
/* The descriptors of thread-local variables of a module, and what these begin with. */
void system_add_variables(void* descriptors, size_t count, const void* start, size_t bytes);

#endif
