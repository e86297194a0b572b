#include <mimalloc.h>
#include <stdio.h>
#include <string.h>

/* Collects the lines of a file in one string, which the caller frees with mi_free. */
static char* read_all(FILE* file) {
  size_t length = 0, size = 64;
  char* text = mi_malloc(size);
  while (text != NULL) {
    length += fread(text + length, 1, size - length - 1, file);
    if (length < size - 1) { break; }
    size *= 2;
    text = mi_reallocf(text, size); /* frees the block where it fails */
  }
  if (text != NULL) { text[length] = 0; }
  return text;
}

int main(void) {
  FILE* file = tmpfile();
  if (file == NULL) { return 1; }
  for (int i = 0; i < 100; i++) { fprintf(file, "line %d\n", i); }
  rewind(file);
  char* text = read_all(file);
  const int ok = text != NULL && strstr(text, "line 99\n") != NULL;
  mi_free(text);
  fclose(file);
  return ok ? 0 : 1;
}
