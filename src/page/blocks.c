// The free blocks of a page: its lists, and the steps in which it is extended. See page.h.
#include "../base/track.h"
#include "../service/random.h"
#include "page.h"

static block_t* block_at(const page_t* page, size_t index) {
  return (block_t*)(void*)(page->start + index * page->block_bytes);
}

// How far a page is extended. Memory that is not needed yet stays untouched. Where it was in use
// before it costs less to go further; among threads by few blocks, since how often they look at
// their pages tells which of them share blocks: see docs/decisions/035.
static size_t extend_bytes(const page_t* page) {
  enum { FRESH_BYTES = 4 << 10, USED_BYTES = 32 << 10, SHARED_BLOCKS = 16 };
  if (page->fresh_zero) { return FRESH_BYTES; }
  if (port_is_single_threaded()) { return USED_BYTES; }
  return size_max(size_min(SHARED_BLOCKS * page->block_bytes, USED_BYTES), FRESH_BYTES);
}

// Where the order is random there must be some to choose from.
static uint32_t extend_count(const page_t* page) {
  enum { USED_BLOCKS = 4, RANDOM_BLOCKS = 8 };
  const size_t used = page->fresh_zero ? 1 : USED_BLOCKS;
  const size_t least = RANDOM_ORDER ? RANDOM_BLOCKS : used;
  const size_t count = size_max(extend_bytes(page) / page->block_bytes, least);
  return (uint32_t)size_min(count, page->reserved - page->capacity);
}

// A list of free blocks in the making, which becomes `free`.
typedef struct sequence {
  page_t* page;
  uint32_t last;  // the number of its last block; 0: none
} sequence_t;

static void sequence_add(sequence_t* sequence, uint32_t number) {
  page_t* page = sequence->page;
  if (sequence->last == 0) {
    page_set_free_list(page, block_at(page, number - 1));
  } else if (LINKS_APART) {
    store_relaxed(&page_checks(page)->links[sequence->last], (uint16_t)number);
  } else {
    block_at(page, sequence->last - 1)->next = block_at(page, number - 1);
  }
  sequence->last = number;
}

// The blocks from `first` on of which the bits are set.
static void sequence_add_bits(sequence_t* sequence, uint32_t first, uint64_t bits) {
  for (; bits != 0; bits &= bits - 1) { sequence_add(sequence, first + low_bit(bits) + 1); }
}

// The same in random order: each comes in one of two turns, in FULL of four. Within a turn the
// addresses go up, as processors like it: see docs/decisions/014.
static void sequence_add_shuffled(sequence_t* sequence, uint32_t first, uint64_t bits) {
  uint64_t* random = &page_checks(sequence->page)->random;
  const uint64_t early = quick_bits(random),
                 sooner = QUARANTINE ? quick_bits(random) : ~(uint64_t)0;
  sequence_add_bits(sequence, first, bits & early & sooner);
  sequence_add_bits(sequence, first, bits & early & ~sooner);
  sequence_add_bits(sequence, first, bits & ~early & sooner);
  sequence_add_bits(sequence, first, bits & ~early & ~sooner);
}

static void sequence_add_group(sequence_t* sequence, uint32_t first, uint64_t bits) {
  if (RANDOM_ORDER) {
    sequence_add_shuffled(sequence, first, bits);
  } else {
    sequence_add_bits(sequence, first, bits);
  }
}

// `rest` follows the list.
static void sequence_end(const sequence_t* sequence, block_t* rest) {
  if (sequence->last != 0) {
    block_set_next(sequence->page, block_at(sequence->page, sequence->last - 1), rest);
  }
}

static void link_shuffled(page_t* page, uint32_t count) {
  enum { GROUP = 64 };
  sequence_t sequence = {.page = page};
  block_t* rest = page_free_list(page);
  for (uint32_t at = 0; at < count; at += GROUP) {
    const uint32_t left = count - at;
    const uint64_t all = left >= GROUP ? ~(uint64_t)0 : ((uint64_t)1 << left) - 1;
    sequence_add_group(&sequence, page->capacity + at, all);
  }
  sequence_end(&sequence, rest);
}

// Links the block to the one behind it, and returns that.
static block_t* link_behind(const page_t* page, block_t* block, size_t block_bytes) {
  block_t* behind = (block_t*)(void*)((uint8_t*)block + block_bytes);
  block_set_next(page, block, behind);
  return behind;
}

