// For a library that leaves malloc to the system: included before all else, it makes the misuses
// call this one by its own names.
#ifndef TEST_MISUSE_BY_NAME_H
#define TEST_MISUSE_BY_NAME_H

#include <mimalloc-override.h>

#ifdef __cplusplus
#include <mimalloc-new-delete.h>
#endif

// Without arguments too: a misuse asks whether it is there.
#undef free_sized
#define free_sized mi_free_size

#endif
