// Memory for records. See meta.h.
#include "meta.h"

#include <string.h>

#include "../base/bits.h"
#include "../base/modes.h"
#include "../port/lock.h"

enum {
  META_ALIGN = 64,
  FREE_LISTS = LINKS_APART ? 80 : 16,
  FIRST_REGION = PORT_CAN_RELEASE ? 256 << 10 : 32 << 10,
  COMMIT_STEP = 64 << 10
};

typedef struct free_record {
  struct free_record* next;
} free_record_t;

// One list for each size of record in use; there are about ten, and in checked builds those of what
// is known of the blocks of a page.
typedef struct free_list {
  size_t bytes;
  free_record_t* first;
} free_list_t;

// At the start of each region: the one before it, for meta_unload.
typedef struct region {
  struct region* older;
  size_t bytes;
} region_t;

static struct {
  lock_t lock;
  uint8_t *next, *committed, *end;  // of the newest region
  region_t* newest;
  free_list_t lists[FREE_LISTS];
} meta;

// ---- mappings between two OS pages that stay inaccessible, where memory can be released ----

static size_t guard_bytes(void) { return PORT_CAN_RELEASE ? port_page_bytes() : 0; }

static int reserve(size_t bytes, void** out) {
  const int error = port_reserve(bytes + 2 * guard_bytes(), port_page_bytes(), out);
  if (error == 0) { *out = (uint8_t*)*out + guard_bytes(); }
  return error;
}

PRIVATE void meta_unmap(void* start, size_t bytes) {
  (void)port_release((uint8_t*)start - guard_bytes(), bytes + 2 * guard_bytes());
}

PRIVATE int meta_map(size_t bytes, void** out) {
  int error = reserve(bytes, out);
  if (error != 0) { return error; }
  error = port_commit(*out, bytes);
  if (error != 0) { meta_unmap(*out, bytes); }
  return error;
}

// ---- records ----

static bool region_commit(size_t bytes) {
  if (meta.next + bytes <= meta.committed) { return true; }
  const size_t need = align_up((size_t)(meta.next + bytes - meta.committed), port_page_bytes());
  const size_t step = size_min(size_max(need, COMMIT_STEP), (size_t)(meta.end - meta.committed));
  if (port_commit(meta.committed, step) != 0) { return false; }
  meta.committed += step;
  return true;
}

static void region_link(size_t bytes) {
  region_t* region = (region_t*)(void*)meta.next;
  *region = (region_t){meta.newest, bytes};
  meta.newest = region;
  meta.next += META_ALIGN;
}

static COLD bool region_add(size_t bytes) {
  const size_t page = port_page_bytes(), least = align_up(META_ALIGN + bytes, page);
  const size_t next = meta.newest == NULL ? FIRST_REGION : meta.newest->bytes * 2;
  size_t size = size_max(align_up(next, page), least);
  void* start = NULL;
  if (reserve(size, &start) != 0) {
    size = least;
    if (reserve(size, &start) != 0) { return false; }
  }
  meta.next = meta.committed = (uint8_t*)start;
  meta.end = meta.next + size;
  if (!region_commit(META_ALIGN)) {
    meta.next = meta.committed = meta.end = NULL;
    meta_unmap(start, size);
    return false;
  }
  region_link(size);
  return true;
}

static void* region_bump(size_t bytes) {
  if ((size_t)(meta.end - meta.next) < bytes && !region_add(bytes)) { return NULL; }
  if (!region_commit(bytes)) { return NULL; }
  void* p = meta.next;
  meta.next += bytes;
  return p;
}

// The list for this size, or an unused one; NULL if there is neither.
static free_list_t* list_for(size_t bytes) {
  for (int i = 0; i < FREE_LISTS; i++) {
    free_list_t* list = &meta.lists[i];
    if (list->bytes == bytes || list->bytes == 0) { return list; }
  }
  return NULL;
}

PRIVATE void* meta_alloc(size_t bytes) {
  bytes = align_up(bytes, META_ALIGN);
  lock_acquire(&meta.lock);
  free_list_t* list = list_for(bytes);
  free_record_t* record = list == NULL ? NULL : list->first;
  if (record != NULL) {
    list->first = record->next;
    memset(record, 0, bytes);
  } else {
    record = (free_record_t*)region_bump(bytes);
  }
  lock_release(&meta.lock);
  return record;
}

PRIVATE void meta_free(void* p, size_t bytes) {
  bytes = align_up(bytes, META_ALIGN);
  lock_acquire(&meta.lock);
  free_list_t* list = list_for(bytes);
  if (list != NULL) {
    free_record_t* record = (free_record_t*)p;
    list->bytes = bytes;
    record->next = list->first;
    list->first = record;
  }
  lock_release(&meta.lock);
}

PRIVATE void meta_lock_for_fork(void) { lock_acquire(&meta.lock); }

PRIVATE void meta_unlock_after_fork(bool child) { lock_after_fork(&meta.lock, child); }

PRIVATE void meta_rescue(void) {
  if (!lock_is_left(&meta.lock)) { return; }
  meta.next = meta.committed = meta.end = NULL;
  memset(meta.lists, 0, sizeof(meta.lists));
}

UNUSED PRIVATE void meta_unload(void) {
  while (meta.newest != NULL) {
    region_t* region = meta.newest;
    meta.newest = region->older;
    meta_unmap(region, region->bytes);
  }
}
