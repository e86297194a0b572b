/* test: libs="pthread" when="release threads"
   A build that checks what is freed, but knows of no block whether it is live (MI_SECURE=1 and 2,
   MI_PADDING), refuses at least what a release build refuses: the block that was freed last, by its
   thread or by another one. */
#undef MI_SECURE
#define MI_SECURE 1
#include "../../src/static.c"

#include "../check.h"

#include <pthread.h>

static int last_error;

static void note_error(int error, void* arg) {
  (void)arg;
  last_error = error;
}

static void* free_it(void* p) {
  mi_free(p);
  return NULL;
}

static void free_abroad(void* p) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, free_it, p) == 0 && pthread_join(thread, NULL) == 0);
}

static void free_twice(void (*first)(void*), void (*second)(void*), size_t size) {
  void *p = mi_malloc(size), *beside = mi_malloc(size);
  CHECK(p != NULL && beside != NULL);
  first(p);
  last_error = 0;
  second(p);
  CHECK(last_error == EAGAIN);
  void *a = mi_malloc(size), *b = mi_malloc(size);
  CHECK(a != NULL && b != NULL && a != b);
  mi_free(a);
  mi_free(b);
  mi_free(beside);
}

int main(void) {
  mi_register_error(note_error, NULL);
  for (size_t size = 8; size <= 8 << 10; size *= 4) {
    free_twice(mi_free, mi_free, size);
    free_twice(free_abroad, free_abroad, size);
    free_twice(free_abroad, mi_free, size);
  }
  return check_done();
}
