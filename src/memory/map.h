// Address-to-page map: which page of blocks does an address belong to?
//
// Two levels: a root entry for each 4 GiB, of 32-bit addresses for each 4 MiB, and a part entry for
// each slice. Entries are distances from the map itself (root: counted in entries, part: in bytes),
// so that zero, the content of untouched memory, leads to `none`: a part without pages and a page
// that nobody owns. A lookup thus has no branch, and NULL or a foreign pointer ends at map_none()
// without a test on the way. Bits above 47 are not looked at: no block of ours has any; free tests
// them with the page's mask.
//
//   address: |63 … 48| root 47 … 32 | part 31 … 14 | offset 13 … 0 |
//
// M1 an entry changes only from none to a page before the page's first block is handed out, and
//    back after the last one was returned. So the entry of a live block is stable, and plain loads
//    do: the block's address reached the reader by the program's own synchronisation, and the entry
//    with it.
#ifndef MI_MEMORY_MAP_H
#define MI_MEMORY_MAP_H

#include "../base/bits.h"

enum { SLICE_SHIFT = 14 };
#define SLICE_BYTES ((size_t)1 << SLICE_SHIFT)

enum {
  MAP_ADDRESS_BITS = sizeof(void*) == 8 ? 48 : 32,
  MAP_PART_SHIFT = sizeof(void*) == 8 ? 32 : 22,
  MAP_PART_ENTRIES = 1 << (MAP_PART_SHIFT - SLICE_SHIFT),
  MAP_ROOT_ENTRIES = 1 << (MAP_ADDRESS_BITS - MAP_PART_SHIFT),
};

typedef intptr_t map_entry_t;

typedef struct map_s {
  map_entry_t none[MAP_PART_ENTRIES];  // never written
  map_entry_t root[MAP_ROOT_ENTRIES];  // distance to a part, in entries
} map_t;

SHARED_DATA(map_t, map);

// The page that nobody owns: all zero, never written.
FAST void* map_none(void) { return (void*)&map; }

FAST uint32_t map_index_in_part(uintptr_t address) {
  return ((uint32_t)address >> SLICE_SHIFT) % MAP_PART_ENTRIES;
}

FAST void* map_lookup(const void* p) {
  const uint64_t address = (uint64_t)(uintptr_t)p;
  const uint16_t part = (uint16_t)(address >> MAP_PART_SHIFT);
  const uintptr_t base = (uintptr_t)&map;
  const uintptr_t index = (uintptr_t)map.root[part] + map_index_in_part((uintptr_t)p);
  return (void*)(base + *(const uintptr_t*)(base + index * sizeof(map_entry_t)));
}

// Makes the map cover a range; needs the memory lock. 0 or an error number.
PRIVATE int map_cover(const void* start, size_t bytes);
// Enters `page` for each of `slices` slices; NULL removes. The range is covered.
PRIVATE void map_enter(const void* start, size_t slices, const void* page);
// The library goes: see process_unload. No address is in it any more.
UNUSED PRIVATE void map_unload(void);

#endif
