// Blocks that are still in use, grouped by size: see leaks.h.
//
// At the end of a process that is what nobody freed: leaks, but also what the program keeps until
// its end, and the C library's buffers. So one line is a size, in debug builds a size and the stack
// that asked for it, those with the most bytes come first, and only so many are shown. Sizes are
// those that were asked for in builds that know them (debug builds, builds for a memory tool), else
// those of the blocks. Tests: test/api/leaks.c, test/api/leaks_stacks.c.
#include "leaks.h"

#include "../heap/guard.h"
#include "../service/message.h"
#include "../service/trace.h"

enum { GROUPS_MOST = 4096, LINES_MOST = 20 };

typedef struct leak_group {
  size_t block_bytes, blocks;  // no blocks: not in use
  uint16_t taken_at;           // for traces_get
} leak_group_t;

typedef struct leak_table {
  size_t bytes, blocks, groups;
  leak_group_t other;  // when the table is full
  leak_group_t entries[GROUPS_MOST];
} leak_table_t;

// ---- gathering ----

static size_t group_place(const leak_group_t* wanted) {
  const uint64_t key = (uint64_t)wanted->block_bytes << 16 ^ wanted->taken_at;
  return (size_t)(key * 0x9e3779b97f4a7c15u >> 52) % GROUPS_MOST;
}

// The group of the same size and stack.
static leak_group_t* group_of(leak_table_t* table, const leak_group_t* wanted) {
  size_t at = group_place(wanted);
  for (int i = 0; i < GROUPS_MOST; i++, at = (at + 1) % GROUPS_MOST) {
    leak_group_t* group = &table->entries[at];
    if (group->blocks == 0) {
      *group = *wanted;
      table->groups++;
      return group;
    }
    if (group->block_bytes == wanted->block_bytes && group->taken_at == wanted->taken_at) {
      return group;
    }
  }
  return &table->other;
}

static bool leak_add(const mi_heap_t* heap, const mi_heap_area_t* area, void* block,
                     size_t block_bytes, void* arg) {
  leak_table_t* table = (leak_table_t*)arg;
  (void)heap, (void)area;
  if (block == NULL) { return true; }  // an area begins
  const page_t* page = page_of(block);
  leak_group_t wanted = {.block_bytes = block_bytes};
  if (NOTE_BLOCKS && !page_is_guarded(page)) { wanted.taken_at = block_taken_at(page, block); }
  group_of(table, &wanted)->blocks++;
  table->blocks++;
  table->bytes += wanted.block_bytes;
  return true;
}

static bool leaks_of_heap(mi_heap_t* heap, void* arg) {
  return mi_heap_visit_blocks(heap, true, leak_add, arg);
}

static void leaks_gather(leak_table_t* table) {
  for (subproc_t* subproc = registry_subprocs(); subproc != NULL; subproc = subproc->next) {
    (void)subproc_visit_heaps(subproc, leaks_of_heap, table);
  }
}

// ---- showing ----

static size_t group_bytes(const leak_group_t* group) { return group->block_bytes * group->blocks; }

// The blocks of a group may have no bytes.
static bool group_is_larger(const leak_group_t* group, const leak_group_t* than) {
  const size_t bytes = group_bytes(group), than_bytes = group_bytes(than);
  return bytes > than_bytes || (bytes == than_bytes && group->blocks > than->blocks);
}

static leak_group_t* largest_group(leak_table_t* table) {
  leak_group_t* largest = &table->entries[0];
  for (int i = 1; i < GROUPS_MOST; i++) {
    if (group_is_larger(&table->entries[i], largest)) { largest = &table->entries[i]; }
  }
  return largest;
}

static void show_frame(const char* line, void* arg) {
  const out_t* out = (const out_t*)arg;
  out_printf(out, "        %s\n", line);
}

static void show_groups(leak_table_t* table, const out_t* out) {
  size_t bytes = table->bytes, blocks = table->blocks, groups = table->groups;
  for (int line = 0; line < LINES_MOST && groups > 0; line++, groups--) {
    leak_group_t* group = largest_group(table);
    out_printf(out, "  %12zu bytes in %zu block%s of %zu\n", group_bytes(group), group->blocks,
               group->blocks == 1 ? "" : "s", group->block_bytes);
    const trace_t* trace = traces_get(group->taken_at);
    if (trace != NULL) { trace_print(trace, show_frame, (void*)(uintptr_t)out); }
    bytes -= group_bytes(group);
    blocks -= group->blocks;
    *group = (leak_group_t){0};
  }
  if (blocks > 0) {
    out_printf(out, "  %12zu bytes in %zu block%s of other sizes\n", bytes, blocks,
               blocks == 1 ? "" : "s");
  }
}

PRIVATE void leaks_print(const out_t* out) {
  const size_t table_bytes = align_up(sizeof(leak_table_t), port_page_bytes());
  leak_table_t* table = NULL;
  if (port_map(table_bytes, port_page_bytes(), (void**)&table) != 0) { return; }
  leaks_gather(table);
  out_printf(out, "mimalloc: still in use: %zu bytes in %zu block%s%s\n", table->bytes,
             table->blocks, table->blocks == 1 ? "" : "s", table->blocks == 0 ? "" : ":");
  show_groups(table, out);
  port_release(table, table_bytes);
}
