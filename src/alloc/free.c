// Freeing: the slow half. Blocks of other threads' pages, of pages that nobody owns, and what is no
// block at all.
#include <errno.h>

#include "../heap/guard.h"
#include "../service/message.h"
#include "alloc.h"

PRIVATE COLD void report_foreign(const void* p, const char* what) {
  message_error(EINVAL, "%s of %p, which is not a block of this allocator", what, p);
}

// No page, or one with guards around its one block.
static COLD void block_free_odd(void* p, page_t* page) {
  if (page != page_none()) {
    guard_free(p, page);
  } else if (p != NULL) {
    report_foreign(p, "free");
  }
}

// To its page, if it has one.
static NOINLINE void block_free_home(void* p, page_t* page) {
  if (unlikely(page == page_none() || page_is_guarded(page))) {
    block_free_odd(p, page);
  } else if (unlikely(!page_block_is_valid(page, p) ||
                      remote_came_last(&page->remote, page->start, p))) {
    report_bad_block(page, p, "free");
  } else {
    block_send(page, p);
  }
}

static void block_free_known(void* p, page_t* page) {
  if (unlikely(page == page_none() || page_is_guarded(page))) {
    block_free_odd(p, page);
    return;
  }
  if (!hook_giving(page, p)) { return; }
  if (unlikely(!block_depart(page, p))) {  // another thread was quicker
    report_bad_block(page, p, "free");
    return;
  }
  if (!KEEP_LOOSE || !block_set_aside(page, p)) { block_send(page, p); }
}

// A block with guards is never set aside, since it does not start where its memory does.
PRIVATE NOINLINE void block_free_shared(void* p, page_t* page) {
  if (CHECK_FREE) {
    block_free_known(p, page);
  } else if (!KEEP_LOOSE || unlikely(!block_set_aside(page, p))) {
    block_free_home(p, page);
  }
}
