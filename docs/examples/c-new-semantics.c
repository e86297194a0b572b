#include <mimalloc.h>

/* For libraries in C that programs in C++ use: what they allocate fails as `new` does. */
typedef struct buffer {
  size_t length;
  char* bytes;
} buffer_t;

int main(void) {
  buffer_t buffer = {.length = 1000, .bytes = mi_new(1000)}; /* never NULL */
  buffer.bytes[buffer.length - 1] = 'x';
  double* rows = mi_new_n(50, sizeof(double));
  void* huge = mi_new_nothrow(SIZE_MAX / 4); /* NULL, where `mi_new` would throw */
  const int ok = rows != NULL && huge == NULL;
  mi_free(buffer.bytes);
  mi_free(rows);
  return ok ? 0 : 1;
}
