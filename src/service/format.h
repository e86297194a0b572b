// Text without malloc, stdio, locale or thread-local data: it works at any moment of a process.
#ifndef MI_SERVICE_FORMAT_H
#define MI_SERVICE_FORMAT_H

#include <stdarg.h>

#include "../../include/mimalloc.h"
#include "../base/attributes.h"

enum {
  LINE_CHARS = 512,   // out_printf and the message functions cut longer lines
  AMOUNT_CHARS = 24,  // room for any text of format_bytes and format_count
};

// Like vsnprintf, but returns the length of what it stored, and always terminates (if size > 0).
// Knows %s %c %d %i %u %x %p %%, the flags - and 0, width and precision (also *; precision for %s
// only), and the lengths l, ll, z.
PRIVATE size_t format_into(char* buf, size_t size, const char* fmt, va_list args) PRINTF_LIKE(3, 0);
PRIVATE size_t format_text(char* buf, size_t size, const char* fmt, ...) PRINTF_LIKE(3, 4);

// For people: "12.3 MiB", "12.3 M". The buffer has room for AMOUNT_CHARS.
PRIVATE void format_bytes(char* buf, int64_t bytes);
PRIVATE void format_count(char* buf, int64_t count);

// Where printed tables go.
typedef struct out_s {
  mi_output_fun* fun;  // not NULL
  void* arg;
} out_t;

PRIVATE void out_printf(const out_t* out, const char* fmt, ...) PRINTF_LIKE(2, 3);

#endif
