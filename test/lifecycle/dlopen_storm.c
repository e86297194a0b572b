/* test: timeout=120 libs="dl" */
/* Four threads load, use and unload libraries that allocate in their constructors, destructors and
   thread-local storage, while two others allocate, and blocks outlive the library that made them:
   no crash, no hang, and memory stays where it is. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

#include <dlfcn.h>
#include <limits.h>

enum { LOADERS = 4, OTHERS = 2, LOADS = 60 };

static const char* const names[] = {"c_module", "cxx_module", "empty"};
static bool stop;

static void* open_module(int number) {
  char path[PATH_MAX];
  snprintf(path, sizeof(path), "%s/%s.so", getenv("MI_TEST_MODULE_DIR"), names[number % 3]);
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void load_once(int number) {
  void* module = open_module(number);
  if (module == NULL) { return; } /* there is no C++ one without a compiler for it */
  int (*work)(int) = NULL;
  *(void**)&work = dlsym(module, "module_work");
  void* (*allocate)(size_t) = NULL;
  *(void**)&allocate = dlsym(module, "module_allocate");
  if (work != NULL) { CHECK(work(number) == 1); }
  unsigned char* p = allocate == NULL ? NULL : (unsigned char*)allocate(3000);
  if (p != NULL) { memset(p, 5, 3000); }
  CHECK(dlclose(module) == 0);
  CHECK(p == NULL || (p[0] == 5 && p[2999] == 5));
  free(p);
}

static void* loader(void* first) {
  for (int i = 0; i < LOADS; i++) { load_once((int)(size_t)first + i); }
  return NULL;
}

static void* other(void* unused) {
  while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) { CHECK(workout()); }
  return unused;
}

static void storm(void) {
  pthread_t thread[LOADERS + OTHERS];
  __atomic_store_n(&stop, false, __ATOMIC_RELAXED);
  for (size_t i = 0; i < LOADERS + OTHERS; i++) {
    CHECK(pthread_create(&thread[i], NULL, i < LOADERS ? loader : other, (void*)i) == 0);
  }
  for (int i = 0; i < LOADERS; i++) { pthread_join(thread[i], NULL); }
  __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
  for (int i = LOADERS; i < LOADERS + OTHERS; i++) { pthread_join(thread[i], NULL); }
}

int main(void) {
  if (getenv("MI_TEST_MODULE_DIR") == NULL) { return skip("MI_TEST_MODULE_DIR is not set"); }
  storm();
  const size_t before = resident_kib();
  storm();
  storm();
  printf("%zu KiB after the first storm, %zu KiB after the third\n", before, resident_kib());
  CHECK(is_emulated() || resident_kib() < before + 32 * 1024);
  CHECK(workout());
  return check_done();
}
