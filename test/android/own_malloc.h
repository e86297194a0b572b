/* What the C library's own malloc was asked for last. */
#ifndef TEST_OWN_MALLOC_H
#define TEST_OWN_MALLOC_H

#include <stddef.h>

typedef struct own_calls {
  void *freed, *resized;
  size_t size;
  int parameter, value;
} own_calls_t;

extern own_calls_t own_calls;

#endif
