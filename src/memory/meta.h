// Memory for the allocator's own records: zeroed, 64-byte aligned, in mappings of its own that lie
// apart from all blocks.
//
// Regions grow geometrically and stay as long as the library does, so a record that was freed may
// still be read (its type is stable: a freed record is only given out again for the same size).
#ifndef MI_MEMORY_META_H
#define MI_MEMORY_META_H

#include "../base/attributes.h"

// NULL if out of memory. Any thread.
PRIVATE void* meta_alloc(size_t bytes);
PRIVATE void meta_free(void* p, size_t bytes);
// For long records: a mapping between two OS pages that stay inaccessible, where memory can be
// released. Returns 0 or an error number.
PRIVATE int meta_map(size_t bytes, void** out);
PRIVATE void meta_unmap(void* start, size_t bytes);
PRIVATE void meta_lock_for_fork(void);
PRIVATE void meta_unlock_after_fork(bool child);
PRIVATE void meta_rescue(void);
// The library goes, after all that has records: see process_unload.
UNUSED PRIVATE void meta_unload(void);

#endif
