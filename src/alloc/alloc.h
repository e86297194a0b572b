// Allocating and freeing: the fast paths, in full, and the slow ones by name.
//
// malloc: theap of the thread -> page of the class -> first free block. free: page of the address
// -> is it ours? -> can it be a block? -> push. No lock, no atomic read-modify-write; a miss of any
// kind is one of the calls at the end of each function.
#ifndef MI_ALLOC_ALLOC_H
#define MI_ALLOC_ALLOC_H

#include "../heap/count.h"
#include "../heap/heap.h"
#include "../heap/row.h"

typedef struct aligned {
  size_t size, alignment, offset;
  bool zero;
} aligned_t;

// ---- malloc.c ----
PRIVATE void* malloc_slow(size_t size, theap_t* theap, bool zero);
// Does a heartbeat, a sample or the thread's beginning come with the request? Then *block answers
// it. The theap is special, and may change.
PRIVATE bool malloc_due(theap_t** theap, const aligned_t* request, void** block);
// Serves the request if none of these comes with it.
PRIVATE void* malloc_undue(size_t size, theap_t* theap, bool zero);
// Of large blocks without a wish: next to a guard, or as whole slices, which can be lengthened
// best.
enum { LARGE_ALIGN = GUARD_PAGES ? GRANULE : SLICE_BYTES };
// Blocks above MEDIUM_MAX; `shift` is where the block starts in its aligned memory.
typedef struct large_request {
  size_t size, align, shift;
  bool zero;
  size_t room;  // bytes of address space to leave for growth, if they can be had
} large_request_t;
// The theap's heap is alive: see theap_if_alive.
PRIVATE void* malloc_large(theap_t* theap, const large_request_t* request);
// The length of a large block, which the caller holds, as the statistics have it too.
PRIVATE void large_set_bytes(page_t* page, size_t bytes);
// Reports it; errno becomes ENOMEM; NULL.
PRIVATE COLD void* refuse_memory(size_t size);
// The same where a theap has found none. That of orphans says nothing: orphan_malloc does it, when
// the lock is free, since a program's function may allocate.
PRIVATE COLD void* refuse_request(size_t size);
PRIVATE size_t good_size(size_t size);
PRIVATE void deferred_free_call(thread_t* thread, bool force);
// For a thread that has ended, or could not be registered: from a heap that such threads share
// under a lock.
PRIVATE void* orphan_malloc(aligned_t request);

// ---- free.c ----
// A page that is not the calling thread's, or none. Arguments in the order that leaves them where
// the fast path has them.
PRIVATE void block_free_shared(void* p, page_t* page);
// The thread's page; the block, of this number, is intact.
PRIVATE void block_free_filled(void* p, page_t* page, uint32_t number);
// Reports what is wrong with it, unless that is only that its page is veiled.
PRIVATE COLD void block_refuse(void* p, page_t* page);
PRIVATE void report_foreign(const void* p, const char* what);

// Can the block have been asked for with this size and alignment (1: any), perhaps by realloc? …
// and is it as long as `new` makes it? True for what is no live block: free will tell.
PRIVATE bool size_is_possible(const void* p, size_t size, size_t alignment);
PRIVATE bool size_is_exact(const void* p, size_t size, size_t alignment);

// ---- aligned.c ----
// Bytes of the block that a request gets.
PRIVATE size_t block_bytes_for(size_t size, size_t alignment);
// A block that is aligned itself, and one that is so at the request's offset. An alignment that is
// no power of two: NULL, with EINVAL.
PRIVATE void* theap_malloc_at_start(theap_t* theap, size_t size, size_t alignment, bool zero);
PRIVATE void* theap_malloc_at_offset(theap_t* theap, const aligned_t* request);
// Where the offset is known to be 0 the request goes on in registers.
FAST void* theap_malloc_aligned(theap_t* theap, aligned_t request) {
  if (request.offset != 0) { return theap_malloc_at_offset(theap, &request); }
  return theap_malloc_at_start(theap, request.size, request.alignment, request.zero);
}

// ---- realloc.c ----
PRIVATE void* theap_realloc(theap_t* theap, void* p, size_t size, bool zero);
PRIVATE void* theap_realloc_aligned(theap_t* theap, void* p, const aligned_t* request);
PRIVATE void* block_expand(void* p, size_t size);

// ---- tracked.c: stand in for all of the above in a build for a memory tool ----
UNUSED PRIVATE void* tracked_malloc(theap_t* theap, aligned_t request);
UNUSED PRIVATE void* tracked_realloc(theap_t* theap, void* p, const aligned_t* request);
UNUSED PRIVATE void* tracked_expand(void* p, size_t size);
UNUSED PRIVATE void tracked_free(void* p);
UNUSED PRIVATE size_t tracked_usable(const void* p);
// Bytes that a live block was asked for with; SIZE_MAX if it is none.
UNUSED PRIVATE size_t tracked_asked(const void* p);

