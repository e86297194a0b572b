/* test: timeout=240 cflags="-fsanitize=thread" */
// The word of a page that all threads share (src/page/remote.h), alone: an owner, and threads that
// free. With REMOTE_APART (remote_apart.c) the links lie apart from the blocks, as in secure
// builds.
#undef MI_SECURE
#undef MI_DEBUG
#define MI_SECURE 0
#define MI_DEBUG  0
#ifdef REMOTE_APART
#define MI_LINKS_APART 1
#endif
#define MI_MODEL_ATOMICS "../../test/model/atomics.h"
#include "../../src/page/remote.h"

enum { BLOCKS = 4, HALF = BLOCKS / 2, NOBODY = -1 };

typedef union block_memory {
  block_t block;
  uint8_t granule[GRANULE];
} block_memory_t;

// What a page is to this protocol.
static struct {
  remote_t remote;
  block_t* free;
  uint32_t used;
  int owner;
  bool gone;
  bool passed_on;  // with less than half of its blocks free it is FULL, not ABANDONED
} page;

static _Alignas(16) block_memory_t blocks[BLOCKS];
static bool program_has[BLOCKS];

static uint8_t* start(void) { return (uint8_t*)blocks; }
static block_t* block(int i) { return &blocks[i].block; }
static int index_of_block(const block_t* b) {
  return (int)((const block_memory_t*)(const void*)b - blocks);
}

// ---- links; apart, as numbers of blocks plus one ----

static _Atomic(uint16_t) links[BLOCKS];

static block_t* next_of(const block_t* b) {
  if (!LINKS_APART) { return b->next; }
  const int link = load_relaxed(&links[index_of_block(b)]);
  return link == 0 ? NULL : block(link - 1);
}

static void set_next(block_t* b, block_t* next) {
  if (LINKS_APART) {
    const int link = next == NULL ? 0 : index_of_block(next) + 1;
    store_relaxed(&links[index_of_block(b)], (uint16_t)link);
  } else {
    b->next = next;
  }
}

// ---- the owner ----

static void become_owner(void) {
  MODEL_CHECK(page.owner == NOBODY && !page.gone);
  page.owner = m.self;
}

static void prepend(block_t* list) {
  while (list != NULL) {
    block_t* next = next_of(list);
    set_next(list, page.free);
    page.free = list;
    list = next;
  }
}

static void take_remote(void) {
  const uint32_t word = remote_take(&page.remote);
  prepend(remote_head(word, start()));
  page.used -= remote_count(word);
}

static void release(void) {
  MODEL_CHECK(page.used == 0);
  page.owner = NOBODY;
  page.gone = true;
}

// Gives the page up in the state that fits it. False: the state changed under our hands.
static bool give_up_once(void) {
  take_remote();
  const int self_index = page.owner;
  const uint32_t used = page.used;
  if (used == 0) {
    release();
    return true;
  }
  page.owner = NOBODY;
  const bool waits = page.passed_on && used > HALF;
  const uint32_t count = page.free == NULL ? 1 : waits ? used - HALF : used;
  const uint32_t state = page.free == NULL || waits ? REMOTE_FULL : REMOTE_ABANDONED;
  page.used = used - count;
  if (remote_leave(&page.remote, state, count)) { return true; }
  page.used = used;
  page.owner = self_index;
  return false;
}

static void give_up(void) {
  while (!give_up_once()) {}
}

static void claimed(chain_t chain, uint32_t word) {
  become_owner();
  MODEL_CHECK(remote_state(word) != REMOTE_ABANDONED || page.used == 0);
  MODEL_CHECK(remote_count(word) <= chain.count);
  prepend(remote_head(word, start()));
  page.used += remote_count(word) - chain.count;
  set_next(chain.last, page.free);
  page.free = chain.first;
}

// ---- threads ----

static void free_chain(int first, int count) {
  chain_t chain = {block(first), block(first), (uint32_t)count,
                   remote_granule(block(first), start()), &links[first]};
  for (int i = 0; i < count; i++) {
    MODEL_CHECK(program_has[first + i]);
    program_has[first + i] = false;
    if (i > 0) {
      set_next(block(first + i), chain.first);
      chain.first = block(first + i);
      chain.head = remote_granule(chain.first, start());
    }
  }
  uint32_t word = 0;
  if (!remote_free(&page.remote, start(), chain, &word)) { return; }
  claimed(chain, word);
  give_up();
}

static void pop(void) {
  block_t* b = page.free;
  if (b == NULL) { return; }
  page.free = next_of(b);
  page.used++;
  MODEL_CHECK(!program_has[index_of_block(b)]);
  program_has[index_of_block(b)] = true;
}

static void free_0(void) { free_chain(0, 1); }
static void free_1(void) { free_chain(1, 1); }
static void free_2(void) { free_chain(2, 1); }
static void free_0_then_1(void) {
  free_0();
  free_1();
}
static void free_2_and_3(void) { free_chain(2, 2); }
static void free_1_and_2(void) { free_chain(1, 2); }

static void own_and_leave(void) { give_up(); }

static void own_take_pop_leave(void) {
  take_remote();
  pop();
  give_up();
}

static void own_take_twice(void) {
  take_remote();
  take_remote();
  give_up();
}

