/* The DLL is loaded, used by several threads, some of which live on, and freed, again and again.
   unload DLL nothing TIMES    redirects nothing: nothing is left
   unload DLL blocks TIMES     … but blocks in use, unless destroy_on_exit says otherwise
   unload DLL pinned TIMES     redirects: it stays where it is, and takes no more memory for it;
                               five times as often */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

typedef void output_fun(const char* text, void* arg);
typedef struct library {
  void* (*take)(size_t size);
  void (*give)(void* p);
  void* (*heap_new)(void);
  void* (*heap_take)(void* heap, size_t size);
  void (*heap_delete)(void* heap); /* NULL: heaps are left to the library's end */
  void (*say_to)(output_fun* output, void* arg);
} library_t;

static library_t library;
static int failures;

static void expect(const char* what, int condition) {
  if (condition) { return; }
  printf("failed: %s\n", what);
  failures++;
}

/* ---- what a process has ---- */

typedef struct space {
  size_t taken;     /* bytes of addresses */
  size_t committed; /* of memory that counts towards the system's limit */
  int handles;
  int indexes; /* of thread-local storage that are left */
} space_t;

static int count_indexes(void) {
  static DWORD had[2000];
  int count = 0;
  while (count < 2000 && (had[count] = TlsAlloc()) != TLS_OUT_OF_INDEXES) { count++; }
  for (int i = 0; i < count; i++) { TlsFree(had[i]); }
  return count;
}

/* Not every wine knows GetProcessHandleCount. */
static int count_handles(void) {
  enum { MOST = 4000, STEP = 4 };
  DWORD flags;
  int count = 0;
  for (size_t i = STEP; i < MOST; i += STEP) {
    count += GetHandleInformation((HANDLE)i, &flags) != 0;
  }
  return count;
}

/* The heaps of the system grow as threads come and go. The library takes nothing there. */
static int is_of_system(const MEMORY_BASIC_INFORMATION* info) {
  return info->AllocationBase == (void*)GetProcessHeap() ||
         info->AllocationBase == (void*)_get_heap_handle();
}

static space_t space(void) {
  MEMORY_BASIC_INFORMATION info;
  space_t now = {0, 0, count_handles(), count_indexes()};
  for (char* p = NULL; VirtualQuery(p, &info, sizeof(info)) != 0;) {
    if (info.State != MEM_FREE) { now.taken += info.RegionSize; }
    if (info.State == MEM_COMMIT && info.Type == MEM_PRIVATE && !is_of_system(&info)) {
      now.committed += info.RegionSize;
    }
    p = (char*)info.BaseAddress + info.RegionSize;
  }
  return now;
}

static void print_space(const char* when, const space_t* at) {
  enum { KIB = 1024 };
  printf("%s: %lu KiB of addresses, %lu KiB committed, %d handles, %d indexes left\n", when,
         (unsigned long)(at->taken / KIB), (unsigned long)(at->committed / KIB), at->handles,
         at->indexes);
}

/* ---- threads ---- */

enum { SIZES = 6, BLOCKS = 40 };
static const size_t sizes[SIZES] = {8, 100, 5000, 100000, 10000000, 40000000};

/* All have their blocks at the same time, each time: so the most that is in use does not depend on
   how the threads take turns. */
enum { WORKERS = 3, THREADS = WORKERS + 2 };
static volatile LONG have_blocks;

static void wait_for_others(void) {
  const LONG round = (InterlockedIncrement(&have_blocks) - 1) / THREADS;
  while (have_blocks / THREADS <= round) { Sleep(0); }
}

