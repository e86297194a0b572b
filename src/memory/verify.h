// Walks that look whether the invariants of memory/arena.h hold, for debug builds and tests.
//
// What is broken is reported as corrupted memory, by its number: "invariant A2 is broken at …".
#ifndef MI_MEMORY_VERIFY_H
#define MI_MEMORY_VERIFY_H

#include "arena.h"

// Returns `holds`; says what is broken if not.
PRIVATE bool invariant(bool holds, const char* number, const void* where, const char* what);
// A1 to A4 of all arenas, and that `taken` counts the slices in use. Any thread, at any time.
PRIVATE bool verify_arenas(void);

#endif
