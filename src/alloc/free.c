// Freeing: the slow half. Blocks of other threads' pages, of pages that nobody owns, and what is no
// block at all.
#include <errno.h>

#include "../service/message.h"
#include "alloc.h"

PRIVATE COLD void report_foreign(const void* p, const char* what) {
  message_error(EINVAL, "%s of %p, which is not a block of this allocator", what, p);
}

// To its page, if it has one.
static NOINLINE void block_free_home(void* p, page_t* page) {
  if (unlikely(page == page_none())) {
    if (p != NULL) { report_foreign(p, "free"); }
    return;
  }
  if (unlikely(!page_block_is_valid(page, p) || remote_came_last(&page->remote, page->start, p))) {
    report_bad_free(page, p);
    return;
  }
  if (!hook_giving(page, p)) { return; }
  block_send(page, p);
}

PRIVATE NOINLINE void block_free_shared(void* p, page_t* page) {
  if (!KEEP_LOOSE || unlikely(!block_set_aside(page, p))) { block_free_home(p, page); }
}
