// Facts about pages that a thread may ask for without owning them.
#ifndef MI_API_INSPECT_H
#define MI_API_INSPECT_H

#include "../heap/heap.h"

// Blocks of the page in the program's hands, at most page->reserved.
PRIVATE size_t page_blocks_in_use(const page_t* page);
// Blocks that were taken from the page since it last told its theap: see heap/count.h. Negative
// where blocks of a ration have gone back since.
PRIVATE size_t page_blocks_taken(const page_t* page);

#endif
