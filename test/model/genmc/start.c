// process_init (src/heap/process.c): CALLERS threads; set up once, and seen by all. [I1]
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "src/port/port.h"
#define port_relax() break
#include "src/heap/process.c"

#ifndef CALLERS
#define CALLERS 2
#endif

void __VERIFIER_assume(bool);
static void port_wait(_Atomic(uint32_t)* word, uint32_t value) {
  __VERIFIER_assume(load_relaxed(word) != value);
}
static void port_wake_one(_Atomic(uint32_t)* word) { (void)word; }

static int set_up;
static void options_init(void) { set_up++; }
static void options_watch(option_changed_fun* changed) { (void)changed; }
static void guard_option_changed(mi_option_t option) { (void)option; }
static void heap_main_setup(heap_t* heap, subproc_t* subproc) {
  (void)heap, (void)subproc, set_up++;
}
static void registry_add_subproc(subproc_t* subproc) { (void)subproc, set_up++; }
static void thread_on_exit(void* argument) { (void)argument; }
static int port_thread_exit_init(void (*on_exit)(void*)) { return on_exit == NULL; }

static void* caller(void* arg) {
  process_init();
  assert(set_up == 3);
  process_init();
  return arg;
}

int main(void) {
  pthread_t ids[CALLERS];
  for (int i = 0; i < CALLERS; i++) { pthread_create(&ids[i], NULL, caller, NULL); }
  for (int i = 0; i < CALLERS; i++) { pthread_join(ids[i], NULL); }
  assert(set_up == 3);
  return 0;
}
