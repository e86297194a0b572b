// The blocks that are still in use, as a listing: at exit with the option show_leaks.
#ifndef MI_API_LEAKS_H
#define MI_API_LEAKS_H

#include "../heap/heap.h"
#include "../service/format.h"

// Sizes, most bytes first. Whether anything still points to a block is not looked at. Exact while
// no other thread allocates or frees. Allocates nothing.
PRIVATE void leaks_print(const out_t* out);

#endif
