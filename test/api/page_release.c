/* test: timeout=120 when="release|debug|secure|guarded stacks"
   A program's say in what becomes of empty pages, and its two words for each: what it keeps serves
   no other size and stays readable, serves its own size again, and goes when the program lets it.
   At the end what runtimes do whose threads read objects without a lock: a page is kept until each
   thread has passed a quiescent state since it fell empty. */
#define _GNU_SOURCE 1
#include "api.h"

#include <pthread.h>
#include <stdatomic.h>

enum { TAG = 7, SIZE = 512, OTHER = 768, COUNT = 1000, LARGE = 300000, PAGES_MOST = 4096 };

static mi_heap_t* heap;
static char* blocks[COUNT];

/* ---- what the function was asked ---- */

static struct {
  bool allow;
  size_t asked, again, wrong;
  struct {
    char* start;
    size_t bytes;
  } kept[PAGES_MOST];
  size_t count;
} hook;

static bool decide(const mi_heap_area_t* area, void** words, bool again, void* arg) {
  hook.asked++;
  hook.again += again;
  if (arg != &hook || area->used != 0 || area->reserved < area->full_block_size ||
      area->full_block_size < area->block_size || words == NULL) {
    hook.wrong++;
  }
  if (area->heap_tag != TAG) { return true; }
  if (words[0] != heap) { hook.wrong++; }
  if (!hook.allow && !again && hook.count < PAGES_MOST) {
    hook.kept[hook.count].start = area->blocks;
    hook.kept[hook.count++].bytes = area->reserved;
  }
  return hook.allow;
}

static bool is_kept(const char* p) {
  for (size_t i = 0; i < hook.count; i++) {
    if (p >= hook.kept[i].start && p < hook.kept[i].start + hook.kept[i].bytes) { return true; }
  }
  return false;
}

static size_t count_kept(void) {
  size_t count = 0;
  for (int i = 0; i < COUNT; i++) { count += is_kept(blocks[i]); }
  return count;
}

static void take_in(mi_heap_t* from, size_t size) {
  for (int i = 0; i < COUNT; i++) {
    blocks[i] = mi_heap_malloc(from, size);
    memset(blocks[i], i & 0xff, size);
    void** words = mi_page_user_data(blocks[i]);
    CHECK(words != NULL && (from != heap || words[0] == NULL || words[0] == heap));
    if (from == heap) { words[0] = words[1] = heap; }
  }
}

static void give(void) {
  for (int i = 0; i < COUNT; i++) { mi_free(blocks[i]); }
}

static void* give_there(void* arg) {
  give();
  return arg;
}

static void* take_there(void* arg) {
  take_in(heap, SIZE);
  return arg;
}

static void run(void* fun(void*)) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, fun, NULL) == 0);
  pthread_join(thread, NULL);
}

static size_t pages_now(void) { return (size_t)stats_now().pages.current; }

/* All is let go, whoever has it. */
static void let_go(void) {
  hook.allow = true;
  CHECK(mi_heap_theap(heap) != NULL); /* else there is nothing of this thread's to collect */
  mi_heap_collect(heap, true);
  hook.allow = false;
  hook.count = 0;
}

/* ---- one thread ---- */

static void test_kept(void) {
  take_in(heap, SIZE);
  give();
  mi_heap_collect(heap, true);
  CHECK(hook.count > 3 && hook.wrong == 0);
  const size_t kept = hook.count;
  take_in(heap, OTHER); /* its class takes none of them, and no other heap does */
  CHECK(count_kept() == 0);
  char* others[COUNT];
  memcpy(others, blocks, sizeof(blocks));
  take_in(mi_heap_main(), SIZE);
  CHECK(count_kept() == 0);
  give();
  memcpy(blocks, others, sizeof(blocks));
  give();
  mi_heap_collect(heap, true);
  CHECK(hook.count > kept && hook.wrong == 0);
  let_go();
}

static void test_own_size(void) {
  take_in(heap, SIZE);
  give();
  mi_heap_collect(heap, true);
  const size_t kept = hook.count, asked = hook.asked, again = hook.again;
  mi_heap_collect(heap, true);
  CHECK(hook.asked >= asked + kept && hook.again == again + kept && hook.count == kept);
  take_in(heap, SIZE); /* here they are of use, and then no longer what they were */
  CHECK(count_kept() == COUNT);
  give();
  mi_heap_collect(heap, true);
  CHECK(hook.count + 2 >= 2 * kept);
  let_go();
}

