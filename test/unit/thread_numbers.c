/* test: libs="pthread" when="threads"
   Each thread has a number, also one that has not asked for memory: reports name threads by it,
   and debug builds tell by it whether a block was freed. */
#include "../../src/static.c"

#include "../check.h"

#include <pthread.h>

static void* block;

static void* free_only(void* number) {
  *(uint32_t*)number = port_thread_number();
  mi_free(block);
  return NULL;
}

int main(void) {
  uint32_t number = 0;
  pthread_t thread;
  block = mi_malloc(100);
  CHECK(block != NULL && pthread_create(&thread, NULL, free_only, &number) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(number != 0 && number != port_thread_number() && port_thread_number() != 0);
  return check_done();
}