// As the allocator does under the pool's lock; nobody releases the page meanwhile in this model.
static void claim_pop_leave(void) {
  uint32_t word = 0;
  if (!remote_claim(&page.remote, REMOTE_ABANDONED, &word)) { return; }
  become_owner();
  prepend(remote_head(word, start()));
  page.used += remote_count(word);
  MODEL_CHECK(page.used > 0);
  pop();
  give_up();
}

// ---- instances ----

static void page_of_state(uint32_t state, int taken) {
  memset(&page, 0, sizeof(page));
  page.owner = state == REMOTE_OWNED ? 0 : NOBODY;
  for (int i = 0; i < BLOCKS; i++) { program_has[i] = i < taken; }
  for (int i = BLOCKS - 1; i >= taken; i--) {
    set_next(block(i), page.free);
    page.free = block(i);
  }
  const int count = state == REMOTE_ABANDONED ? taken : state == REMOTE_FULL;
  page.used = (uint32_t)(taken - count);
  store_relaxed(&page.remote, remote_word(state, (uint32_t)count));
  model_state(&page, sizeof(page));
  model_state(blocks, sizeof(blocks));
  model_state(program_has, sizeof(program_has));
}

static void owned_1(void) { page_of_state(REMOTE_OWNED, 1); }
static void owned_2(void) { page_of_state(REMOTE_OWNED, 2); }
static void owned_3(void) { page_of_state(REMOTE_OWNED, 3); }
static void owned_4(void) { page_of_state(REMOTE_OWNED, 4); }
static void full(void) { page_of_state(REMOTE_FULL, 4); }
static void full_passed_on(void) {
  page_of_state(REMOTE_FULL, 4);
  page.passed_on = true;
}
static void owned_passed_on(void) {
  page_of_state(REMOTE_OWNED, 3);
  page.passed_on = true;
}
static void abandoned_2(void) { page_of_state(REMOTE_ABANDONED, 2); }
static void abandoned_3(void) { page_of_state(REMOTE_ABANDONED, 3); }

// R-1, and nobody's at the end; `used` and the counts are exact.
static void each_block_once(void) {
  int found[BLOCKS] = {0}, in_use = 0, listed = 0;
  const uint32_t word = load_relaxed(&page.remote);
  const uint32_t state = remote_state(word);
  for (int i = 0; i < BLOCKS; i++) { found[i] = program_has[i], in_use += program_has[i]; }
  block_t* lists[] = {page.free, remote_head(word, start())};
  for (int i = 0; i < 2; i++) {
    for (block_t* b = lists[i]; b != NULL && listed <= BLOCKS; b = next_of(b)) {
      found[index_of_block(b)]++, listed++;
    }
  }
  for (int i = 0; i < BLOCKS; i++) { MODEL_CHECK(found[i] == 1); }
  MODEL_CHECK(page.owner == NOBODY);
  MODEL_CHECK(page.gone == (in_use == 0));
  const int full_from = page.passed_on ? HALF + 1 : BLOCKS;
  MODEL_CHECK(page.gone || state == (in_use >= full_from ? REMOTE_FULL : REMOTE_ABANDONED));
  MODEL_CHECK(page.gone || page.used + remote_count(word) == (uint32_t)in_use);
}

MODEL_MAIN(
    {"leave_and_free", owned_4, {own_and_leave, free_0}, each_block_once, -1, 4, 0},
    {"owned_take_two", owned_3, {own_take_twice, free_0_then_1}, each_block_once, -1, 2, 0},
    {"owned_two_freers",
     owned_4,
     {own_take_pop_leave, free_0, free_2_and_3},
     each_block_once,
     4,
     1,
     20000},
    {"owned_three_freers",
     owned_4,
     {own_and_leave, free_0, free_1, free_2},
     each_block_once,
     3,
     1,
     20000},
    {"owned_last_blocks",
     owned_2,
     {own_take_pop_leave, free_0, free_1},
     each_block_once,
     4,
     1,
     20000},
    {"owned_last_block", owned_1, {own_and_leave, free_0}, each_block_once, -1, 4, 0},
    {"full_two_freers", full, {free_0, free_1}, each_block_once, -1, 2, 0},
    {"full_three_freers", full, {free_0_then_1, free_2_and_3}, each_block_once, -1, 2, 20000},
    {"abandoned_last_two", abandoned_2, {free_0, free_1}, each_block_once, -1, 2, 0},
    {"abandoned_claim",
     abandoned_2,
     {claim_pop_leave, free_0, free_1},
     each_block_once,
     4,
     1,
     20000},
    {"abandoned_chain",
     abandoned_3,
     {claim_pop_leave, free_0, free_1_and_2},
     each_block_once,
     4,
     1,
     20000},
    {"passed_on_two_freers", full_passed_on, {free_0, free_1}, each_block_once, -1, 2, 0},
    {"passed_on_all", full_passed_on, {free_0, free_1_and_2}, each_block_once, 4, 1, 20000},
    {"passed_on_three_freers",
     full_passed_on,
     {free_0_then_1, free_2_and_3},
     each_block_once,
     4,
     1,
     20000},
    {"passing_on",
     owned_passed_on,
     {own_take_pop_leave, free_0, free_1},
     each_block_once,
     4,
     1,
     20000})
