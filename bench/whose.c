// Exercises malloc and its like, and prints the path of the library that malloc comes from.
// peers.sh runs it to see that a preloaded allocator works, and is the one in use.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 1000 };

static void require(int condition, const char* what) {
  if (!condition) {
    fprintf(stderr, "whose: %s\n", what);
    exit(1);
  }
}

// Frees what another thread has allocated, and allocates anew.
static void* replace_all(void* argument) {
  char** blocks = argument;
  for (int i = 0; i < BLOCKS; i++) {
    require(blocks[i][0] == (char)i, "contents of a block changed");
    free(blocks[i]);
    blocks[i] = calloc((size_t)i + 1, 3);
    require(blocks[i] != NULL && blocks[i][3 * i + 2] == 0, "calloc");
  }
  return NULL;
}

int main(void) {
  static char* blocks[BLOCKS];
  for (int i = 0; i < BLOCKS; i++) {
    blocks[i] = malloc((size_t)i * 7 + 1);
    require(blocks[i] != NULL && malloc_usable_size(blocks[i]) > (size_t)i * 7, "malloc");
    memset(blocks[i], i, (size_t)i * 7 + 1);
  }
  pthread_t thread;
  require(pthread_create(&thread, NULL, replace_all, blocks) == 0, "no thread");
  pthread_join(thread, NULL);
  for (int i = 0; i < BLOCKS; i++) {
    blocks[i] = realloc(blocks[i], 5000);
    require(blocks[i] != NULL, "realloc");
    free(blocks[i]);
  }
  void* aligned;
  require(posix_memalign(&aligned, 4096, 100) == 0 && (uintptr_t)aligned % 4096 == 0, "alignment");
  free(aligned);

  Dl_info info;
  void* symbol = dlsym(RTLD_DEFAULT, "malloc");
  require(symbol != NULL && dladdr(symbol, &info) != 0, "malloc is in no library");
  puts(info.dli_fname);
  return 0;
}
