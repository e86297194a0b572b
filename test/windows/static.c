/* The C runtime's functions in a program that the library is linked into: what they hand out is
   ours, they do what the runtime's own do, and what others of the runtime allocate can be freed. */
#include <direct.h>
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "mimalloc.h"

#ifndef __MINGW32__ /* Wine's headers have not all */
__declspec(dllimport) void* _aligned_recalloc(void* p, size_t count, size_t size, size_t alignment);
__declspec(dllimport) size_t _aligned_msize(void* p, size_t alignment, size_t offset);
__declspec(dllimport) int _dupenv_s(char** buffer, size_t* size, const char* name);
__declspec(dllimport) int _wdupenv_s(wchar_t** buffer, size_t* size, const wchar_t* name);
#endif

static int failures;

static void expect(const char* what, int condition) {
  if (condition) { return; }
  printf("failed: %s\n", what);
  failures++;
}

static void* see(const char* what, void* p) {
  expect(what, p != NULL && mi_is_in_heap_region(p));
  return p;
}

static int is_zero(const unsigned char* p, size_t from, size_t to) {
  while (from < to && p[from] == 0) { from++; }
  return from >= to;
}

static void test_plain(void) {
  volatile size_t too_much = SIZE_MAX / 2 + 1;
  void* p = see("malloc", malloc(10));
  p = see("realloc", realloc(p, 1000));
  expect("_msize", _msize(p) >= 1000);
  expect("_expand", _expand(p, 900) == p && _expand(p, 1 << 20) == NULL);
  expect("realloc to nothing", realloc(p, 0) == NULL);
  p = see("calloc", calloc(10, 10));
  expect("calloc clears", is_zero((unsigned char*)p, 0, 100));
  free(p);
  errno = 0;
  expect("malloc of too much", malloc(too_much) == NULL && errno == ENOMEM);
  errno = 0;
  expect("calloc of too much", calloc(too_much, 4) == NULL && errno == ENOMEM);
  for (size_t size = 1; size < 200; size++) {
    unsigned char* q = (unsigned char*)malloc(size);
    memset(q, 0xDD, size);
    q = (unsigned char*)see("_recalloc", _recalloc(q, 1, size + 40));
    expect("_recalloc clears what it adds", is_zero(q, size, size + 40) && q[0] == 0xDD);
    free(q);
  }
}

static void test_aligned(void) {
  for (size_t alignment = 8; alignment <= 65536; alignment *= 2) {
    unsigned char* p = (unsigned char*)see("_aligned_malloc", _aligned_malloc(100, alignment));
    expect("_aligned_malloc aligns", (size_t)p % alignment == 0);
    memset(p, 7, 100);
    p = (unsigned char*)see("_aligned_realloc", _aligned_realloc(p, 5000, alignment));
    expect("_aligned_realloc aligns and copies", (size_t)p % alignment == 0 && p[99] == 7);
    _aligned_free(p);
    p = (unsigned char*)see("_aligned_offset_malloc", _aligned_offset_malloc(100, alignment, 8));
    expect("_aligned_offset_malloc aligns", ((size_t)p + 8) % alignment == 0);
    p = (unsigned char*)see("_aligned_offset_realloc",
                            _aligned_offset_realloc(p, 3000, alignment, 8));
    expect("_aligned_offset_realloc aligns", ((size_t)p + 8) % alignment == 0);
    expect("_aligned_realloc to nothing", _aligned_offset_realloc(p, 0, alignment, 8) == NULL);
  }
#ifdef _UCRT
  unsigned char* p = (unsigned char*)_aligned_malloc(64, 64);
  memset(p, 7, 64);
  p = (unsigned char*)see("_aligned_recalloc", _aligned_recalloc(p, 10, 100, 64));
  expect("_aligned_recalloc clears", is_zero(p, _aligned_msize(p, 64, 0), 1000) && p[63] == 7);
  expect("_aligned_msize", _aligned_msize(p, 64, 0) >= 1000);
  _aligned_free(p);
#endif
}

static void test_strings(void) {
  char* s = (char*)see("_strdup", _strdup("text"));
  expect("_strdup copies", strcmp(s, "text") == 0);
  free(s);
  wchar_t* w = (wchar_t*)see("_wcsdup", _wcsdup(L"text"));
  expect("_wcsdup copies", wcscmp(w, L"text") == 0);
  free(w);
#ifdef _UCRT
  size_t size = 0;
  expect("_putenv", _putenv("MI_TEST=value") == 0);
  expect("_dupenv_s", _dupenv_s(&s, &size, "MI_TEST") == 0 && size == 6);
  free(see("_dupenv_s", s));
  expect("_wdupenv_s", _wdupenv_s(&w, &size, L"MI_TEST") == 0 && size == 6);
  free(see("_wdupenv_s", w));
#endif
}

/* The runtime's other functions have its own memory, which comes back to it. */
static void test_foreign(void) {
  char* s = _getcwd(NULL, 0);
  expect("_getcwd", s != NULL);
  free(s);
  s = _fullpath(NULL, ".", 0);
  const size_t length = strlen(s);
  s = (char*)see("realloc of the runtime's", realloc(s, 5000));
  expect("realloc of the runtime's copies", strlen(s) == length);
  free(s);
  FILE* file = tmpfile();
  if (file != NULL) { fclose(file); }
}

int main(void) {
  expect("mi_is_redirected", mi_is_redirected());
  test_plain();
  test_aligned();
  test_strings();
  test_foreign();
  return failures != 0;
}
