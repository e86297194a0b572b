/* A C library that is loaded and unloaded by dlopen_module.c, with a constructor, a destructor,
   thread-local storage of its own, and a key for thread-specific data that it deletes when it goes.
   */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static char* kept;
static pthread_key_t key;
static __thread char buffer[2000];

__attribute__((constructor)) static void loaded(void) {
  kept = (char*)malloc(100000);
  memset(kept, 'k', 100000);
  pthread_key_create(&key, free);
}

__attribute__((destructor)) static void unloaded(void) {
  pthread_key_delete(key);
  free(kept);
  free(malloc(3000));
}

static void* run(void* arg) {
  memset(buffer, 1, sizeof(buffer));
  pthread_setspecific(key, malloc(500));
  return arg;
}

int module_work(int number);
int module_work(int number) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, NULL) != 0) { return 0; }
  pthread_join(thread, NULL);
  buffer[number % 2000] = 1;
  return kept[number % 100000] == 'k';
}

void* module_allocate(size_t size);
void* module_allocate(size_t size) { return malloc(size); }
void module_release(void* p);
void module_release(void* p) { free(p); }
