/* test: when=glibc timeout=20 */
/* malloc_info writes well-formed XML with root <malloc>, refuses options it does not know, and says
   what is in use. */
#define _GNU_SOURCE
#include "../check.h"
#include "opaque.h"

#include <ctype.h>

static char text[1 << 20];

static int write_info(int options) {
  memset(text, 0, sizeof(text));
  FILE* f = fmemopen(text, sizeof(text) - 1, "w");
  CHECK(f != NULL);
  const int result = malloc_info(options, f);
  fclose(f);
  return result;
}

typedef struct {
  char open[32][64]; /* names of the elements that are open */
  int depth;
  int roots;
} parser_t;

static const char* name_end(const char* s) {
  while (isalnum((unsigned char)*s) || *s == '_' || *s == '-') { s++; }
  return s;
}

/* name="value" pairs, up to the > that ends the tag; NULL when that is not what is there. */
static const char* attributes_end(const char* s) {
  for (;;) {
    while (isspace((unsigned char)*s)) { s++; }
    if (*s == '>' || *s == '/') { return s; }
    const char* e = name_end(s);
    if (e == s || e[0] != '=' || e[1] != '"') { return NULL; }
    s = strpbrk(e + 2, "\"<>");
    if (s == NULL || *s != '"') { return NULL; }
    s++;
  }
}

/* One tag from its '<' on; the place after its '>', or NULL. */
static const char* tag_end(parser_t* x, const char* s) {
  const bool closing = s[1] == '/';
  const char* name = s + (closing ? 2 : 1);
  const char* e = name_end(name);
  char copy[64];
  if (e == name || (size_t)(e - name) >= sizeof(copy)) { return NULL; }
  memcpy(copy, name, (size_t)(e - name));
  copy[e - name] = 0;
  if (closing) {
    if (*e != '>' || x->depth == 0 || strcmp(x->open[--x->depth], copy) != 0) { return NULL; }
    return e + 1;
  }
  e = attributes_end(e);
  if (e == NULL) { return NULL; }
  x->roots += (x->depth == 0);
  if (*e == '/') { return e[1] == '>' ? e + 2 : NULL; }
  if (x->depth == 32) { return NULL; }
  strcpy(x->open[x->depth++], copy);
  return e + 1;
}

static bool well_formed(const char* s) {
  static parser_t x;
  memset(&x, 0, sizeof(x));
  while (*s != 0) {
    if (*s == '<') {
      s = tag_end(&x, s);
      if (s == NULL) { return false; }
    } else if (*s == '>' || *s == '&' || (x.depth == 0 && !isspace((unsigned char)*s))) {
      return false;
    } else {
      s++;
    }
  }
  return x.depth == 0 && x.roots == 1;
}

/* The largest number in any attribute `name`. */
static size_t largest(const char* name) {
  size_t most = 0;
  for (const char* s = strstr(text, name); s != NULL; s = strstr(s + 1, name)) {
    const size_t value = strtoul(s + strlen(name), NULL, 10);
    if (value > most) { most = value; }
  }
  return most;
}

/* The sum of `name`="…" in the elements of the first <sizes>. */
static size_t sum_of_sizes(const char* name) {
  const char* end = strstr(text, "</sizes>");
  size_t sum = 0;
  for (const char* s = strstr(text, name); s != NULL && s < end; s = strstr(s + 1, name)) {
    sum += strtoul(s + strlen(name), NULL, 10);
  }
  return sum;
}

static size_t rest_of_heap(void) {
  const char* line = strstr(text, "<total type=\"rest\"");
  const char* size = line == NULL ? NULL : strstr(line, " size=\"");
  return size == NULL ? 0 : strtoul(size + 7, NULL, 10);
}

/* Half of many blocks are free: they are in <sizes>; with our library all that is free is. */
static void sizes_are_filled(void) {
  enum { BLOCKS = 4000, SIZE = 2000 };
  static void* block[BLOCKS];
  for (int i = 0; i < BLOCKS; i++) { block[i] = memset(malloc(SIZE), 1, SIZE); }
  for (int i = 0; i < BLOCKS; i += 2) { free(block[i]); }
  void* large = malloc(3 << 20);
  free(memset(large, 1, 3 << 20));
  CHECK(write_info(0) == 0);
  CHECK(sum_of_sizes(" total=\"") >= BLOCKS / 4 * SIZE && sum_of_sizes(" count=\"") > 100);
  if (getenv("LD_PRELOAD") != NULL) { CHECK(sum_of_sizes(" total=\"") == rest_of_heap()); }
  for (int i = 1; i < BLOCKS; i += 2) { free(block[i]); }
}

int main(void) {
  /* The checker itself. */
  CHECK(well_formed("<a x=\"1\"><b/>t</a>\n") && !well_formed("<a><b></a></b>") &&
        !well_formed("<a x=1/>"));
  CHECK(write_info(0) == 0);
  CHECK(strncmp(text, "<malloc version=\"", 17) == 0);
  CHECK(well_formed(text));

  void* block[32];
  for (int i = 0; i < 32; i++) { block[i] = memset(malloc(1 << 20), 1, 1 << 20); }
  CHECK(write_info(0) == 0);
  CHECK(well_formed(text));
  CHECK(largest("size=\"") >= (32u << 20));
  for (int i = 0; i < 32; i++) { free(block[i]); }

  sizes_are_filled();

  CHECK(write_info(1) == EINVAL);
  CHECK(text[0] == 0);
  CHECK(write_info(-1) == EINVAL);
  return check_done();
}
