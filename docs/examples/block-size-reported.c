#include <mimalloc.h>
#include <string.h>

int main(void) {
  size_t usable = 0, old = 0, new = 0, freed = 0;
  char* block = mi_umalloc(100, &usable); /* usable: 100 or a little more */
  if (block == NULL) { return 1; }
  memset(block, 1, usable); /* all of it may be used */
  char* longer = mi_urealloc(block, 5000, &old, &new);
  if (longer == NULL) { return 1; }
  mi_ufree(longer, &freed);
  return usable >= 100 && old == usable && new >= 5000 && freed == new ? 0 : 1;
}
