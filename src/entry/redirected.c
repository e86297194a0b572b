// Whether the library got into the program.
#include <stdlib.h>

#include "../page/page.h"

// Whoever asks gets the truth: is a block of the process's malloc one of ours?
API bool mi_is_redirected(void) {
  void* (*volatile allocate)(size_t) = malloc;
  void (*volatile release)(void*) = free;
  void* p = allocate(1);
  const bool ours = page_of(p) != page_none();
  release(p);
  return ours;
}
