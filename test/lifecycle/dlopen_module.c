/* test: when=shared timeout=60 libs="dl" */
/* A C++ and a C library that allocate in all their corners are loaded, used and unloaded a hundred
   times; blocks pass between them and us, and outlive them. MI_TEST_MODULE_DIR names the directory
   that holds them. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

#include <dlfcn.h>
#include <limits.h>

static void* open_module(const char* name) {
  const char* directory = getenv("MI_TEST_MODULE_DIR");
  char path[PATH_MAX];
  void* module = NULL;
  const char* const forms[] = {"%s/%s.so", "%s/lib%s.so"};
  for (int i = 0; i < 2 && module == NULL && directory != NULL; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(path, sizeof(path), forms[i], directory, name);
#pragma GCC diagnostic pop
    module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  }
  return module;
}

static bool has_file(const char* name) {
  char path[PATH_MAX];
  snprintf(path, sizeof(path), "%s/%s", getenv("MI_TEST_MODULE_DIR"), name);
  return access(path, R_OK) == 0;
}

static void use_once(const char* name, int number) {
  int (*work)(int);
  void* (*allocate)(size_t);
  void (*release)(void*);
  void* module = open_module(name);
  CHECK(module != NULL);
  if (module == NULL) { return; }
  *(void**)&work = dlsym(module, "module_work");
  *(void**)&allocate = dlsym(module, "module_allocate");
  *(void**)&release = dlsym(module, "module_release");
  CHECK(work(number) == 1);
  release(malloc(1000)); /* operator delete on a malloc'd block of the same allocator */
  unsigned char* p = (unsigned char*)allocate(5000);
  CHECK(p != NULL);
  memset(p, 9, 5000);
  CHECK(dlclose(module) == 0);
  CHECK(p[4999] == 9);
  free(p);
}

static void* use_in_thread(void* name) {
  for (int i = 0; i < 10; i++) { use_once((const char*)name, i); }
  return NULL;
}

int main(void) {
  if (getenv("MI_TEST_MODULE_DIR") == NULL) { return skip("MI_TEST_MODULE_DIR is not set"); }
  const char* const names[] = {"cxx_module", "c_module"};
  for (int n = 0; n < 2; n++) {
    if (n == 0 && !has_file("cxx_module.so")) { continue; } /* built without a C++ compiler */
    size_t early = 0;
    for (int i = 0; i < 100; i++) {
      use_once(names[n], i);
      if (i == 20) { early = resident_kib(); }
    }
    CHECK(is_emulated() || resident_kib() < early + 4 * 1024);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, use_in_thread, *(void**)&names[n]) == 0);
    pthread_join(thread, NULL);
  }
  return check_done();
}
