#include <mimalloc.h>

int main(void) {
  int* counts = mi_calloc(10, sizeof(int)); /* zeroed from the start */
  if (counts == NULL) { return 1; }
  counts[9] = 7;
  int* more = mi_recalloc(counts, 1000, sizeof(int)); /* so are the 990 that are added */
  if (more == NULL) { return 1; }
  const int ok = more[9] == 7 && more[10] == 0 && more[999] == 0;
  mi_free(more);
  return ok ? 0 : 1;
}
