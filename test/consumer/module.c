// A module with a copy of the library in it and thread-local variables of its own, for a program
// that knows nothing of it: it tries the copy when it is loaded.
#include <mimalloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ROOM
#define ROOM 4096
#endif
static _Thread_local char room[ROOM];

static void* use_copy(void* arg) {
  char* volatile place = room;
  memset(place, 1, ROOM);
  for (size_t size = 1; size < 100000; size += size / 2 + 1) {
    char* p = mi_malloc(size);
    if (p == NULL || !mi_is_in_heap_region(p)) { abort(); }
    memset(p, 2, size);
    mi_free(p);
  }
  for (int i = 0; i < ROOM; i++) {
    if (place[i] != 1) { abort(); }
  }
  return arg;
}

__attribute__((constructor)) static void module_loaded(void) {
  pthread_t thread;
  use_copy(NULL);
  if (pthread_create(&thread, NULL, use_copy, NULL) != 0) { abort(); }
  pthread_join(thread, NULL);
  puts("the module works");
  fflush(stdout);
}
