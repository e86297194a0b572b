/* A process for tools to look at, with blocks in use and blocks that nothing points to. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCKS = 1000, BYTES = 1000, SECONDS = 120 };

static void* kept[BLOCKS];

static void leak(void) {
  for (int i = 0; i < BLOCKS; i++) { memset(malloc(BYTES), 1, BYTES); }
}

int main(void) {
  for (int i = 0; i < BLOCKS; i++) { kept[i] = malloc(BYTES); }
  leak();
  sleep(SECONDS);
  return kept[0] == NULL;
}