PRIVATE void page_link_blocks(page_t* page, uint32_t first, uint32_t count) {
  const size_t block_bytes = page->block_bytes;
  block_t* last = block_at(page, first);
  block_t* const before = page_free_list(page);
  page_set_free_list(page, last);
  uint32_t left = count - 1;
  for (; left >= 2; left -= 2) {  // two at a time: three instructions for each instead of five
    last = link_behind(page, link_behind(page, last, block_bytes), block_bytes);
  }
  if (left != 0) { last = link_behind(page, last, block_bytes); }
  block_set_next(page, last, before);
}

static void set_canaries(const page_t* page, uint32_t count) {
  track_quiet();
  for (uint32_t i = 0; HAS_CANARIES && i < count; i++) {
    canary_set(page, canary_of(page, block_at(page, page->capacity + i)));
  }
  track_loud();
}

PRIVATE void page_extend(page_t* page) {
  const uint32_t count = extend_count(page);
  if (ZERO_FREED && !page->fresh_zero && !page_checks(page)->zeroed) {
    memset(block_at(page, page->capacity), 0, count * page->block_bytes);
  }
  set_canaries(page, count);
  if (RANDOM_ORDER) {
    link_shuffled(page, count);
  } else {
    page_link_blocks(page, page->capacity, count);
  }
  page->capacity = (uint16_t)(page->capacity + count);
  page->just_extended = true;
  if (page->fresh_zero) { (void)sub_relaxed(&memory_untouched, count * page->block_bytes); }
}

// A program that frees a block twice, or writes to one that it freed, may close a list to a circle:
// whoever follows one to its end counts the blocks, from list_most down.
static uint32_t list_most(const page_t* page) { return page->capacity + 1u; }

// Looks at a block of a list before anything is read from it.
static void list_look(const page_t* page, const block_t* block) {
  const size_t offset = page_offset(page, block);
  if (unlikely(offset >= page->capacity * page->block_bytes || offset % GRANULE != 0)) {
    report_bad_link(page, block);
  }
}

static void list_count(const page_t* page, const block_t* block, uint32_t* left) {
  list_look(page, block);
  if (unlikely(--*left == 0)) { report_endless_list(page); }
}

// `left` less the length of the list.
static uint32_t list_rest(const page_t* page, const block_t* block, uint32_t left) {
  track_quiet();
  for (; block != NULL; block = block_next(page, block)) { list_count(page, block, &left); }
  track_loud();
  return left;
}

// A list, and then another one.
static block_t* list_join(const page_t* page, block_t* list, block_t* rest) {
  uint32_t left = list_most(page);
  if (list == NULL || rest == NULL) { return list == NULL ? rest : list; }
  track_quiet();
  block_t* last = list;
  for (block_t* next = block_next(page, last); next != NULL; next = block_next(page, last)) {
    list_count(page, next, &left);
    last = next;
  }
  block_set_next(page, last, rest);
  track_loud();
  return list;
}

// Puts a list in front of `free`.
static void page_prepend(page_t* page, block_t* list) {
  if (list != NULL) { page_set_free_list(page, list_join(page, list, page_free_list(page))); }
}

// A link that leads elsewhere shows at once; an endless list is as good as any other here.
PRIVATE block_t* page_cut_list(page_t* page, uint32_t most, uint32_t* count) {
  block_t *first = page_free_list(page), *last = NULL, *next = first;
  uint32_t left = most;
  while (left != 0 && next != NULL) {
    list_look(page, next);
    last = next;
    next = block_next(page, last);
    left--;
  }
  *count = most - left;
  if (last == NULL) { return NULL; }
  block_set_next(page, last, NULL);
  page_set_free_list(page, next);
  return first;
}

PRIVATE size_t page_add_list(page_t* page, block_t* list) {
  if (list == NULL) { return 0; }
  const uint32_t most = list_most(page), left = list_rest(page, list, most);
  page_prepend(page, list);
  return most - left;
}

static void page_take_later(page_t* page) {
  page_checks_t* checks = page_checks(page);
  if (!REUSE_LATER) { return; }
  page_prepend(page, page_later(page));
  checks->later = checks->later_end = checks->seen = 0;
}

PRIVATE void page_take_waiting(page_t* page) {
  page_checks_t* checks = page_checks(page);
  const uint32_t newest = checks->later;
  const uint32_t others = newest == 0 ? 0 : load_relaxed(&checks->links[newest]);
  if (others == 0) { return; }
  if (checks->later_end == 0) {
    page_prepend(page, link_block(page, others));
  } else {
    store_relaxed(&checks->links[checks->later_end], (uint16_t)page->free_number);
    page->free_number = others;
  }
  store_relaxed(&checks->links[newest], 0);
  checks->later_end = (uint16_t)newest;
  checks->seen = 0;
}