static void use(void) {
  static const int counts[SIZES] = {BLOCKS, BLOCKS, BLOCKS, 4, 1, 1};
  void* blocks[SIZES * BLOCKS];
  void* heap = library.heap_new();
  int count = 0;
  for (int i = 0; i < SIZES; i++) {
    for (int j = 0; j < counts[i]; j++) {
      void* p = j % 2 == 0 ? library.take(sizes[i]) : library.heap_take(heap, sizes[i]);
      if (p == NULL) {
        printf("failed: no memory for a block\n");
        exit(1);
      }
      memset(p, j, sizes[i] < 4096 ? sizes[i] : 4096);
      blocks[count++] = p;
    }
  }
  wait_for_others();
  while (count > 0) { library.give(blocks[--count]); }
  if (library.heap_delete != NULL) { library.heap_delete(heap); }
}

static DWORD WINAPI run_once(void* unused) {
  (void)unused;
  use();
  return 0;
}

/* They live on while the library goes. */
static HANDLE begin[WORKERS], done[WORKERS];
static void* passed[WORKERS]; /* from one to the next, which frees it */

static DWORD WINAPI work(void* arg) {
  const int self = (int)(size_t)arg;
  while (WaitForSingleObject(begin[self], INFINITE) == WAIT_OBJECT_0) {
    use();
    library.give(passed[self]);
    passed[self] = library.take(200);
    SetEvent(done[self]);
  }
  return 0;
}

static void start_workers(void) {
  for (int i = 0; i < WORKERS; i++) {
    begin[i] = CreateEventA(NULL, FALSE, FALSE, NULL);
    done[i] = CreateEventA(NULL, FALSE, FALSE, NULL);
    CloseHandle(CreateThread(NULL, 0, work, (void*)(size_t)i, 0, NULL));
  }
}

static void let_all_run(void) {
  HANDLE thread = CreateThread(NULL, 0, run_once, NULL, 0, NULL);
  for (int i = 0; i < WORKERS; i++) { SetEvent(begin[i]); }
  use();
  WaitForSingleObject(thread, INFINITE);
  CloseHandle(thread);
  WaitForMultipleObjects(WORKERS, done, TRUE, INFINITE);
  for (int i = 0; i < WORKERS; i++) {
    library.give(passed[i]);
    passed[i] = NULL;
  }
}

/* ---- the library comes and goes ---- */

static char said[4000];

static void hear(const char* text, void* arg) {
  (void)arg;
  strncat(said, text, sizeof(said) - strlen(said) - 1);
}

static LONG CALLBACK go_on(EXCEPTION_POINTERS* info) {
  (void)info;
  return EXCEPTION_CONTINUE_EXECUTION;
}

/* Each handler is asked, in its turn. */
static void raise_exception(void) {
  enum { ANY = 0xE0001234 };
  void* handler = AddVectoredExceptionHandler(0, go_on);
  RaiseException(ANY, 0, 0, NULL);
  RemoveVectoredExceptionHandler(handler);
}

static HMODULE load(const char* name, int stays) {
  HMODULE dll = LoadLibraryA(name);
  void** function = (void**)&library;
  static const char* const names[] = {"mi_malloc",      "mi_free",        "mi_heap_new",
                                      "mi_heap_malloc", "mi_heap_delete", "mi_register_output"};
  for (int i = 0; i < 6; i++) { function[i] = (void*)GetProcAddress(dll, names[i]); }
  if (!stays) { library.heap_delete = NULL; }
  return dll;
}

/* What stacks, the runtime's heap and DLLs of the system take once, they have then. */
static void* no_heap(void) { return NULL; }
static void* take_for_heap(void* heap, size_t size) { return heap == NULL ? malloc(size) : NULL; }
static void warm_up(void) {
  static const char* const names[] = {"advapi32.dll", "bcryptprimitives.dll"};
  library = (library_t){malloc, free, no_heap, take_for_heap, NULL, NULL};
  for (int i = 0; i < 20; i++) {
    HMODULE dll = LoadLibraryA(names[i % 2]);
    let_all_run();
    if (dll != NULL) { FreeLibrary(dll); }
    raise_exception();
  }
}

