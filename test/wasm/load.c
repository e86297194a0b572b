// Blocks of sizes that are equally likely, of which a random half is replaced again and again.
//   load 1    a million of 8 to 64 bytes, replaced three times
//   load 2    50,000 of up to 1 KiB, ten times
//   load 3    the same with one in a hundred of up to 300 KB
#include <stdlib.h>

enum { MOST = 1000000 };
static void* blocks[MOST];
static unsigned state = 1;

static unsigned below(unsigned limit) {
  state = state * 1664525u + 1013904223u;
  return (unsigned)(((unsigned long long)(state >> 8) * limit) >> 24);
}

static size_t next_size(int load) {
  if (load == 1) { return 8 + below(57); }
  if (load == 3 && below(100) == 0) { return 1 + below(300000); }
  return 1 + below(1024);
}

int main(int argument_count, char** arguments) {
  const int load = argument_count > 1 ? atoi(arguments[1]) : 1;
  const unsigned count = load == 1 ? MOST : 50000;
  const unsigned replaced = count / 2 * (load == 1 ? 3 : 10);
  for (unsigned i = 0; i < count; i++) { blocks[i] = malloc(next_size(load)); }
  for (unsigned i = 0; i < replaced; i++) {
    void** block = &blocks[below(count)];
    free(*block);
    *block = malloc(next_size(load));
    if (*block == NULL) { return 1; }
  }
  return 0;
}
