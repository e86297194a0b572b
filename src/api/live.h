// What is in use now, by looking at all pages: exact when no thread allocates or frees, near the
// truth otherwise. Any thread.
#ifndef MI_API_LIVE_H
#define MI_API_LIVE_H

#include "../page/page.h"

typedef struct live {
  size_t bytes, blocks;                // in use, those with a mapping of their own not included
  size_t direct_bytes, direct_blocks;  // in use, with a mapping of their own
  size_t free_bytes, free_blocks;      // free within pages, and used before
  size_t free_in_bin[BIN_COUNT];       // the same by size class, in blocks
} live_t;

PRIVATE UNUSED void live_count(live_t* out);

#endif
