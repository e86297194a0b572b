/* The DLL comes to a program that runs: what the C runtime allocates from then on is ours, and its
   blocks of the time before are measured, resized and freed as ever, whatever way leads there.
   late_load          what the program imports leads to the DLL, too
   late_load hybrid   the runtime says that it is code for arm64: it is left alone */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

typedef char is_in_fun(const void* p);
typedef char is_redirected_fun(void);
typedef struct runtime {
  void* (*malloc)(size_t size);
  void* (*realloc)(void* p, size_t size);
  void* (*_recalloc)(void* p, size_t count, size_t size);
  void* (*_expand)(void* p, size_t size);
  size_t (*_msize)(void* p);
  void (*free)(void* p);
} runtime_t;

#ifdef __i386__
extern void* const imported_malloc __asm__("__imp__malloc");
#else
extern void* const imported_malloc __asm__("__imp_malloc");
#endif

static int failures;

static void expect(const char* what, int condition) {
  if (condition) { return; }
  printf("failed: %s\n", what);
  failures++;
}

enum { BLOCKS = 5, BYTES = 23 };
static char* before[2][BLOCKS];

static int is_filled(const char* p, size_t from, size_t to, char with) {
  while (from < to && p[from] == with) { from++; }
  return from >= to;
}

static void test_before(const runtime_t* runtime, char** blocks) {
  for (int i = 0; i < BLOCKS; i++) {
    expect("_msize of a block from before", runtime->_msize(blocks[i]) == BYTES);
  }
  expect("_expand to less", runtime->_expand(blocks[0], BYTES / 2) == blocks[0]);
  expect("_expand to much more", runtime->_expand(blocks[1], 1 << 22) == NULL);
  blocks[2] = (char*)runtime->realloc(blocks[2], 3000);
  expect("realloc copies", is_filled(blocks[2], 0, BYTES, 'b'));
  blocks[3] = (char*)runtime->_recalloc(blocks[3], 100, 10);
  expect("_recalloc copies and clears",
         is_filled(blocks[3], 0, BYTES, 'b') && is_filled(blocks[3], BYTES, 1000, 0));
  blocks[4] = (char*)runtime->realloc(blocks[4], 0);
  expect("realloc to nothing", blocks[4] == NULL);
  for (int i = 0; i < BLOCKS; i++) { runtime->free(blocks[i]); }
}

/* What is described at this place of its load configuration is code for arm64. */
static void say_hybrid(HMODULE runtime) {
  enum { HYBRID_AT = 0xC8, LOAD_CONFIGURATION = IMAGE_DIRECTORY_ENTRY_LOAD_CONFIG };
  char* base = (char*)runtime;
  const IMAGE_NT_HEADERS* headers =
      (const IMAGE_NT_HEADERS*)(base + ((const IMAGE_DOS_HEADER*)base)->e_lfanew);
  const DWORD at = headers->OptionalHeader.DataDirectory[LOAD_CONFIGURATION].VirtualAddress;
  DWORD protection;
  expect("the runtime has a load configuration, which can be changed",
         at != 0 && VirtualProtect(base + at, 0x100, PAGE_READWRITE, &protection));
  if (failures == 0) { base[at + HYBRID_AT] = 1; }
}

int main(int argc, char** argv) {
  const int hybrid = argc > 1 && strcmp(argv[1], "hybrid") == 0;
  const HMODULE crt = GetModuleHandleA("ucrtbase.dll");
  const runtime_t imported = {malloc, realloc, _recalloc, _expand, _msize, free};
  runtime_t exported;
  void** function = (void**)&exported;
  static const char* const names[] = {"malloc",  "realloc", "_recalloc",
                                      "_expand", "_msize",  "free"};
  for (int i = 0; i < 6; i++) { function[i] = (void*)GetProcAddress(crt, names[i]); }
  for (int i = 0; i < 2 * BLOCKS; i++) {
    before[i % 2][i / 2] = (char*)malloc(BYTES);
    memset(before[i % 2][i / 2], 'b', BYTES);
  }
  if (hybrid) { say_hybrid(crt); }
  const HMODULE dll = LoadLibraryA("mimalloc.dll");
  if (dll == NULL) { return 2; }
  is_in_fun* is_in = (is_in_fun*)(void*)GetProcAddress(dll, "mi_is_in_heap_region");
  is_redirected_fun* is_redirected =
      (is_redirected_fun*)(void*)GetProcAddress(dll, "mi_is_redirected");
  expect("mi_is_redirected", is_redirected() == !hybrid);
  HMODULE owner = NULL;
  (void)GetModuleHandleExA(
      GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
      (const char*)imported_malloc, &owner);
  expect("the program's imports", (owner == dll) == !hybrid);
  test_before(&imported, before[0]);
  test_before(&exported, before[1]);
  for (int i = 0; i < 2; i++) {
    const runtime_t* runtime = i == 0 ? &imported : &exported;
    void* p = runtime->malloc(100);
    expect("malloc", p != NULL && is_in(p) == !hybrid);
    p = runtime->realloc(p, 10000);
    expect("realloc", p != NULL && is_in(p) == !hybrid);
    runtime->free(p);
  }
  char* text = _strdup("text");
  expect("_strdup", is_in(text) == !hybrid);
  free(text);
  return failures != 0;
}
