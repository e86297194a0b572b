#include <mimalloc.h>

int main(void) {
  /* A buffer at a multiple of 4096, and one whose bytes from 16 on are at a multiple of 64. */
  char* page = mi_malloc_aligned(10000, 4096);
  char* packet = mi_malloc_aligned_at(1500, 64, 16);
  if (page == NULL || packet == NULL) { return 1; }
  page = mi_realloc_aligned(page, 20000, 4096); /* keeps the alignment, as mi_realloc would not */
  const int ok = page != NULL && (uintptr_t)page % 4096 == 0 && (uintptr_t)(packet + 16) % 64 == 0;
  mi_free(page);
  mi_free(packet);
  return ok ? 0 : 1;
}
