/* What the program knows of its blocks, to compare with what the library says: where each one is,
   what is in it, which heap it belongs to. Blocks are an array without holes; the order changes as
   blocks are freed. */
#ifndef TEST_FUZZ_SHADOW_H
#define TEST_FUZZ_SHADOW_H

#include "entry.h"

enum { BLOCKS = 2048, TABLE = 2 * BLOCKS };

typedef struct shadow_block {
  uint8_t* p;
  size_t size;   /* asked for */
  size_t filled; /* bytes with a content, from the start */
  size_t usable;
  size_t align, offset;
  int heap;     /* of the target's table of heaps */
  uint8_t tag;  /* of the content */
  bool zeroed;  /* got by calloc and the like: beyond `size` it is zero */
  bool unsized; /* not to be freed with its size */
} shadow_block_t;

static struct {
  shadow_block_t blocks[BLOCKS];
  size_t count, bytes;
} shadow;

/* ---- contents ---- */

/* The bytes that are written and compared: all of a small block, of a large one the edges and some
   in between. */
static size_t content_next(size_t i, size_t size) {
  enum { DENSE = 1024, NEAR = 64 << 10, TAIL = 64, STEP = 509, WIDE = 131071 };
  if (i < DENSE || i + TAIL >= size) { return i + 1; }
  const size_t next = i + (i < NEAR ? STEP : WIDE);
  return next < size - TAIL ? next : size - TAIL;
}

static uint8_t content_at(uint8_t tag, size_t i) {
  return (uint8_t)((tag + i * 7 + (i >> 8)) | 1); /* never 0 */
}

static void content_fill(const shadow_block_t* b) {
  for (size_t i = 0; i < b->filled; i = content_next(i, b->filled)) {
    b->p[i] = content_at(b->tag, i);
  }
}

/* `p` may be a new place of the block. */
static bool content_is(const shadow_block_t* b, const uint8_t* p, size_t end) {
  for (size_t i = 0; i < b->filled && i < end; i = content_next(i, b->filled)) {
    if (p[i] != content_at(b->tag, i)) { return false; }
  }
  return true;
}

static bool content_is_zero(const uint8_t* p, size_t from, size_t to) {
  for (size_t i = from; i < to; i = content_next(i, to)) {
    if (p[i] != 0) { return false; }
  }
  return true;
}

/* ---- the array ---- */

static bool ranges_meet(const uint8_t* a, size_t a_bytes, const uint8_t* b, size_t b_bytes) {
  const uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
  return x < y + b_bytes && y < x + a_bytes;
}

static void shadow_check_apart(const uint8_t* p, size_t bytes) {
  for (size_t i = 0; i < shadow.count; i++) {
    FUZZ_CHECK(!ranges_meet(p, bytes, shadow.blocks[i].p, shadow.blocks[i].usable));
  }
}

/* The caller has checked that there is room, and sees to the content. */
static shadow_block_t* shadow_add(shadow_block_t b) {
  shadow_check_apart(b.p, b.usable);
  shadow.bytes += b.usable;
  shadow.blocks[shadow.count] = b;
  return &shadow.blocks[shadow.count++];
}

static shadow_block_t shadow_take(size_t index) {
  const shadow_block_t b = shadow.blocks[index];
  FUZZ_CHECK(content_is(&b, b.p, b.filled));
  shadow.bytes -= b.usable;
  shadow.blocks[index] = shadow.blocks[--shadow.count];
  return b;
}

static void shadow_check_all(void) {
  for (size_t i = 0; i < shadow.count; i++) {
    const shadow_block_t* b = &shadow.blocks[i];
    FUZZ_CHECK(content_is(b, b->p, b->filled));
  }
}

static size_t shadow_bytes_of(int heap, size_t* count) {
  size_t bytes = 0;
  *count = 0;
  for (size_t i = 0; i < shadow.count; i++) {
    if (shadow.blocks[i].heap != heap) { continue; }
    bytes += shadow.blocks[i].usable;
    ++*count;
  }
  return bytes;
}

/* The blocks of a heap are no more, or another's now (`to` not negative). */
static void shadow_heap_ends(int heap, int to) {
  for (size_t i = shadow.count; i-- > 0;) {
    if (shadow.blocks[i].heap != heap) { continue; }
    if (to >= 0) {
      shadow.blocks[i].heap = to;
    } else {
      (void)shadow_take(i);
    }
  }
}

/* ---- finding a block by its address: a table that is made for a walk ---- */

static struct {
  const shadow_block_t* entries[TABLE];
  bool seen[TABLE];
} table;

static size_t table_slot(const void* p) {
  return (size_t)(((uintptr_t)p >> 4) * 0x9E3779B9u) % TABLE;
}

static void table_make(void) {
  memset(&table, 0, sizeof(table));
  for (size_t i = 0; i < shadow.count; i++) {
    size_t at = table_slot(shadow.blocks[i].p);
    while (table.entries[at] != NULL) { at = (at + 1) % TABLE; }
    table.entries[at] = &shadow.blocks[i];
  }
}

/* The block that starts at `p`, seen for the first time since the table was made. */
static const shadow_block_t* table_see(const void* p) {
  size_t at = table_slot(p);
  while (table.entries[at] != NULL && table.entries[at]->p != p) { at = (at + 1) % TABLE; }
  FUZZ_CHECK(table.entries[at] != NULL);
  FUZZ_CHECK(!table.seen[at]);
  table.seen[at] = true;
  return table.entries[at];
}

#endif
