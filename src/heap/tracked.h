// Blocks in a build for a memory tool (base/track.h): what lies before them, and what happens to
// them between free and reuse. In other builds none of this is used.
//
//   block of the page: | label | … | what the program asked for, to the byte | rest |
//                      |--- lead --|
//
// All but what the program asked for is out of bounds for the tool, and so is the label of the next
// block: it sees the first byte too far on either side. `lead` is 16 bytes, or more for alignment.
// The label also keeps the allocator's own records from pointing at a program's block, by which
// memcheck would take it for reachable.
//
//   tracked_malloc --> LIVE --tracked_free--> GIVEN, in quarantine --quarantine_give--> its page
//
// T1 a label says LIVE iff the block is in the program's hands.
// T2 blocks in quarantine are in use as far as their pages know, so a page never goes before them;
//    who destroys a heap, collects or counts empties the quarantine first; who visits looks at the
//    labels.
// Any thread. Tests: test/tools.
#ifndef MI_HEAP_TRACKED_H
#define MI_HEAP_TRACKED_H

#include "../base/track.h"
#include "heap.h"

typedef struct label {
  size_t bytes;    // that the program asked for; a link once the block is its page's again
  uint32_t lead;   // from here to the program's block
  uint32_t state;  // a label_state_t, made specific for the address
} label_t;

_Static_assert(sizeof(label_t) <= GRANULE, "a label fits before any block");

typedef enum { LABEL_NONE, LABEL_LIVE, LABEL_GIVEN } label_state_t;

// Marks a block of a page as handed out; `label` tells its size and lead. The program's block.
PRIVATE void* tracked_hand_out(label_t* label, size_t bytes, size_t lead);
// The label of a program's block; NULL if p is no block, or one that was freed.
PRIVATE label_t* tracked_label(const void* p);
// The same, whether the block is live or was freed and is not yet in use again.
PRIVATE label_t* tracked_label_of_any(const void* p);
// Freed by the program: out of bounds from now on, and for a while not reused.
PRIVATE void tracked_take_back(label_t* label);
// Is a block of a page in the program's hands? For walks, beside threads that change it too.
PRIVATE bool tracked_is_live(const void* block);
// For walks that found a block in use: the program's part of it.
PRIVATE void* tracked_block_at(void* block);
// The page goes although blocks in it are live.
PRIVATE void tracked_drop_page(page_t* page);
// All that wait go to their pages.
PRIVATE void tracked_flush(void);
PRIVATE void tracked_lock_for_fork(void);
PRIVATE void tracked_unlock_after_fork(bool child);
PRIVATE void tracked_rescue(void);

#endif
