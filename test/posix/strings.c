/* test: timeout=20 when="posix" */
/* strdup, strndup, realpath, getline, asprintf, getcwd: what the C library allocates for us, free
   takes. */
#define _GNU_SOURCE
#include "../check.h"
#include "opaque.h"

#include <limits.h>
#include <wchar.h>

static char* (*volatile do_strdup)(const char*) = strdup;
static char* (*volatile do_strndup)(const char*, size_t) = strndup;
static char* (*volatile do_realpath)(const char*, char*) = realpath;

static void copies(void) {
  char* s = do_strdup("");
  CHECK(s != NULL && s[0] == 0);
  free(s);
  s = do_strdup("hello");
  CHECK(s != NULL && strcmp(s, "hello") == 0 && malloc_usable_size(s) >= 6);
  free(s);
  static char text[100001];
  memset(text, 'x', sizeof(text) - 1);
  s = do_strdup(text);
  CHECK(s != NULL && strcmp(s, text) == 0);
  free(s);
}

static void bounded_copies(void) {
  const char raw[4] = {'a', 'b', 'c', 'd'}; /* no end: strndup must not look for one past n */
  char* s = do_strndup(raw, 4);
  CHECK(s != NULL && strcmp(s, "abcd") == 0);
  free(s);
  s = do_strndup("hello", 0);
  CHECK(s != NULL && s[0] == 0);
  free(s);
  s = do_strndup("hello", 3);
  CHECK(s != NULL && strcmp(s, "hel") == 0);
  free(s);
  s = do_strndup("hello", SIZE_MAX);
  CHECK(s != NULL && strcmp(s, "hello") == 0);
  free(s);
}

static void paths(void) {
  char* s = do_realpath("/", NULL);
  CHECK(s != NULL && strcmp(s, "/") == 0);
  free(s);
  s = do_realpath("/../.././", NULL);
  CHECK(s != NULL && strcmp(s, "/") == 0);
  free(s);
  static char buffer[PATH_MAX];
  CHECK(do_realpath("/", buffer) == buffer && strcmp(buffer, "/") == 0);
  errno = 0;
  CHECK(do_realpath("/no/such/file", NULL) == NULL && errno == ENOENT);
  errno = 0;
  CHECK(do_realpath("", NULL) == NULL && errno == ENOENT);
  errno = 0;
  CHECK(do_realpath(*(char* volatile[]){NULL}, NULL) == NULL && errno == EINVAL);
}

static void others(void) {
  char* s = NULL;
  CHECK(asprintf(&s, "%d %s", 42, "things") == 9 && strcmp(s, "42 things") == 0);
  free(s);
  s = getcwd(NULL, 0);
  CHECK(s != NULL && s[0] == '/');
  free(s);
  wchar_t* w = wcsdup(L"wide");
  CHECK(w != NULL && wcscmp(w, L"wide") == 0);
  free(w);
  char line[] = "first\nsecond";
  FILE* f = fmemopen(line, sizeof(line) - 1, "r");
  CHECK(f != NULL);
  size_t room = 1;
  char* got = (char*)malloc(1); /* getline grows a block of ours */
  CHECK(getline(&got, &room, f) == 6 && strcmp(got, "first\n") == 0 &&
        malloc_usable_size(got) >= room);
  free(got);
  fclose(f);
}

int main(void) {
  copies();
  bounded_copies();
  paths();
  others();
  return check_done();
}
