// Freeing: the slow half. Blocks of other threads' pages, of pages that nobody owns, and what is no
// block at all.
#include <errno.h>

#include "../service/message.h"
#include "alloc.h"

PRIVATE COLD void report_foreign(const void* p, const char* what) {
  message_error(EINVAL, "%s of %p, which is not a block of this allocator", what, p);
}

PRIVATE NOINLINE void block_free_shared(void* p, page_t* page) {
  if (unlikely(page == page_none() || (page_is_single(page) && p != page->start))) {
    if (p != NULL) { report_foreign(p, "free"); }
    return;
  }
  if (!hook_giving(page, p)) { return; }
  block_free_other(page, p);
}
