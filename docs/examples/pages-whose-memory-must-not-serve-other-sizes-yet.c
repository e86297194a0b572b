#include <mimalloc.h>
#include <stdint.h>

enum { BLOCKS = 10000 };

/* A reader may hold a pointer into a page until the epoch in which the page fell empty is over. */
static uintptr_t epoch = 1, epoch_that_is_over = 0;
static int pages_kept = 0, pages_let_go = 0;

static bool may_go(const mi_heap_area_t* area, void** user_data, bool again, void* arg) {
  (void)area, (void)arg;
  if (!again) { user_data[0] = (void*)epoch; } /* it has just fallen empty */
  const bool over = (uintptr_t)user_data[0] <= epoch_that_is_over;
  *(over ? &pages_let_go : &pages_kept) += 1;
  return over;
}

int main(void) {
  static void* block[BLOCKS];
  mi_register_page_release(may_go, NULL);
  for (int i = 0; i < BLOCKS; i++) { block[i] = mi_malloc(64); }
  for (int i = 0; i < BLOCKS; i++) { mi_free(block[i]); }
  const int kept = pages_kept;
  epoch_that_is_over = epoch++; /* all readers have passed a quiescent state */
  mi_collect(true);
  const int let_go = pages_let_go;
  mi_register_page_release(NULL, NULL);
  return kept > 0 && let_go > 0 ? 0 : 1;
}
