/* test: timeout=60 when="release|debug|secure|guarded threads" env="MIMALLOC_GUARDED_SAMPLE_RATE=0"
   What the collector of an interpreter without a global lock does with the library: objects of the
   garbage-collected kind live in a heap with a tag of their own, in which all threads allocate. The
   collector stops the threads, visits every object of that kind, of threads that run and of such
   that have ended, marks what is reachable, and frees the rest; it gives up the pages of a stopped
   thread, and tells by a page's owner which thread an object is from. Debug builds leave the first
   words of freed objects alone, for who still looks at these without a lock. The test does, so none
   may be a sample. */
#define _GNU_SOURCE 1
#include "../system.h"
#include "api.h"

#include <stdatomic.h>

enum { TAG_MEMORY = 1, TAG_OBJECT = 2, THREADS = 3, PER_THREAD = 3000, KEEP_ONE_IN = 3 };

typedef struct object {
  void* spare;               /* of a free block the first word is the library's */
  _Atomic(uint32_t) version; /* odd while alive; read without a lock */
  uint32_t marked;
  struct object* next; /* the one it refers to, or NULL */
  char* text;          /* in the heap of plain memory */
} object_t;

static mi_heap_t *memory_heap, *object_heap;
static object_t* roots[THREADS + 1];
static mi_theap_t* theaps[THREADS + 1];
static test_barrier_t world;

static object_t* new_object(object_t* next, unsigned seed) {
  object_t* object = mi_heap_zalloc(object_heap, sizeof(object_t) + seed % 400);
  object->version = 1;
  object->next = next;
  object->text = mi_heap_malloc(memory_heap, 20);
  snprintf(object->text, 20, "%u", seed);
  return object;
}

/* A chain of objects that stay, and between them others that nothing refers to. */
static void make_objects(size_t thread) {
  for (unsigned i = 0; i < PER_THREAD; i++) {
    if (i % KEEP_ONE_IN == 0) {
      roots[thread] = new_object(roots[thread], i);
    } else {
      (void)new_object(NULL, i);
    }
  }
  theaps[thread] = mi_heap_theap(object_heap);
}

static void* run(void* arg) {
  const size_t thread = (size_t)(uintptr_t)arg;
  make_objects(thread);
  barrier_wait(&world); /* the world stops */
  barrier_wait(&world); /* … and goes on */
  make_objects(thread);
  return NULL;
}

static void* run_and_end(void* arg) {
  make_objects((size_t)(uintptr_t)arg);
  return NULL;
}

typedef struct {
  size_t objects, others, doomed_count;
  object_t* doomed; /* linked by `next` */
} collection_t;

static bool visit_object(const mi_heap_t* heap, const mi_heap_area_t* area, void* block,
                         size_t size, void* arg) {
  collection_t* collection = arg;
  object_t* object = block;
  (void)heap;
  if (object == NULL) { return true; }
  if (area->heap_tag != TAG_OBJECT || size < sizeof(object_t)) { collection->others++; }
  collection->objects++;
  if (!object->marked) {
    object->next = collection->doomed;
    collection->doomed = object;
    collection->doomed_count++;
  }
  object->marked = 0;
  return true;
}

static void mark(object_t* object) {
  for (; object != NULL; object = object->next) { object->marked = 1; }
}

static void free_object(object_t* object) {
  atomic_fetch_add(&object->version, 1);
  mi_free(object->text);
  mi_free(object);
}

/* The world stands still. */
static collection_t collect(void) {
  collection_t collection = {0};
  for (size_t i = 0; i <= THREADS; i++) { mark(roots[i]); }
  CHECK(mi_heap_visit_blocks(object_heap, true, visit_object, &collection));
  while (collection.doomed != NULL) {
    object_t* object = collection.doomed;
    collection.doomed = object->next;
    free_object(object);
  }
  return collection;
}

static void check_roots(void) {
  for (size_t i = 0; i <= THREADS; i++) {
    for (const object_t* object = roots[i]; object != NULL; object = object->next) {
      CHECK(object->version == 1 && atoi(object->text) % KEEP_ONE_IN == 0);
    }
  }
}

/* Who reads without a lock sees that an object is gone, if its memory serves nothing else. */
static void check_freed_is_readable(void) {
  object_t* object = new_object(NULL, 5);
  mi_free(object->text);
  atomic_store(&object->version, 2);
  object->marked = 0xABCD;
  volatile const object_t* freed = object;
  mi_free(object);
  CHECK(freed->marked == 0xABCD || freed->marked == 0); /* secure builds clear what is freed */
}

int main(void) {
  test_thread_t threads[THREADS + 1];
  memory_heap = mi_heap_new_ex(TAG_MEMORY, true, NULL);
  object_heap = mi_heap_new_ex(TAG_OBJECT, true, NULL);
  mi_heap_set_debug_fill_preserve(object_heap, sizeof(object_t));
  barrier_init(&world, THREADS + 1);
  CHECK(thread_start(&threads[THREADS], run_and_end, (void*)(uintptr_t)THREADS));
  thread_join(threads[THREADS]); /* its objects are nobody's now */
  for (size_t i = 0; i < THREADS; i++) {
    CHECK(thread_start(&threads[i], run, (void*)(uintptr_t)i));
  }
  barrier_wait(&world);
  const size_t ids[2] = {mi_thread_id_of(roots[0]), mi_thread_id_of(roots[1])};
  CHECK(ids[0] == 0 || ids[0] != ids[1]);
  const collection_t first = collect();
  CHECK(first.objects == (THREADS + 1) * PER_THREAD && first.others == 0);
  CHECK(first.doomed_count == (THREADS + 1) * (PER_THREAD - PER_THREAD / KEEP_ONE_IN));
  mi_theap_quiescent_abandon(theaps[0]);
  for (const object_t* object = roots[0]; object != NULL; object = object->next) {
    CHECK(mi_thread_id_of(object) != ids[0] || ids[0] == 0);
  }
  check_freed_is_readable();
  barrier_wait(&world);
  for (size_t i = 0; i < THREADS; i++) { thread_join(threads[i]); }
  const collection_t second = collect();
  CHECK(second.objects == (2 * THREADS + 1) * PER_THREAD - first.doomed_count);
  check_roots();
  const collection_t third = collect();
  CHECK(third.doomed_count == 0 && third.others == 0);
  check_roots();
  mi_heap_destroy(object_heap);
  mi_heap_destroy(memory_heap);
  return check_done();
}
