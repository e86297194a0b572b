// Goes beyond a limit: "memory" asks for more than there is, "block" writes behind a block's end.
#include <mimalloc.h>
#include <stdint.h>
#include <string.h>

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "memory") == 0) { return mi_malloc(PTRDIFF_MAX) == NULL ? 0 : 1; }
  char* volatile p = mi_malloc(40);
  memset(p, 1, mi_usable_size(p) + 4);
  mi_free(p);
  return 0;
}
