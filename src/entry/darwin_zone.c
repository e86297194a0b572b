// Which blocks are in use, for tools such as leaks and heap: as api/visit.c tells it, but of memory
// that is read through a function, since it may be another process's. Nobody runs there meanwhile.
// Nothing is allocated but a list of what is on rows, and no lock is taken: the caller may hold
// all. What was read is there until the next read.
#include "../heap/ration.h"
#include "../heap/row.h"

#if defined(__APPLE__) && defined(MI_MALLOC_OVERRIDE)
#include "../api/inspect.h"
#include "darwin_zone.h"

PRIVATE zone_roots_t zone_roots(void) {
  return (zone_roots_t){page_records(), registry_subprocs_at(), retired_heaps_at()};
}

typedef struct survey {
  task_t task;
  memory_reader_t* read;
  zone_roots_t roots;
  uintptr_t* on_rows;  // blocks that are free, though their pages do not know; in order
  size_t rows_count, rows_room;
  unsigned types;
  vm_range_recorder_t* record;
  void* context;
} survey_t;

static kern_return_t read_here(task_t task, vm_address_t address, vm_size_t size, void** local) {
  (void)task, (void)size;
  *local = (void*)address;
  return KERN_SUCCESS;
}

static const void* survey_see(const survey_t* survey, const void* address, size_t bytes) {
  void* local = NULL;
  const kern_return_t error = survey->read(survey->task, (vm_address_t)address, bytes, &local);
  return error == KERN_SUCCESS ? local : NULL;
}

static bool survey_copy(const survey_t* survey, const void* address, void* out, size_t bytes) {
  const void* local = survey_see(survey, address, bytes);
  if (local != NULL) { memcpy(out, local, bytes); }
  return local != NULL;
}

// ---- rows ----

static void survey_row(survey_t* survey, row_view_t row) {
  for (uint32_t i = 0; i < row.length; i++, survey->rows_count++) {
    uintptr_t block = 0;
    if (survey->rows_count >= survey->rows_room) { continue; }  // counted only
    (void)survey_copy(survey, &row.blocks[i], &block, sizeof(block));
    survey->on_rows[survey->rows_count] = block;
  }
}

static bool survey_heap_rows(survey_t* survey, const heap_t* heap) {
  theap_t theap;
  for (const theap_t* at = heap->theaps; at != NULL; at = theap.heap_next) {
    if (!survey_copy(survey, at, &theap, sizeof(theap))) { return false; }
    for (unsigned bin = 1; bin < ROW_COUNT; bin++) { survey_row(survey, row_view(&theap, bin)); }
  }
  return true;
}

static bool survey_heaps_rows(survey_t* survey, const heap_t* at) {
  heap_t heap;
  bool found = true;
  for (; found && at != NULL; at = heap.next) {
    found = survey_copy(survey, at, &heap, sizeof(heap)) && survey_heap_rows(survey, &heap);
  }
  return found;
}

static bool survey_all_rows(survey_t* survey) {
  const subproc_t* at = NULL;
  const heap_t* last = NULL;
  subproc_t subproc;
  bool found = survey_copy(survey, survey->roots.subprocs, &at, sizeof(at)) &&
               survey_copy(survey, survey->roots.retired, &last, sizeof(last));
  survey->rows_count = 0;
  for (; found && at != NULL; at = subproc.next) {
    found = survey_copy(survey, at, &subproc, sizeof(subproc)) &&
            survey_heaps_rows(survey, subproc.heaps);
  }
  return found && survey_heaps_rows(survey, last);
}

// D. L. Shell's, with A. Ciura's distances; the C library's sorting may allocate.
static void sort(uintptr_t* values, size_t count) {
  static const size_t distances[] = {29524, 9841, 3280, 1093, 364, 121, 40, 13, 4, 1};
  for (size_t d = 0; d < sizeof(distances) / sizeof(distances[0]); d++) {
    const size_t distance = distances[d];
    for (size_t i = distance; i < count; i++) {
      const uintptr_t value = values[i];
      size_t at = i;
      for (; at >= distance && values[at - distance] > value; at -= distance) {
        values[at] = values[at - distance];
      }
      values[at] = value;
    }
  }
}

// Counts first, then takes.
static bool survey_take_rows(survey_t* survey) {
  if (!survey_all_rows(survey)) { return false; }
  const size_t bytes = align_up((survey->rows_count + 1) * sizeof(uintptr_t), port_page_bytes());
  if (port_map(bytes, port_page_bytes(), (void**)&survey->on_rows) != 0) { return false; }
  survey->rows_room = bytes / sizeof(uintptr_t);
  const bool found = survey_all_rows(survey);
  survey->rows_count = size_min(survey->rows_count, survey->rows_room);
  sort(survey->on_rows, survey->rows_count);
  return found;
}

