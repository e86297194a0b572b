/* A program that knows nothing of this library: with the DLL at the head of its imports, what the C
   runtime allocates for it is ours.
   redirect ours|theirs [handler] [refused]
   handler: malloc asks the new-handler; wine's own runtime does not.
   refused: the DLL was refused to change code (refuse.c). */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

typedef char is_in_fun(const void* p);
typedef int handler_fun(size_t size);
__declspec(dllimport) handler_fun* _set_new_handler(handler_fun* fun);
__declspec(dllimport) int _set_new_mode(int mode);

static is_in_fun* is_in;
static int request, failures;

static void see(const char* what, const void* p) {
  const int ours = is_in != NULL && is_in(p);
  if (p != NULL && ours == request) { return; }
  printf("%s: %s\n", what, p == NULL ? "no memory" : ours ? "ours" : "theirs");
  failures++;
}

static void expect(const char* what, int condition) {
  if (condition) { return; }
  printf("failed: %s\n", what);
  failures++;
}

static DWORD WINAPI run(void* unused) {
  (void)unused;
  void* p = malloc(100);
  see("malloc in a thread", p);
  free(p);
  return 0;
}

/* What _recalloc adds is zero, from the size that was asked for before. */
static void test_recalloc(void) {
  for (size_t size = 1; size < 300; size++) {
    unsigned char* p = (unsigned char*)malloc(size);
    memset(p, 0xDD, size);
    if (size > 8) { p = (unsigned char*)realloc(p, size - 4); }
    const size_t old = size > 8 ? size - 4 : size;
    p = (unsigned char*)_recalloc(p, 1, size + 40);
    int zero = 1;
    for (size_t i = old; i < size + 40; i++) { zero = zero && p[i] == 0; }
    expect("_recalloc clears what it adds", zero && p[0] == 0xDD);
    free(p);
  }
}

static int is_filled(const unsigned char* p, size_t size, int with) {
  while (size > 0 && p[size - 1] == with) { size--; }
  return size == 0;
}

/* The runtime's own, on memory that is ours. */
static void test_aligned(void) {
  enum { OFFSET = 24 };
  unsigned char* p = (unsigned char*)_aligned_malloc(100, 64);
  see("_aligned_malloc", p);
  expect("_aligned_malloc aligns", (size_t)p % 64 == 0);
  memset(p, 7, 100);
  p = (unsigned char*)_aligned_realloc(p, 50000, 64);
  see("_aligned_realloc", p);
  expect("_aligned_realloc aligns and copies", (size_t)p % 64 == 0 && is_filled(p, 100, 7));
  size_t (*size_of)(void*, size_t, size_t) = NULL;
  const HMODULE runtime = GetModuleHandleA("ucrtbase.dll");
  size_of = (size_t (*)(void*, size_t, size_t))(void*)GetProcAddress(runtime, "_aligned_msize");
  expect("_aligned_msize", size_of == NULL || size_of(p, 64, 0) >= 50000);
  _aligned_free(p);
  p = (unsigned char*)_aligned_offset_malloc(100, 256, OFFSET);
  see("_aligned_offset_malloc", p);
  expect("_aligned_offset_malloc aligns", (size_t)(p + OFFSET) % 256 == 0);
  memset(p, 9, 100);
  p = (unsigned char*)_aligned_offset_realloc(p, 3000, 256, OFFSET);
  see("_aligned_offset_realloc", p);
  expect("_aligned_offset_realloc aligns and copies",
         (size_t)(p + OFFSET) % 256 == 0 && is_filled(p, 100, 9));
  _aligned_free(p);
}

static void test_runtime(void) {
  char* text = _strdup("hello");
  see("_strdup", text);
  free(text);
  wchar_t* wide = _wcsdup(L"hello");
  see("_wcsdup", wide);
  free(wide);
  char* path = _fullpath(NULL, ".", 0);
  see("_fullpath", path);
  free(path);
  test_aligned();
  expect("_putenv", _putenv("TEST=ENV") == 0 && _putenv("TEST=OTHER") == 0);
  expect("getenv", strcmp(getenv("TEST"), "OTHER") == 0);
}

static int handler_calls;

static int handler(size_t size) {
  (void)size;
  return ++handler_calls < 3; /* whether to try again */
}

/* malloc asks the new-handler where it has been told to. */
static void test_handler(void) {
  volatile size_t too_much = (size_t)-1 / 4;
  (void)_set_new_handler(handler);
  expect("malloc of too much", malloc(too_much) == NULL && handler_calls == 0);
  expect("_set_new_mode", _set_new_mode(1) == 0);
  expect("malloc of too much asks", malloc(too_much) == NULL && handler_calls == 3);
  (void)_set_new_mode(0);
  (void)_set_new_handler(NULL);
}

static void test_refused(void) {
  const HMODULE dll = GetModuleHandleA("refuse.dll");
  LONG (*refused)(void) = NULL;
  if (dll != NULL) { refused = (LONG(*)(void))(void*)GetProcAddress(dll, "refused"); }
  expect("changes of code are refused", refused != NULL && refused() > 0);
}

int main(int argc, char** argv) {
  const HMODULE dll = GetModuleHandleA("mimalloc.dll");
  if (dll != NULL) { is_in = (is_in_fun*)(void*)GetProcAddress(dll, "mi_is_in_heap_region"); }
  request = argc > 1 && strcmp(argv[1], "ours") == 0;
  char (*is_redirected)(void) = NULL;
  if (dll != NULL) {
    is_redirected = (char (*)(void))(void*)GetProcAddress(dll, "mi_is_redirected");
  }
  expect("mi_is_redirected", (is_redirected != NULL && is_redirected()) == request);
  void* p = malloc(10);
  see("malloc", p);
  p = realloc(p, 100000);
  see("realloc", p);
  expect("_msize", _msize(p) >= 100000);
  free(p);
  p = calloc(3, 5);
  see("calloc", p);
  p = _recalloc(p, 10, 50);
  see("_recalloc", p);
  free(p);
  test_recalloc();
  test_runtime();
  for (int i = 2; i < argc; i++) {
    if (strcmp(argv[i], "handler") == 0) { test_handler(); }
    if (strcmp(argv[i], "refused") == 0) { test_refused(); }
  }
  const HANDLE thread = CreateThread(NULL, 0, run, NULL, 0, NULL);
  WaitForSingleObject(thread, INFINITE);
  return failures != 0;
}
