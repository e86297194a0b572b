/* A library that a program opens and closes stays: blocks of it, threads that have used it, forks
   and the zone still need it.
   unload LIBRARY */
#include <dlfcn.h>
#include <malloc/malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIMES = 1000, BYTES = 1000 };

static void* (*take)(size_t);
static void (*give)(void*);
static int failures;
static pthread_mutex_t closing = PTHREAD_MUTEX_INITIALIZER;

static void expect(const char* what, int holds) {
  if (holds) { return; }
  printf("failed: %s\n", what);
  failures++;
}

static void* run(void* unused) {
  (void)unused;
  give(take(BYTES));
  pthread_mutex_lock(&closing); /* the library is closed, and this thread ends */
  pthread_mutex_unlock(&closing);
  return NULL;
}

static void* open_library(const char* path) {
  void* library = dlopen(path, RTLD_NOW);
  expect("dlopen", library != NULL);
  *(void**)&take = dlsym(library, "mi_malloc");
  *(void**)&give = dlsym(library, "mi_free");
  expect("dlsym", take != NULL && give != NULL);
  return library;
}

static void once(const char* path) {
  pthread_t thread;
  void* library = open_library(path);
  void* kept = malloc(BYTES);
  pthread_mutex_lock(&closing);
  expect("pthread_create", pthread_create(&thread, NULL, run, NULL) == 0);
  give(take(BYTES));
  expect("dlclose", dlclose(library) == 0);
  pthread_mutex_unlock(&closing);
  pthread_join(thread, NULL);
  library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  expect("it is there", library != NULL && dlclose(library) == 0);
  expect("a block has its size", malloc_size(kept) >= BYTES);
  free(kept);
}

int main(int argc, char** argv) {
  int status = -1;
  if (argc < 2) { return 2; }
  for (int i = 0; i < TIMES && failures == 0; i++) { once(argv[1]); }
  const pid_t child = fork();
  if (child == 0) {
    free(malloc(BYTES));
    _exit(0);
  }
  expect("fork", child > 0 && waitpid(child, &status, 0) == child && status == 0);
  expect("the zone is the first",
         strcmp(malloc_zone_from_ptr(memset(malloc(1), 0, 1))->zone_name, "mimalloc") == 0);
  return failures != 0;
}
