/* What another library's initializer has allocated before ours ran goes back afterwards. Compiled
   twice: with EARLY_LIBRARY it is that library, which the program is linked with first. */
#include <malloc/malloc.h>
#include <stdlib.h>
#include <string.h>

extern char *early_block, *early_text;

#ifdef EARLY_LIBRARY
char *early_block, *early_text;

__attribute__((constructor)) static void allocate(void) {
  early_block = strcpy(malloc(100), "early");
  early_text = strdup("text");
  free(realloc(malloc(10), 100000));
  free(strdup("gone"));
}
#else
int main(void) {
  if (early_block == NULL || early_text == NULL) { return 2; }
  if (malloc_size(early_block) < 100 || malloc_size(early_text) < 5) { return 3; }
  early_block = realloc(early_block, 5000);
  if (strcmp(early_block, "early") != 0 || strcmp(early_text, "text") != 0) { return 4; }
  free(early_block);
  free(early_text);
  const malloc_zone_t* zone = malloc_zone_from_ptr(early_block = malloc(10));
  return zone != NULL && strcmp(zone->zone_name, "mimalloc") == 0 ? 0 : 5;
}
#endif
