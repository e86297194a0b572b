// The library beside the C library's malloc, whose names it leaves alone: neither takes memory of
// the other's. See beside.sh.
#include <mimalloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 200, STEP = 50, LEAST = 100 };

static size_t bytes_of(int i) { return LEAST + (size_t)i * STEP; }

static int is_filled(const unsigned char* block, size_t bytes, unsigned char value) {
  size_t i = 0;
  while (i < bytes && block[i] == value) { i++; }
  return i == bytes;
}

int main(void) {
  unsigned char *theirs[BLOCKS], *ours[BLOCKS];
  for (int i = 0; i < BLOCKS; i++) {
    theirs[i] = malloc(bytes_of(i));
    ours[i] = mi_malloc(bytes_of(i));
    if (theirs[i] == NULL || ours[i] == NULL || mi_check_owned(theirs[i])) { return 2; }
    memset(theirs[i], i, bytes_of(i));
    memset(ours[i], ~i, bytes_of(i));
  }
  for (int i = 0; i < BLOCKS; i++) {
    if (!is_filled(theirs[i], bytes_of(i), (unsigned char)i)) { return 3; }
    if (!is_filled(ours[i], bytes_of(i), (unsigned char)~i)) { return 4; }
    free(theirs[i]);
    mi_free(ours[i]);
  }
  return 0;
}