static void test_words(void) {
  int here = 0;
  CHECK(mi_page_user_data(NULL) == NULL && mi_page_user_data(&here) == NULL);
  char* p = mi_heap_malloc(heap, LARGE);
  void** words = mi_page_user_data(p);
  CHECK(words != NULL && words[0] == NULL && words[1] == NULL);
  words[0] = heap;
  char* q = mi_heap_malloc(heap, 100);
  CHECK(mi_page_user_data(q) != words && mi_page_user_data(p) == words);
  mi_page_user_data(q)[0] = heap;
  mi_free(p);
  mi_free(q);
  let_go();
  q = mi_heap_malloc(heap, 100);
  CHECK(mi_page_user_data(q)[0] == NULL);
  mi_page_user_data(q)[0] = heap;
  mi_free(q);
  let_go();
}

static bool count_block(const mi_heap_t* visited, const mi_heap_area_t* area, void* block,
                        size_t size, void* arg) {
  (void)visited, (void)area, (void)size;
  *(size_t*)arg += block != NULL;
  return true;
}

static void test_large(void) {
  enum { LARGES = 8 };
  volatile char* p[LARGES];
  size_t live = 0;
  for (int i = 0; i < LARGES; i++) {
    p[i] = mi_heap_malloc(heap, LARGE);
    mi_page_user_data((void*)p[i])[0] = heap;
    memset((void*)p[i], 1, LARGE);
  }
  for (int i = 0; i < LARGES; i++) { mi_free((void*)p[i]); }
  mi_heap_collect(heap, true);
  CHECK(hook.count == LARGES);
  for (int i = 0; i < LARGES; i++) { CHECK(is_kept((const char*)p[i]) && p[i][LARGE / 2] != 77); }
  CHECK(mi_heap_visit_blocks(heap, true, count_block, &live) && live == 0);
  for (int i = 0; i < LARGES; i++) {
    blocks[i] = mi_heap_malloc(heap, LARGE);
    mi_page_user_data(blocks[i])[0] = heap;
    CHECK(!is_kept(blocks[i]));
  }
  for (int i = 0; i < LARGES; i++) { mi_free(blocks[i]); }
  let_go();
}

/* Few are asked for at a time, but not so few that memory grows without end. */
static void test_many(void) {
  const size_t asked = hook.asked;
  for (int i = 0; i < 3000; i++) {
    char* p = mi_heap_malloc(heap, LARGE); /* all of them fit into 32 bits of addresses */
    mi_page_user_data(p)[0] = heap;
    hook.allow = i % 500 == 499;
    mi_free(p);
  }
  CHECK(hook.asked - asked < 3000 * 8);
  CHECK(hook.again > 0);
  let_go();
}

/* ---- several threads ---- */

static void test_others(void) {
  take_in(heap, SIZE);
  run(give_there);
  CHECK(mi_heap_theap(heap) != NULL); /* else there is nothing of this thread's to collect */
  mi_heap_collect(heap, true);
  CHECK(hook.count > 3 && count_kept() == COUNT);
  let_go();
  run(take_there);
  give();
  mi_heap_collect(heap, true);
  CHECK(hook.count > 3 && count_kept() == COUNT && hook.wrong == 0);
  let_go();
}

/* The pages move to the main heap, and go from there. */
static void test_delete(void) {
  mi_heap_t* former = heap;
  const size_t before = pages_now();
  take_in(heap, SIZE);
  give();
  mi_heap_collect(heap, true);
  const size_t kept = hook.count;
  CHECK(kept > 3);
  mi_heap_delete(heap);
  CHECK(pages_now() + 2 >= before + kept);
  heap = mi_heap_new_ex(TAG, true, NULL);
  CHECK(former != NULL);
  mi_register_page_release(NULL, NULL);
  mi_collect(true);
  CHECK(pages_now() <= before + 2);
  mi_register_page_release(decide, &hook);
  hook.count = 0;
}

static bool keep_all(const mi_heap_area_t* area, void** words, bool again, void* arg) {
  (void)area, (void)words;
  *(size_t*)arg += again;
  return false;
}

/* What comes back after its heap was deleted is kept in the main heap, which then has too many. */
static void test_after_delete(void) {
  size_t again = 0;
  mi_register_page_release(keep_all, &again);
  for (int i = 0; i < 200; i++) {
    mi_heap_t* short_lived = mi_heap_new();
    char* p = mi_heap_malloc(short_lived, LARGE);
    mi_heap_delete(short_lived);
    mi_free(p);
  }
  CHECK(again > 0);
  mi_register_page_release(NULL, NULL);
  mi_collect(true);
  mi_register_page_release(decide, &hook);
}

/* ---- quiescent states ---- */

enum { READERS = 3, SLOTS = 64, ROUNDS = 300, CLASSES = 4, NONE = 0x7777 };

