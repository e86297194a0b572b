/* test: timeout=60 when="secure"
   Blocks of a heap that was destroyed are no blocks, also where their page serves others. */
#include "api.h"

enum { COUNT = 2000, NEW = 4 };

static void* blocks[COUNT];

static void check_size(size_t size) {
  mi_heap_t* heap = mi_heap_new();
  void* others[NEW];
  for (int i = 0; i < COUNT; i++) { blocks[i] = mi_heap_malloc(heap, size); }
  mi_heap_destroy(heap);
  for (int i = 0; i < NEW; i++) { others[i] = mi_malloc(size); }
  for (int i = 0; i < COUNT; i++) {
    bool is_new = false;
    for (int n = 0; n < NEW; n++) { is_new = is_new || others[n] == blocks[i]; }
    CHECK(is_new || mi_usable_size(blocks[i]) == 0);
  }
  for (int i = 0; i < NEW; i++) { mi_free(others[i]); }
}

int main(void) {
  static const size_t sizes[] = {400, 1000};
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) { check_size(sizes[i]); }
  return check_done();
}
