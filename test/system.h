/* What a test wants of the system, where that is not there everywhere: threads, the size of a page,
   paths as POSIX has them. A test that can do with less asks by a plain `if`; what needs POSIX says
   so in its first line, by when="posix". */
#ifndef TEST_SYSTEM_H
#define TEST_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#ifndef TEST_HAS_THREADS
#define TEST_HAS_THREADS 1
#endif
#if defined(__wasm__) || defined(_WIN32)
#define TEST_HAS_PATHS 0
#else
#define TEST_HAS_PATHS 1
#endif

enum { HAS_THREADS = TEST_HAS_THREADS, HAS_PATHS = TEST_HAS_PATHS };

/* As the library sees it: WebAssembly has none, and pages of 64 KiB by which memory grows; on
   Windows it is the same on all processors. */
static inline size_t os_page_bytes(void) {
#if defined(__wasm__) || defined(_WIN32)
  return 4096;
#else
  return (size_t)sysconf(_SC_PAGESIZE);
#endif
}

/* Memory that is not the library's; NULL: there is none. What WebAssembly has stays. */
#ifdef __EMSCRIPTEN__

static inline void* os_memory(size_t bytes) {
  void* p = sbrk((intptr_t)bytes);
  return p == (void*)-1 ? NULL : p;
}

#elif defined(__wasm__)

static inline void* os_memory(size_t bytes) {
  const size_t units = __builtin_wasm_memory_grow(0, (bytes + 65535) / 65536);
  return units == SIZE_MAX ? NULL : (void*)(units * 65536);
}

#elif defined(_WIN32)

#include <windows.h>

static inline void* os_memory(size_t bytes) {
  return VirtualAlloc(NULL, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

#else

#include <sys/mman.h>

static inline void* os_memory(size_t bytes) {
  void* p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

#endif

static inline void os_memory_release(void* p, size_t bytes) {
#ifdef __wasm__
  (void)p, (void)bytes;
#elif defined(_WIN32)
  (void)bytes;
  VirtualFree(p, 0, MEM_RELEASE);
#else
  munmap(p, bytes);
#endif
}

/* Makes such memory inaccessible, where that can be, or brings it back. */
static inline bool os_memory_seal(void* p, size_t bytes, bool sealed) {
#ifdef __wasm__
  (void)p, (void)bytes, (void)sealed;
  return true;
#elif defined(_WIN32)
  DWORD before;
  return VirtualProtect(p, bytes, sealed ? PAGE_NOACCESS : PAGE_READWRITE, &before) != 0;
#else
  return mprotect(p, bytes, sealed ? PROT_NONE : PROT_READ | PROT_WRITE) == 0;
#endif
}

typedef void* thread_fun(void* arg);

#if TEST_HAS_THREADS

#include <pthread.h>

typedef pthread_t test_thread_t;

static inline bool thread_start(test_thread_t* thread, thread_fun* fun, void* arg) {
  return pthread_create(thread, NULL, fun, arg) == 0;
}

static inline void* thread_join(test_thread_t thread) {
  void* result = NULL;
  pthread_join(thread, &result);
  return result;
}

#else

typedef int test_thread_t;

static inline bool thread_start(test_thread_t* thread, thread_fun* fun, void* arg) {
  (void)thread, (void)fun, (void)arg;
  return false;
}

static inline void* thread_join(test_thread_t thread) {
  (void)thread;
  return NULL;
}

#endif

#endif
