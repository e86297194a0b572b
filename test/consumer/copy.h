// What a module tells of the copy of the library that it uses.
#ifndef COPY_H
#define COPY_H

#include <mimalloc.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct copy {
  void* (*allocate)(size_t);
  void (*release)(void*);
  bool (*owns)(const void*);
  mi_heap_t* (*new_heap)(void);
  void* (*allocate_in)(mi_heap_t*, size_t);
  void (*destroy_heap)(mi_heap_t*);
} copy_t;

static inline copy_t copy_here(void) {
  return (copy_t){mi_malloc,   mi_free,        mi_is_in_heap_region,
                  mi_heap_new, mi_heap_malloc, mi_heap_destroy};
}

#endif
