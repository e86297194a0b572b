// A program that opens a plug-in, told by its name: each has its own copy of the library, or, with
// "shared" as the second argument, both have the same.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "copy.h"

enum { BLOCKS = 2000 };

#define CHECK(what) check(what, __LINE__, #what)
static void check(bool ok, int line, const char* what) {
  if (ok) { return; }
  fprintf(stderr, "host:%d: not true: %s\n", line, what);
  exit(1);
}

static copy_t copies[2];

// Blocks of both copies in turn, in heaps of their own too; freed by the copy that they are from.
static void* churn(void* arg) {
  static _Thread_local void* blocks[BLOCKS];
  mi_heap_t* heaps[2] = {copies[0].new_heap(), copies[1].new_heap()};
  for (size_t i = 0; i < BLOCKS; i++) {
    const copy_t* copy = &copies[i % 2];
    blocks[i] = i % 3 == 0 ? copy->allocate_in(heaps[i % 2], i) : copy->allocate(i);
    CHECK(blocks[i] != NULL && copy->owns(blocks[i]));
    memset(blocks[i], (int)i, i);
  }
  for (size_t i = 0; i < BLOCKS; i++) {
    for (size_t k = 0; k < i; k++) { CHECK(((unsigned char*)blocks[i])[k] == (unsigned char)i); }
    if (i % 3 != 0) { copies[i % 2].release(blocks[i]); }
  }
  for (int i = 0; i < 2; i++) { copies[i].destroy_heap(heaps[i]); }
  return arg;
}

static pthread_barrier_t meet;

// Ends after the plug-in, which it has used, is closed.
static void* outlive(void* arg) {
  copies[1].release(copies[1].allocate(100));
  pthread_barrier_wait(&meet);
  pthread_barrier_wait(&meet);
  return arg;
}

static void close_while_used(void* library) {
  pthread_t thread;
  CHECK(pthread_barrier_init(&meet, NULL, 2) == 0);
  CHECK(pthread_create(&thread, NULL, outlive, NULL) == 0);
  pthread_barrier_wait(&meet);
  dlclose(library);
  pthread_barrier_wait(&meet);
  pthread_join(thread, NULL);
}

int main(int argc, char** argv) {
  const bool shared = argc > 2 && strcmp(argv[2], "shared") == 0;
  const int scopes[] = {RTLD_LOCAL, RTLD_GLOBAL, RTLD_LOCAL | RTLD_DEEPBIND};
  for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++) {
    pthread_t threads[2];
    void* library = dlopen(argv[1], RTLD_NOW | scopes[i]);
    if (library == NULL) { fprintf(stderr, "%s\n", dlerror()); }
    CHECK(library != NULL);
    copy_t (*plugin_copy)(void) = NULL;
    *(void**)&plugin_copy = dlsym(library, "plugin_copy");
    CHECK(plugin_copy != NULL);
    copies[0] = copy_here();
    copies[1] = plugin_copy();
    CHECK((copies[0].allocate == copies[1].allocate) == shared);
    void* ours = copies[0].allocate(100);
    void* theirs = copies[1].allocate(100);
    CHECK(copies[0].owns(theirs) == shared && copies[1].owns(ours) == shared);
    copies[0].release(ours);
    copies[1].release(theirs);
    for (int t = 0; t < 2; t++) { CHECK(pthread_create(&threads[t], NULL, churn, NULL) == 0); }
    churn(NULL);
    for (int t = 0; t < 2; t++) { pthread_join(threads[t], NULL); }
    close_while_used(library);
  }
  char* volatile p = malloc(100);  // whoever's it is
  p = realloc(p, 100000);
  free(p);
  return 0;
}
