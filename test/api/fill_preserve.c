/* test: timeout=60 when="release|debug|guarded" env="MIMALLOC_GUARDED_SAMPLE_RATE=0"
   Debug builds fill blocks from where the heap is told to. Nothing is filled in other builds. The
   test reads freed blocks, so none may be a sample. */
#include "api.h"

enum { KEPT = 24, SIZES = 6 };

/* Free blocks keep the first bytes as the program left them. */
static void check_kept(mi_heap_t* heap, size_t size) {
  unsigned char* p = mi_heap_malloc(heap, size);
  memset(p, 0x55, size);
  mi_free(p);
  volatile unsigned char* freed = (unsigned char*)(uintptr_t)address_of(p);
  for (size_t i = sizeof(void*); i < KEPT; i++) { CHECK(freed[i] == 0x55); }
  CHECK(freed[KEPT] == 0xDF || freed[KEPT] == 0x55);
}

static void check_taken_again(mi_heap_t* heap, size_t size) {
  enum { MANY = 3000 };
  static void* blocks[MANY];
  for (int round = 0; round < 3;
       round++) { /* debug builds check what they filled as it is reused */
    for (int i = 0; i < MANY; i++) {
      blocks[i] = mi_heap_malloc(heap, size);
      memset(blocks[i], 0x77, size);
    }
    for (int i = 0; i < MANY; i++) { mi_free(blocks[i]); }
  }
}

int main(void) {
  static const size_t sizes[SIZES] = {32, 48, 100, 1000, 5000, 20000};
  mi_heap_t* heap = mi_heap_new();
  for (int i = 0; i < SIZES; i++) { check_taken_again(heap, sizes[i]); }
  mi_heap_set_debug_fill_preserve(heap, KEPT);
  for (int i = 0; i < SIZES; i++) {
    check_kept(heap, sizes[i]);
    if (sizes[i] <= 1000) { check_taken_again(heap, sizes[i]); }
  }
  void* tiny = mi_heap_malloc(heap, 8); /* shorter than what is kept */
  mi_free(tiny);
  mi_heap_set_debug_fill_preserve(NULL, KEPT);
  mi_heap_delete(heap);
  return check_done();
}