static void survey_end(const survey_t* survey) {
  if (survey->on_rows == NULL) { return; }
  (void)port_release(survey->on_rows, survey->rows_room * sizeof(uintptr_t));
}

// The first of the blocks on rows from an address on.
static size_t survey_first_on_row(const survey_t* survey, uintptr_t address) {
  size_t low = 0, high = survey->rows_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (survey->on_rows[middle] < address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// ---- free blocks of a page, of which we have a copy, by their indices ----

static void mark(const page_t* page, block_bits_t* bits, const void* block) {
  const size_t index = page_offset(page, block) / page->block_bytes;
  if (index < page->capacity) { bits_set(bits, index, true); }
}

// `contents`: what the blocks hold. A list that leads elsewhere or in a circle ends there.
static void mark_list(const page_t* page, const uint8_t* contents, block_bits_t* bits,
                      const block_t* block) {
  while (block != NULL) {
    const size_t offset = page_offset(page, block), index = offset / page->block_bytes;
    if (index >= page->capacity || bits_has(bits, index)) { return; }
    bits_set(bits, index, true);
    memcpy((void*)&block, contents + offset, sizeof(block));
  }
}

static void mark_holes(const page_t* page, block_bits_t* bits) {
  uint64_t holes = page_holes(page);
  uint32_t first = 0, end = 0;
  while (page_next_hole(page, &holes, &first, &end)) {
    for (uint32_t i = first; i < size_min(end, page->capacity); i++) { bits_set(bits, i, true); }
  }
}

static void mark_on_rows(const survey_t* survey, const page_t* page, block_bits_t* bits) {
  const uintptr_t start = (uintptr_t)page->start;
  const uintptr_t end = start + page->capacity * page->block_bytes;
  for (size_t i = survey_first_on_row(survey, start);
       i < survey->rows_count && survey->on_rows[i] < end; i++) {
    mark(page, bits, (const void*)survey->on_rows[i]);
  }
}

static bool mark_by_links(const survey_t* survey, const page_t* page, const void* at,
                          block_bits_t* bits) {
  page_checks_t checks;
  if (!survey_copy(survey, (const uint8_t*)at + sizeof(page_t), &checks, sizeof(checks))) {
    return false;
  }
  const link_t* links =
      (const link_t*)survey_see(survey, checks.links, (page->capacity + 1u) * sizeof(link_t));
  for (uint32_t i = 0; links != NULL && i < page->capacity; i++) {
    bits_set(bits, i, load_relaxed(&links[i + 1]) != LINK_LIVE);
  }
  return links != NULL;
}

// The list that malloc takes blocks of the page from, while samples are wanted.
static const block_t* survey_ration(const survey_t* survey, const page_t* page) {
  const rations_t* rations = NULL;
  block_t* list = NULL;
  if (page->theap == NULL || !page_is_held(page) ||
      !survey_copy(survey, &page->theap->rations, (void*)&rations, sizeof(rations)) ||
      rations == NULL ||
      !survey_copy(survey, &rations->list[page->bin].free, (void*)&list, sizeof(list))) {
    return NULL;
  }
  return list;
}

static bool mark_by_lists(const survey_t* survey, page_t* page, block_bits_t* bits) {
  const block_t* ration = survey_ration(survey, page);  // before: contents stay until the next read
  const uint8_t* contents =
      (const uint8_t*)survey_see(survey, page->start, page->capacity * page->block_bytes);
  if (contents == NULL) { return false; }
  mark_list(page, contents, bits, page->free);
  mark_list(page, contents, bits, ration);
  mark_list(page, contents, bits, remote_head(load_relaxed(&page->remote), page->start));
  mark_holes(page, bits);
  return true;
}

// `at`: where the page is from which we have a copy.
static bool mark_free(const survey_t* survey, page_t* page, const void* at, block_bits_t* bits) {
  _Static_assert(CHECK_STATE == LINKS_APART, "lists are in the blocks or not needed");
  if (CHECK_STATE) { return mark_by_links(survey, page, at, bits); }
  if (page_is_single(page)) {
    bits_set(bits, 0, page_blocks_in_use(page) == 0);
  } else if (!mark_by_lists(survey, page, bits)) {
    return false;
  }
  mark_on_rows(survey, page, bits);
  return true;
}

// ---- what is recorded ----

static void record_range(const survey_t* survey, unsigned type, const void* start, size_t bytes) {
  vm_range_t range = {(vm_address_t)start, bytes};
  if ((survey->types & type) != 0 && bytes != 0) {
    survey->record(survey->task, survey->context, type, &range, 1);
  }
}

static void record_blocks(const survey_t* survey, const page_t* page, const block_bits_t* bits) {
  enum { MOST = 64 };
  vm_range_t ranges[MOST];
  unsigned count = 0;
  for (size_t i = 0; i < page->capacity; i++) {
    if (bits_has(bits, i)) { continue; }
    ranges[count++] =
        (vm_range_t){(vm_address_t)(page->start + i * page->block_bytes), page_room(page)};
    if (count < MOST) { continue; }
    survey->record(survey->task, survey->context, MALLOC_PTR_IN_USE_RANGE_TYPE, ranges, count);
    count = 0;
  }
  if (count != 0) {
    survey->record(survey->task, survey->context, MALLOC_PTR_IN_USE_RANGE_TYPE, ranges, count);
  }
}

static bool survey_page(const survey_t* survey, const uint8_t* at) {
  page_t page;
  block_bits_t bits;
  if (!survey_copy(survey, at, &page, sizeof(page))) { return false; }
  if (load_relaxed(&page.heap) == NULL || page.capacity > PAGE_BLOCKS_MAX) { return true; }
  const size_t bytes = page.capacity * page.block_bytes;
  record_range(survey, MALLOC_PTR_REGION_RANGE_TYPE, page.start, bytes);
  if ((survey->types & MALLOC_PTR_IN_USE_RANGE_TYPE) == 0 || bytes == 0) { return true; }
  bits_clear(&bits, page.capacity);
  if (!mark_free(survey, &page, at, &bits)) { return false; }
  record_blocks(survey, &page, &bits);
  return true;
}

static bool survey_pages(const survey_t* survey) {
  const page_records_t* pages = &survey->roots.pages;
  const uint8_t* chunk = NULL;
  bool found = survey_copy(survey, pages->chunks, (void*)&chunk, sizeof(chunk));
  while (found && chunk != NULL) {
    record_range(survey, MALLOC_ADMIN_REGION_RANGE_TYPE, chunk,
                 pages->before + pages->count * pages->bytes);
    for (size_t i = 0; found && i < pages->count; i++) {
      found = survey_page(survey, chunk + pages->before + i * pages->bytes);
    }
    found = found && survey_copy(survey, chunk, (void*)&chunk, sizeof(chunk));
  }
  return found;
}

PRIVATE kern_return_t zone_enumerate(task_t task, void* context, unsigned types, vm_address_t zone,
                                     memory_reader_t* read, vm_range_recorder_t* record) {
  survey_t survey = {.task = task,
                     .read = read == NULL ? read_here : read,
                     .types = types,
                     .record = record,
                     .context = context};
  zone_t copy;
  if (!survey_copy(&survey, (const void*)zone, &copy, sizeof(copy))) { return KERN_FAILURE; }
  survey.roots = copy.roots;
  const bool done = (CHECK_STATE || survey_take_rows(&survey)) && survey_pages(&survey);
  survey_end(&survey);
  return done ? KERN_SUCCESS : KERN_FAILURE;
}

// ---- how many there are ----

static void add_up(task_t task, void* context, unsigned type, vm_range_t* ranges, unsigned count) {
  malloc_statistics_t* out = (malloc_statistics_t*)context;
  (void)task;
  for (unsigned i = 0; i < count; i++) {
    if (type == MALLOC_PTR_REGION_RANGE_TYPE) {
      out->size_allocated += ranges[i].size;
    } else {
      out->blocks_in_use++;
      out->size_in_use += ranges[i].size;
    }
  }
}

PRIVATE void zone_task_statistics(task_t task, vm_address_t zone, memory_reader_t* read,
                                  malloc_statistics_t* out) {
  *out = (malloc_statistics_t){0};
  (void)zone_enumerate(task, out, MALLOC_PTR_IN_USE_RANGE_TYPE | MALLOC_PTR_REGION_RANGE_TYPE, zone,
                       read, add_up);
  out->max_size_in_use = out->size_allocated;
}

PRIVATE void zone_print_task(task_t task, unsigned level, vm_address_t zone, memory_reader_t* read,
                             print_task_printer_t* print) {
  malloc_statistics_t sum;
  (void)level;
  zone_task_statistics(task, zone, read, &sum);
  print("mimalloc: %u blocks of %lu bytes in use, in %lu bytes\n", sum.blocks_in_use,
        (unsigned long)sum.size_in_use, (unsigned long)sum.size_allocated);
}

#endif