static void come_and_go(const char* name, int stays) {
  HMODULE dll = load(name, stays);
  let_all_run();
  expect("FreeLibrary", FreeLibrary(dll));
  expect("it is there, or has gone", (GetModuleHandleA(name) == dll) == stays);
  raise_exception();
}

static void test_repeatedly(const char* name, int stays, int times) {
  enum { EARLY = 10 };
  /* What one time takes, about; and an arena, which random places may ask for late. */
  enum { MOST = 64 << 20, ARENA = 160 << 20 };
  const space_t none = space();
  space_t early = none;
  for (int i = 0; i < times && failures == 0; i++) {
    come_and_go(name, stays);
    if (i == EARLY) { early = space(); }
  }
  const space_t late = space();
  print_space("before", &none);
  print_space("early", &early);
  print_space("late", &late);
  const space_t* as = stays ? &early : &none;
  const size_t more = stays ? MOST : 0;
  expect("the same addresses", late.taken <= as->taken + more + (stays ? ARENA : 0));
  expect("the same memory", late.committed <= as->committed + more);
  expect("the same handles", late.handles == as->handles);
  expect("the same indexes", late.indexes == as->indexes);
}

/* ---- blocks that are in use ---- */

static int is_filled(const char* p, size_t bytes, char with) {
  size_t i = 0;
  while (i < bytes && p[i] == with) { i++; }
  return i == bytes;
}

static int is_free(const void* p) {
  MEMORY_BASIC_INFORMATION info;
  return VirtualQuery(p, &info, sizeof(info)) != 0 && info.State == MEM_FREE;
}

static void test_blocks(const char* name, int stay) {
  enum { MOST = 1 << 20 };
  char* blocks[SIZES];
  size_t bytes = 0;
  const space_t before = space();
  HMODULE dll = load(name, 0);
  said[0] = 0;
  library.say_to(hear, NULL);
  let_all_run();
  for (int i = 0; i < SIZES; i++) {
    blocks[i] = (char*)library.take(sizes[i]);
    memset(blocks[i], 'a' + i, sizes[i]);
    bytes += sizes[i];
  }
  expect("FreeLibrary", FreeLibrary(dll) && GetModuleHandleA(name) == NULL);
  for (int i = 0; i < SIZES; i++) {
    expect("a block stays as it is, or goes",
           stay ? is_filled(blocks[i], sizes[i], (char)('a' + i)) : is_free(blocks[i]));
  }
  expect("it is said", strstr(said, stay ? "KiB with them stay" : "KiB with them go") != NULL);
  const space_t after = space();
  print_space("before", &before);
  print_space("after", &after);
  printf("%lu KiB are in use: %s", (unsigned long)(bytes / 1024), said);
  expect("little else stays",
         stay ? after.committed < before.committed + bytes + MOST
              : after.committed == before.committed && after.taken == before.taken);
}

int main(int argc, char** argv) {
  if (argc < 4) { return 2; }
  const char* name = argv[1];
  const int times = atoi(argv[3]);
  const int pinned = strcmp(argv[2], "pinned") == 0;
  SetEnvironmentVariableA("MIMALLOC_DISABLE_REDIRECT", pinned ? "0" : "1");
  SetEnvironmentVariableA("MIMALLOC_GUARDED_SAMPLE_RATE", pinned ? "0" : "20");
  SetEnvironmentVariableA("MIMALLOC_SHOW_ERRORS", "1");
  SetEnvironmentVariableA("MIMALLOC_SHOW_LEAKS", pinned ? "0" : "1"); /* a handle, and stacks */
  start_workers();
  warm_up();
  if (strcmp(argv[2], "blocks") == 0) {
    test_blocks(name, 1);
    test_repeatedly(name, 0, times);
    SetEnvironmentVariableA("MIMALLOC_DESTROY_ON_EXIT", "1");
    test_blocks(name, 0);
  } else {
    test_repeatedly(name, pinned, pinned ? 5 * times : times); /* what stays is quick */
  }
  return failures != 0;
}
