// The zone of macOS as tools see it, perhaps from another process: darwin_zone.c reads all that it
// tells through the reader that it is given, from what is in the zone on.
#ifndef MI_ENTRY_DARWIN_ZONE_H
#define MI_ENTRY_DARWIN_ZONE_H

#include "../heap/heap.h"

typedef struct zone_roots {
  page_records_t pages;
  subproc_t* const* subprocs;
  heap_t* const* retired;
} zone_roots_t;

typedef struct zone {
  malloc_zone_t base;
  zone_roots_t roots;
} zone_t;

// The system may protect the memory of a zone: nothing else is in these pages.
enum { ZONE_BYTES = 16 << 10 };
typedef union zone_memory {
  zone_t zone;
  uint8_t bytes[ZONE_BYTES];
} ALIGNED(ZONE_BYTES) zone_memory_t;

PRIVATE void zone_start(void);  // from now on the system's malloc leads to ours

PRIVATE zone_roots_t zone_roots(void);
PRIVATE kern_return_t zone_enumerate(task_t task, void* context, unsigned types, vm_address_t zone,
                                     memory_reader_t* read, vm_range_recorder_t* record);
PRIVATE void zone_task_statistics(task_t task, vm_address_t zone, memory_reader_t* read,
                                  malloc_statistics_t* out);
PRIVATE void zone_print_task(task_t task, unsigned level, vm_address_t zone, memory_reader_t* read,
                             print_task_printer_t* print);

#endif