// Larger requests have a run of their own.
enum { SMALL_REQUEST = SMALL_MAX - PAD_BYTES, MEDIUM_REQUEST = MEDIUM_MAX - PAD_BYTES };

// The page that serves requests of a size up to SMALL_REQUEST next.
FAST page_t* theap_small_page(const theap_t* theap, size_t size) {
  return theap->direct[(size + (PAD_BYTES + GRANULE - 1)) / GRANULE];
}

// The same for sizes from there to MEDIUM_REQUEST.
FAST page_t* theap_medium_page(const theap_t* theap, size_t size) {
  return theap->active[theap->place[(size + (PAD_BYTES + MEDIUM_STEP - 1)) / MEDIUM_STEP]];
}

// The same for any size: page_none(), which has no block, for larger ones.
FAST page_t* theap_page_for(const theap_t* theap, size_t size) {
  if (likely(size <= SMALL_REQUEST)) { return theap_small_page(theap, size); }
  return likely(size <= MEDIUM_REQUEST) ? theap_medium_page(theap, size) : page_none();
}

// The block is the program's from now on.
FAST void block_taken(page_t* page, block_t* block, size_t size) {
  hook_taken(page, block, size);
  if (COUNT_EACH) { heap_count_taken(page, size); }
}

// `page`: the one that serves the size next, or an open row in front of it.
FAST void* theap_malloc_from(theap_t* theap, page_t* page, size_t size) {
  block_t* block = page_pop(page);
  if (unlikely(block == NULL)) {
    void* last = OPEN_ROWS ? row_take_in_front(theap, page) : NULL;
    return likely(last != NULL) ? last : malloc_slow(size, theap, false);
  }
  block_taken(page, block, size);
  return block;
}

// Small and medium sizes have the rest of the way each for itself, which saves medium ones a jump.
FAST void* theap_malloc(theap_t* theap, size_t size) {
  if (TRACKED) { return tracked_malloc(theap, (aligned_t){size, 1, 0, false}); }
  if (likely(size <= SMALL_REQUEST)) {
    return theap_malloc_from(theap, theap_small_page(theap, size), size);
  }
  if (unlikely(size > MEDIUM_REQUEST)) { return malloc_slow(size, theap, false); }
  return theap_malloc_from(theap, theap_medium_page(theap, size), size);
}

// A block that was taken for `size` bytes becomes zero, also what lies beyond them.
FAST void* block_zero_all(const page_t* page, void* block, size_t size) {
  if (ZERO_FREED && CHECK_REUSE && !page_is_single(page)) { return block; }
  return memset(block, 0, NOTE_BLOCKS ? size : page_room(page));
}

// The whole block is zero, also what lies beyond `size`.
FAST void* theap_zalloc(theap_t* theap, size_t size) {
  if (TRACKED) { return tracked_malloc(theap, (aligned_t){size, 1, 0, true}); }
  page_t* page = theap_page_for(theap, size);
  block_t* block = page_pop(page);
  if (unlikely(block == NULL)) { return malloc_slow(size, theap, true); }
  block_taken(page, block, size);
  return block_zero_all(page, block, size);
}

FAST void block_free(void* p) {
  if (TRACKED) {
    tracked_free(p);
    return;
  }
  page_t* page = page_of(p);
  if (unlikely(load_relaxed(&page->owner) != port_thread_id())) {
    block_free_shared(p, page);
    return;
  }
  if (!CHECK_FREE &&
      (unlikely(has_any_bit(&page->mask, (uintptr_t)p)) || unlikely(page_free_list(page) == p))) {
    block_refuse(p, page);
    return;
  }
  const uint32_t number =
      CHECK_FREE ? block_intact_number(page, p, false) : block_number(page, (block_t*)p);
  if (CHECK_FREE && unlikely(number == 0)) {
    block_refuse(p, page);
    return;
  }
  if (QUARANTINE || fills_freed()) {
    block_free_filled(p, page, number);
    return;
  }
  page_push(page, (block_t*)p, number);
  if (unlikely(page_count_return(page))) { theap_page_due(p, page); }
}

// 0 for NULL and what is not ours; in checked builds for all that is not the start of a live block.
FAST size_t block_usable(const void* p) {
  if (TRACKED) { return tracked_usable(p); }
  const page_t* page = page_of(p);
  if (!CHECK_FREE && PAD_BYTES == 0) { return page->block_bytes; }
  if (page == page_none() || (CHECK_FREE && block_live_number(page, p) == 0)) { return 0; }
  return block_size(page, p);
}

#endif
