// message.c: WRITERS threads set the output hook, one reads it READS times: a pair, or none; with
// the argument as it was before it was registered.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "src/service/message.c"

#ifndef WRITERS
#define WRITERS 1
#endif
#ifndef READS
#define READS 2
#endif

static int arguments[3];
static void fun_1(void) {}
static void fun_2(void) {}

static void* writer(void* arg) {
  const int i = (int)(intptr_t)arg;
  arguments[i] = i;
  hook_set(&output_hook, i == 1 ? fun_1 : fun_2, &arguments[i]);
  return NULL;
}

static void check(any_fun_t fun, void* arg) {
  if (fun == fun_1) { assert(arg == &arguments[1] && arguments[1] == 1); }
  if (fun == fun_2) { assert(arg == &arguments[2] && arguments[2] == 2); }
}

static void* reader(void* unused) {
  (void)unused;
  for (int i = 0; i < READS; i++) {
    void* arg = NULL;
    const any_fun_t fun = hook_get(&output_hook, &arg);
    check(fun, arg);
  }
  return NULL;
}

int main(void) {
  pthread_t ids[3];
  for (int i = 0; i < WRITERS; i++) {
    pthread_create(&ids[i], NULL, writer, (void*)(intptr_t)(i + 1));
  }
  pthread_create(&ids[WRITERS], NULL, reader, NULL);
  for (int i = 0; i <= WRITERS; i++) { pthread_join(ids[i], NULL); }
  void* arg = NULL;
  const any_fun_t fun = hook_get(&output_hook, &arg);
  assert(fun != NULL);
  check(fun, arg);
  assert(load_relaxed(&output_hook.version) == 2 * WRITERS);
  return 0;
}