typedef struct object {
  void* spare; /* of a free block the first word is the library's */
  uint32_t kind;
  uint32_t filled[];
} object_t;

static const size_t kind_size[CLASSES] = {48, 208, 1000, 6000};
static _Atomic(object_t*) shared[SLOTS]; /* each for objects of one kind */
static _Atomic(uint64_t) now = 1, passed[READERS];
static _Atomic(size_t) wrong_kinds, refusals, releases;
static _Atomic(bool) over;
static bool clears_freed;

/* As in an interpreter: a page gets the time when it fell empty. */
static bool all_have_passed(const mi_heap_area_t* area, void** words, bool again, void* arg) {
  (void)arg;
  if (area->heap_tag != TAG) { return true; }
  if (!again) { words[0] = (void*)(uintptr_t)(atomic_fetch_add(&now, 1) + 1); }
  for (int i = 0; i < READERS; i++) {
    if (atomic_load(&passed[i]) < (uintptr_t)words[0]) {
      atomic_fetch_add(&refusals, 1);
      return false;
    }
  }
  atomic_fetch_add(&releases, 1);
  return true;
}

static void* read_objects(void* arg) {
  const size_t reader = (size_t)(uintptr_t)arg;
  uint64_t seed = reader + 1;
  while (!atomic_load(&over)) {
    const object_t* held[SLOTS];
    atomic_store(&passed[reader], atomic_load(&now)); /* no object is held */
    for (int i = 0; i < SLOTS; i++) { held[i] = atomic_load(&shared[i]); }
    for (int i = 0; i < 400; i++) {
      const size_t slot = random_next(&seed) % SLOTS;
      const uint32_t kind =
          held[slot] == NULL ? NONE : *(const volatile uint32_t*)&held[slot]->kind;
      const bool right = kind == slot % CLASSES + 1 || (kind == 0 && clears_freed);
      if (held[slot] != NULL && !right) { atomic_fetch_add(&wrong_kinds, 1); }
      if (i % 100 == 0) { sched_yield(); }
    }
  }
  atomic_store(&passed[reader], UINT64_MAX);
  return NULL;
}

static object_t* make_object(size_t kind) {
  object_t* object = mi_heap_malloc(heap, kind_size[kind]);
  object->kind = (uint32_t)kind + 1;
  memset(object->filled, 0xEE, kind_size[kind] - sizeof(object_t));
  return object;
}

/* Pages of one kind fill, and fall empty, while the readers may hold one of their objects. */
static void churn(size_t kind) {
  enum { MANY = 400 };
  static object_t* many[MANY];
  for (int i = 0; i < MANY; i++) { many[i] = make_object(kind); }
  for (size_t i = kind; i < SLOTS; i += CLASSES) {
    mi_free(atomic_exchange(&shared[i], many[i]));
    many[i] = NULL;
  }
  sched_yield();
  for (size_t i = kind; i < SLOTS; i += CLASSES) { mi_free(atomic_exchange(&shared[i], NULL)); }
  for (int i = 0; i < MANY; i++) { mi_free(many[i]); }
}

static void test_quiescent(void) {
  pthread_t threads[READERS];
  mi_register_page_release(all_have_passed, NULL);
  mi_heap_set_debug_fill_preserve(heap, sizeof(object_t));
  object_t* object = make_object(0);
  mi_free(object);
  clears_freed = *(volatile uint32_t*)&object->kind == 0;
  for (size_t i = 0; i < READERS; i++) {
    CHECK(pthread_create(&threads[i], NULL, read_objects, (void*)(uintptr_t)i) == 0);
  }
  for (size_t i = 0; i < ROUNDS; i++) {
    churn(i % CLASSES);
    if (i % 16 == 0) { mi_heap_collect(heap, true); }
  }
  atomic_store(&over, true);
  for (int i = 0; i < READERS; i++) { pthread_join(threads[i], NULL); }
  CHECK(wrong_kinds == 0);
  CHECK(refusals > 0);
  const size_t before = releases;
  mi_heap_collect(heap, true);
  mi_heap_collect(heap, true);
  CHECK(releases > before);
}

int main(void) {
  mi_option_set(mi_option_guarded_sample_rate, 0);
  heap = mi_heap_new_ex(TAG, true, NULL);
  mi_register_page_release(decide, &hook);
  test_kept();
  test_own_size();
  test_words();
  test_large();
  test_many();
  test_others();
  test_delete();
  test_after_delete();
  CHECK(hook.wrong == 0);
  test_quiescent();
  mi_register_page_release(NULL, NULL);
  mi_heap_destroy(heap);
  return check_done();
}
