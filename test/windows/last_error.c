/* What the program last failed with stays, whatever is allocated and freed; and threads that have
   ended are not counted and leave no committed memory, after ten thousand of them. */
#include <stdio.h>
#include <windows.h>

#include "mimalloc-stats.h"
#include "mimalloc.h"

enum { MARK = 42, THREADS = 10000, STACK_BYTES = 1 << 17, AT_ONCE = 50, SLACK_BYTES = 8 << 20 };
static LONG failures;

static void expect(const char* what) {
  if (GetLastError() != MARK) {
    printf("%s changed the last error to %lu\n", what, GetLastError());
    InterlockedIncrement(&failures);
  }
  SetLastError(MARK);
}

static DWORD WINAPI run(void* unused) {
  /* The last so large that all threads together have it in 32 bits too. */
  static const size_t sizes[] = {1,      100,     5000,
                                 100000, 5000000, sizeof(void*) == 4 ? 8000000 : 50000000};
  (void)unused;
  SetLastError(MARK);
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
    void* p = mi_malloc(sizes[i]);
    expect("malloc");
    p = mi_realloc(p, sizes[i] * 2);
    expect("realloc");
    p = mi_realloc(p, sizes[i]);
    expect("realloc to less");
    mi_free(p);
    expect("free");
  }
  mi_collect(true);
  expect("collect");
  mi_heap_t* heap = mi_heap_new();
  expect("heap_new");
  mi_free(mi_heap_malloc(heap, 1000));
  mi_heap_destroy(heap);
  expect("heap_destroy");
  return 0;
}

static DWORD WINAPI touch(void* unused) {
  (void)unused;
  mi_free(mi_malloc(100));
  mi_free(mi_malloc(100000));
  return 0;
}

/* Bytes that count towards the system's limit. */
static size_t committed(void) {
  MEMORY_BASIC_INFORMATION info;
  size_t bytes = 0;
  for (char* p = NULL; VirtualQuery(p, &info, sizeof(info)) != 0;) {
    if (info.State == MEM_COMMIT && info.Type == MEM_PRIVATE) { bytes += info.RegionSize; }
    p = (char*)info.BaseAddress + info.RegionSize;
  }
  return bytes;
}

int main(void) {
  mi_stats_t stats = {.size = sizeof(stats), .version = MI_STAT_VERSION};
  size_t early = 0;
  (void)run(NULL);
  for (int i = 0; i < THREADS; i += AT_ONCE) {
    if (i == THREADS / 10) { early = committed(); }
    HANDLE threads[AT_ONCE];
    for (int k = 0; k < AT_ONCE; k++) {
      threads[k] = CreateThread(NULL, STACK_BYTES, i == 0 ? run : touch, NULL,
                                STACK_SIZE_PARAM_IS_A_RESERVATION, NULL);
    }
    WaitForMultipleObjects(AT_ONCE, threads, TRUE, INFINITE);
    for (int k = 0; k < AT_ONCE; k++) { CloseHandle(threads[k]); }
  }
  if (committed() > early + SLACK_BYTES) {
    printf("%zu KiB are committed, after a tenth of the threads %zu\n", committed() / 1024,
           early / 1024);
    failures++;
  }
  if (!mi_stats_get(&stats) || stats.threads.current != 1 || stats.threads.total < THREADS) {
    printf("%lld of %lld threads are left\n", (long long)stats.threads.current,
           (long long)stats.threads.total);
    failures++;
  }
  return failures != 0;
}
