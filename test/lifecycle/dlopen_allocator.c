/* test: timeout=60 libs="dl" */
/* The allocator as a plugin: loaded with dlopen into a process that runs on another one, used from
   several threads and unloaded, a hundred times; and threads that used it end after it was
   unloaded. MI_LIB_SHARED is its path. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

#include <dlfcn.h>

typedef struct {
  void* (*allocate)(size_t);
  void* (*resize)(void*, size_t);
  void (*release)(void*);
} plugin_t;

static bool use(const plugin_t* a) {
  bool fine = true;
  for (size_t size = 1; size < 2000000; size = size * 4 + 1) {
    unsigned char* p = (unsigned char*)a->allocate(size);
    unsigned char* q = (unsigned char*)malloc(size); /* the process's own, side by side */
    fine &= p != NULL && q != NULL && p != q;
    memset(p, 1, size);
    memset(q, 2, size);
    p = (unsigned char*)a->resize(p, size * 2);
    fine &= p != NULL && p[0] == 1 && p[size - 1] == 1 && q[size - 1] == 2;
    a->release(p);
    free(q);
  }
  return fine;
}

static void* load(plugin_t* a) {
  void* library = dlopen(getenv("MI_LIB_SHARED"), RTLD_NOW | RTLD_LOCAL);
  CHECK(library != NULL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return NULL;
  }
  *(void**)&a->allocate = dlsym(library, "mi_malloc");
  *(void**)&a->resize = dlsym(library, "mi_realloc");
  *(void**)&a->release = dlsym(library, "mi_free");
  CHECK(a->allocate != NULL && a->resize != NULL && a->release != NULL);
  return library;
}

static void* use_in_thread(void* plugin) {
  CHECK(use((const plugin_t*)plugin));
  return NULL;
}

static pthread_barrier_t used, unloaded;

static void* use_and_outlive(void* plugin) {
  CHECK(use((const plugin_t*)plugin));
  pthread_barrier_wait(&used);
  pthread_barrier_wait(&unloaded);
  free(malloc(100));
  return NULL;
}

static void threads_outlive_it(int rounds) {
  for (int i = 0; i < rounds; i++) {
    plugin_t a;
    void* library = load(&a);
    if (library == NULL) { return; }
    pthread_t thread[3];
    pthread_barrier_init(&used, NULL, 4);
    pthread_barrier_init(&unloaded, NULL, 4);
    for (int t = 0; t < 3; t++) {
      CHECK(pthread_create(&thread[t], NULL, use_and_outlive, &a) == 0);
    }
    pthread_barrier_wait(&used);
    CHECK(dlclose(library) == 0);
    pthread_barrier_wait(&unloaded);
    for (int t = 0; t < 3; t++) { pthread_join(thread[t], NULL); }
    pthread_barrier_destroy(&used);
    pthread_barrier_destroy(&unloaded);
  }
}

int main(void) {
  if (getenv("MI_LIB_SHARED") == NULL) { return skip("MI_LIB_SHARED is not set"); }
  size_t early = 0;
  size_t mappings = 0;
  for (int i = 0; i < 100; i++) {
    plugin_t a;
    void* library = load(&a);
    if (library == NULL) { break; }
    CHECK(use(&a));
    if (i % 4 == 0) {
      pthread_t thread;
      CHECK(pthread_create(&thread, NULL, use_in_thread, &a) == 0);
      pthread_join(thread, NULL);
    }
    CHECK(dlclose(library) == 0);
    if (i == 20) { early = resident_kib(), mappings = mapping_count(); }
  }
  CHECK(is_emulated() || resident_kib() < early + 24 * 1024); /* what may wait in a secure build */
  CHECK(mapping_count() < mappings + 16);
  threads_outlive_it(10);
  CHECK(in_child(workout_of_child, 8) == 0); /* no fork handler was left behind in unmapped code */
  return check_done();
}
