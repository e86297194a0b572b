/* test: timeout=240 cflags="-fsanitize=thread" */
// Address-to-page map: blocks of new pages reach other threads, whose look-ups need no order of
// their own (M1 in src/memory/map.h).
#include "world.h"

static _Atomic(void*) mail[2];

static void begin(void) {
  world_begin();
  store_relaxed(&mail[0], NULL);
  store_relaxed(&mail[1], NULL);
  STATE(mail);
  for (int i = 2; i >= 0; i--) { model_act_as(i), world_enter(); }
}

static void nothing_yet(void) {
  begin();
  world_ready();
}
static void old_page(void) {
  begin();
  take(0, 2 * BLOCK);
  world_ready();
}

static void* taken(size_t size) {
  void* p = theap_malloc(theap_current(), size);
  MODEL_CHECK(p != NULL && page_of(p)->block_bytes == size);
  return p;
}

static void receive(int box, size_t size) {
  void* p = load_acquire(&mail[box]);
  if (p == NULL) { return; }
  MODEL_CHECK(page_of(p) != page_none() && page_of(p)->block_bytes == size);
  block_free(p);
}

static void send(void) { store_release(&mail[0], taken(BLOCK)); }
static void send_both(void) {
  send();
  store_release(&mail[1], taken(BLOCK / 2));
}
static void receive_first(void) { receive(0, BLOCK); }
static void receive_second(void) { receive(1, BLOCK / 2); }
static void pass_on(void) {
  void* p = load_acquire(&mail[0]);
  if (p != NULL) { store_release(&mail[1], p); }
}
static void receive_passed(void) { receive(1, BLOCK); }

// The last block of a page goes, its memory becomes that of a page of another class.
static void give_and_send_anew(void) {
  give(0);
  thread_collect(thread_self_or_null(), COLLECT_HOLES);
  send();
}

static void mail_read(void) {
  for (int i = 0; i < 2; i++) {
    void* p = load_relaxed(&mail[i]);
    MODEL_CHECK(p == NULL || is_aligned(p, BLOCK / 2));
  }
}

MODEL_MAIN(
    {"new_page", nothing_yet, {send, receive_first}, mail_read, -1, 3, 0},
    {"passed_on", nothing_yet, {send, pass_on, receive_passed}, mail_read, 3, 2, 10000},
    {"two_pages", nothing_yet, {send_both, receive_first, receive_second}, mail_read, 2, 2, 10000},
    {"memory_reused", old_page, {give_and_send_anew, receive_first}, mail_read, 1, 2, 10000})
