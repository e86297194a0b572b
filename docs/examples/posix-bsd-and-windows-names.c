#include <errno.h>
#include <mimalloc.h>

int main(void) {
  void* block = NULL;
  if (mi_posix_memalign(&block, 3, 100) != EINVAL || block != NULL) {
    return 1;
  } /* 3 is no power of two */
  if (mi_posix_memalign(&block, 64, 100) != 0) { return 1; }
  mi_free_size_aligned(block, 100, 64);
  int local = 0;
  return mi_cfree(&local) ? 1 : 0; /* false: that is no block of this library */
}
