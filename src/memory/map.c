// Address-to-page map: the slow half. See map.h.
#include "map.h"

#include <errno.h>

#include "../port/port.h"
#include "../service/options.h"
#include "meta.h"

SHARED_DATA_DEF(map_t, map);

// None: then root is not even read, which would cost a page fault of its own.
static size_t parts_added;

enum { PART_BYTES = MAP_PART_ENTRIES * (int)sizeof(map_entry_t), SHORT_PART = 4 << 10 };

static map_entry_t* part_of(uintptr_t address) {
  const uint64_t index = (uint64_t)address >> MAP_PART_SHIFT;
  return (map_entry_t*)((uintptr_t)&map + (uintptr_t)map.root[index] * sizeof(map_entry_t));
}

// A short one is a record like others.
static int part_alloc(void** out) {
  if (PART_BYTES <= SHORT_PART) {
    *out = meta_alloc(PART_BYTES);
    return *out == NULL ? ENOMEM : 0;
  }
  const int error = meta_map(PART_BYTES, out);
  if (error == 0 && option_is_enabled(mi_option_pagemap_commit)) {
    (void)port_populate(*out, PART_BYTES);
  }
  return error;
}

static int part_add(uint64_t index) {
  void* part = NULL;
  const int error = part_alloc(&part);
  if (error != 0) { return error; }
  parts_added++;
  map.root[index] = (intptr_t)((uintptr_t)part - (uintptr_t)&map) / (intptr_t)sizeof(map_entry_t);
  return 0;
}

PRIVATE int map_cover(const void* start, size_t bytes) {
  const uint64_t first = (uint64_t)(uintptr_t)start >> MAP_PART_SHIFT;
  const uint64_t last = ((uint64_t)(uintptr_t)start + bytes - 1) >> MAP_PART_SHIFT;
  if (last >= MAP_ROOT_ENTRIES) { return ENOMEM; }  // out of the map's reach: as out of memory
  for (uint64_t i = first; i <= last; i++) {
    const int error = parts_added == 0 || map.root[i] == 0 ? part_add(i) : 0;
    if (error != 0) { return error; }
  }
  return 0;
}

PRIVATE void map_enter(const void* start, size_t slices, const void* page) {
  const intptr_t distance = page == NULL ? 0 : (intptr_t)((uintptr_t)page - (uintptr_t)&map);
  uintptr_t address = (uintptr_t)start;
  while (slices > 0) {  // once, but for a page that lies in two parts
    const size_t index = map_index_in_part(address);
    const size_t count = size_min(slices, MAP_PART_ENTRIES - index);
    map_entry_t* entries = part_of(address) + index;
    for (size_t i = 0; i < count; i++) { entries[i] = distance; }
    slices -= count;
    address += count * SLICE_BYTES;
  }
}

UNUSED PRIVATE void map_unload(void) {
  for (uint64_t i = 0; parts_added != 0 && PART_BYTES > SHORT_PART && i < MAP_ROOT_ENTRIES; i++) {
    if (map.root[i] == 0) { continue; }
    meta_unmap(part_of((uintptr_t)(i << MAP_PART_SHIFT)), PART_BYTES);
    map.root[i] = 0;
    parts_added--;
  }
}
