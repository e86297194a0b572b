/* What a test wants of the system, where that is not there everywhere: threads, processes, the size
   of a page, paths as POSIX has them. A test that can do with less asks by a plain `if`; what needs
   POSIX says so in its first line, by when="posix". */
#ifndef TEST_SYSTEM_H
#define TEST_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef TEST_HAS_THREADS
#define TEST_HAS_THREADS 1
#endif
#if defined(__wasm__) || defined(_WIN32)
#define TEST_HAS_PATHS 0
#else
#define TEST_HAS_PATHS 1
#endif

#define TEST_HAS_PROCESSES TEST_HAS_PATHS
#ifndef TEST_SMALL /* the library leaves some out: MI_SMALL */
#define TEST_SMALL 0
#endif

enum { HAS_THREADS = TEST_HAS_THREADS, HAS_PATHS = TEST_HAS_PATHS };
enum { HAS_PROCESSES = TEST_HAS_PROCESSES };

/* As the library sees it: WebAssembly has none, and pages of 64 KiB by which memory grows; on
   Windows it is the same on all processors. */
static inline size_t os_page_bytes(void) {
#if defined(__wasm__) || defined(_WIN32)
  return 4096;
#else
  return (size_t)sysconf(_SC_PAGESIZE);
#endif
}

/* A test with bounds for short OS pages is skipped where they are longer: then more blocks share
   one, and pages of blocks are longer. */
static inline bool os_pages_exceed(size_t most) {
  const bool exceed = os_page_bytes() > most;
  if (exceed) { puts("the bounds are for shorter OS pages"); }
  return exceed;
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

/* ---- processes ---- */

#if TEST_HAS_PROCESSES

#include <sys/wait.h>

/* Has a child run it and exit with what it returns; -1: there are no processes here, or it did not
   end so. What it says on standard error comes to `errors`, unless that is NULL. */
static inline int os_run_child(int (*run)(void), char* errors, size_t room) {
  int out[2] = {-1, -1};
  int status = -1;
  size_t length = 0;
  if (errors != NULL && pipe(out) != 0) { return -1; }
  const pid_t child = fork();
  if (child == 0) {
    if (errors != NULL) { dup2(out[1], 2); }
    exit(run());
  }
  if (errors != NULL) {
    close(out[1]);
    for (ssize_t n = 1; n > 0 && length < room - 1; length += n > 0 ? (size_t)n : 0) {
      n = read(out[0], errors + length, room - 1 - length);
    }
    errors[length] = 0;
    close(out[0]);
  }
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#else

static inline int os_run_child(int (*run)(void), char* errors, size_t room) {
  (void)run;
  if (errors != NULL && room > 0) { errors[0] = 0; }
  return -1;
}

#endif

/* ---- threads ---- */

typedef void* thread_fun(void* arg);

#if TEST_HAS_THREADS

#include <pthread.h>

typedef pthread_t test_thread_t;
typedef pthread_barrier_t test_barrier_t;

static inline void barrier_init(test_barrier_t* barrier, unsigned count) {
  if (pthread_barrier_init(barrier, NULL, count) != 0) { abort(); }
}

static inline void barrier_wait(test_barrier_t* barrier) { pthread_barrier_wait(barrier); }

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
typedef int test_barrier_t;

static inline void barrier_init(test_barrier_t* barrier, unsigned count) {
  (void)barrier, (void)count;
}

static inline void barrier_wait(test_barrier_t* barrier) { (void)barrier; }

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