PRIVATE void page_add_returned(page_t* page, block_t* list) {
  if (REUSE_LATER) {
    list = list_join(page, list, page_later(page));
    page_checks(page)->later = (uint16_t)list_as_link(page, list);
  } else {
    page_prepend(page, list);
  }
}

// Loads a line of each block, before a list of `count` blocks is followed. The list leads through
// the page in the order of frees, with a cache miss at each step, each of which waits for the one
// before; these loads do not wait for each other. A list of 655 blocks takes a tenth of the time
// afterwards; one that is too short for so many loads is left alone. (Prefetches do not help:
// processors drop them.)
RACY static NOINLINE void page_touch_list(const page_t* page, size_t count) {
  enum { LINE = 64, LOADS_MOST = 16 };  // for each block of the list
  const size_t step = size_max(page->block_bytes, LINE), bytes = page->capacity * page->block_bytes;
  if (LINKS_APART || TRACKED || count * step * LOADS_MOST < bytes) { return; }
  for (size_t at = 0; at < bytes; at += step) {
    (void)*(const volatile uint8_t*)(page->start + at);
  }
}

static void page_empty_remote(page_t* page) {
  const uint32_t word = remote_take(&page->remote);
  if (word == REMOTE_OWNED) { return; }
  if (!page_is_held(page)) { page_count_all(page); }
  page_touch_list(page, remote_count(word));
  page_add_returned(page, page_remote_list(page, word));
  page->used -= remote_count(word);
}

PRIVATE void page_take_remote(page_t* page) {
  page_empty_remote(page);
  page_take_later(page);
}

PRIVATE void page_restore(page_t* page, uint32_t claimed) {
  page_touch_list(page, remote_count(claimed));
  page_prepend(page, page_remote_list(page, claimed));
  page->used += remote_count(claimed);
}

PRIVATE uint32_t page_used(const page_t* page) {
  if (!page_is_held(page)) { return page->used + page_uncounted(page); }
  const uint32_t left = list_rest(page, page_free_list(page), list_most(page));
  const uint32_t in_holes = page_holes(page) == 0 ? 0 : page_hole_blocks(page);
  return list_rest(page, page_later(page), left) - 1 - in_holes;
}

PRIVATE void page_count_all(page_t* page) {
  page->used = page_used(page);
  page->counting = COUNT_ALL;
}

PRIVATE void page_free_bits(const page_t* page, block_bits_t* bits) {
  const uint32_t block_bytes = (uint32_t)page->block_bytes;
  uint32_t left = list_most(page);
  page_touch_list(page, page->capacity);
  bits_clear(bits, page->capacity);
  for (const block_t* block = page_free_list(page); block != NULL;
       block = block_next(page, block)) {
    list_count(page, block, &left);
    bits_set(bits, (uint32_t)page_offset(page, block) / block_bytes, true);
  }
}

PRIVATE void page_list_bits(page_t* page, const block_bits_t* bits) {
  sequence_t sequence = {.page = page};
  page_set_free_list(page, NULL);
  for (uint32_t word = 0; word < divide_up(page->capacity, 64); word++) {
    sequence_add_group(&sequence, word * 64, bits->words[word]);
  }
  sequence_end(&sequence, NULL);
}

PRIVATE void page_sort_free(page_t* page) {
  block_bits_t bits;
  page_free_bits(page, &bits);
  page_list_bits(page, &bits);
}

// Now and then never-used blocks come first though there are others.
static bool extends_anyway(const page_t* page) {
  enum { ONE_IN = 16 };
  return RANDOM_ORDER && quick_below(&page_checks(page)->random, ONE_IN) == 0;
}

// The block that was freed last is all that the page has. It is ripe if it was so at an earlier
// look too: others have been handed out since.
static void page_take_ripe(page_t* page) {
  page_checks_t* checks = page_checks(page);
  if (!REUSE_LATER || page_has_free(page)) { return; }
  if (checks->later != 0 && checks->later == checks->seen) {
    page_take_later(page);
  } else {
    checks->seen = checks->later;
  }
}

PRIVATE bool page_has_room(page_t* page) {
  if (page_has_free(page)) { return true; }
  page_empty_remote(page);
  if (REUSE_LATER) { page_take_waiting(page); }
  while (unlikely(page_holes(page) != 0) && !page_has_free(page)) { page_take_hole(page); }
  if (page->capacity < page->reserved && (!page_has_free(page) || extends_anyway(page))) {
    page_extend(page);
  }
  page_take_ripe(page);
  return page_has_free(page);
}
