// Blocks until there is no more memory: prints how much there was by then, as the program asked for
// it. Without an argument they have 1 MiB, else 16 to 1000 bytes. See limit.sh.
#include <stdio.h>
#include <stdlib.h>

enum { MIB = 1 << 20 };

static size_t next_size(int small) {
  static unsigned state = 1;
  state = state * 1664525u + 1013904223u;
  return small ? 16 + (state >> 8) % 985 : MIB;
}

int main(int count, char** arguments) {
  unsigned long long bytes = 0;
  (void)arguments;
  size_t size = next_size(count > 1);
  for (char* volatile p; (p = malloc(size)) != NULL; size = next_size(count > 1)) {
    p[0] = 1;
    bytes += size;
  }
  printf("%llu\n", bytes / MIB);
  return 0;
}
