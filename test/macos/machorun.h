/* A loader of macOS's programs for tests on Linux: see machorun.c. What it has of libSystem is in
   libsystem.c. */
#ifndef TEST_MACHORUN_H
#define TEST_MACHORUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

_Noreturn void die(const char* what, const char* name);

/* machorun.c: what a name of libSystem's stands for, as the caller's module is to see it; by the
   loader's interposing. `module` NULL: libSystem itself. */
void* interposed(void* function, const void* module);
/* By its name without an underscore, in the modules and then in libSystem; NULL: nowhere. */
void* find_symbol(const char* name);

/* libsystem.c: with an underscore; NULL: there is none. */
void* system_symbol(const char* name);
void system_start(void);
/* The descriptors of thread-local variables of a module, and what these begin with. */
void system_add_variables(void* descriptors, size_t count, const void* start, size_t bytes);

#endif
