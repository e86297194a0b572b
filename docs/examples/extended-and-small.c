#include <mimalloc.h>

int main(void) {
  /* Room that would be lost otherwise: ask for what a block has anyway. */
  const size_t size = mi_good_size(1000);
  char* block = mi_zalloc(size);
  const int ok =
      block != NULL && size >= 1000 && mi_usable_size(block) >= size && block[size - 1] == 0;
  mi_free(block);
  return ok ? 0 : 1;
}
