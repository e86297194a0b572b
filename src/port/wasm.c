// The port to WebAssembly: one memory, which grows and never goes back.
//
// Emscripten's programs are told when memory grows, so there it grows by sbrk. What it has the main
// thread do for others, as writing is, waits for that thread: nothing here does that under a lock.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "port.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wasi/api.h>

#ifdef __EMSCRIPTEN__
#include <emscripten/emscripten.h>
#include <emscripten/threading.h>
#endif

#include "../base/bits.h"
#include "growth.h"

// ---- memory ----

// Nothing is protected: so it may be short.
PRIVATE size_t port_page_bytes(void) { return 4 * KiB; }

static size_t memory_bytes(void) { return __builtin_wasm_memory_size(0) * GROWTH_UNIT; }

#ifdef __EMSCRIPTEN__

static void growth_begin(uint64_t* next, uint64_t* end) { *next = *end = (uintptr_t)sbrk(0); }

static bool growth_add(size_t bytes, uint64_t* start) {
  const int saved = errno;
  void* added = sbrk((intptr_t)bytes);
  errno = saved;
  *start = (uintptr_t)added;
  return added != (void*)-1;
}

#else

#ifdef MI_MALLOC_OVERRIDE
extern char __heap_base;  // where the linker ended
static uintptr_t first_unused(void) { return (uintptr_t)&__heap_base; }
#else  // The C library's malloc takes what the program begins with.
static uintptr_t first_unused(void) { return memory_bytes(); }
#endif

static void growth_begin(uint64_t* next, uint64_t* end) {
  *next = first_unused();
  *end = memory_bytes();
}

static bool growth_add(size_t bytes, uint64_t* start) {
  const size_t units = __builtin_wasm_memory_grow(0, bytes / GROWTH_UNIT);
  *start = (uint64_t)units * GROWTH_UNIT;
  return units != SIZE_MAX;
}

#endif

PRIVATE int port_commit(void* start, size_t bytes) {
  (void)start, (void)bytes;
  return 0;
}

PRIVATE int port_map_huge(size_t bytes, size_t huge_bytes, int node, void** out) {
  (void)bytes, (void)huge_bytes, (void)node, (void)out;
  return ENOSYS;
}

PRIVATE size_t port_address_limit(void) { return SIZE_MAX; }
PRIVATE bool port_data_is_limited(void) { return false; }

// ---- process ----

// The C library's own copy is made by malloc.
PRIVATE char* const* port_environ(void) {
  enum { ENTRIES = 64, CHARS = 4 << 10 };
  static bool is_known;
  static char* entries[ENTRIES + 1];
  __wasi_size_t count = 0, bytes = 0;
  if (!is_known && __wasi_environ_sizes_get(&count, &bytes) == 0 && count <= ENTRIES &&
      bytes <= CHARS) {
    static char text[CHARS];
    (void)__wasi_environ_get((uint8_t**)(void*)entries, (uint8_t*)text);
  }
  is_known = true;
  return entries;
}

#include "environ.h"

PRIVATE void port_check_stderr(void) {}
PRIVATE void port_keep_stderr(void) {}

PRIVATE void port_write_stderr(const char* text, size_t length) {
  const __wasi_ciovec_t part = {(const uint8_t*)text, length};
  __wasi_size_t done = 0;
  (void)!__wasi_fd_write(STDERR_FILENO, &part, 1, &done);
}

#ifdef __EMSCRIPTEN__
// The clock of WASI is read by the main thread, which may wait for a lock that the caller holds.
PRIVATE uint64_t port_clock_ns(void) { return (uint64_t)(emscripten_get_now() * 1e6); }
#else
PRIVATE uint64_t port_clock_ns(void) {
  __wasi_timestamp_t now = 0;
  (void)!__wasi_clock_time_get(__WASI_CLOCKID_MONOTONIC, 1, &now);
  return now;
}
#endif

PRIVATE int64_t port_clock_ms(void) { return (int64_t)(port_clock_ns() / 1000000u); }
PRIVATE int port_process_id(void) { return 1; }
PRIVATE const char* port_program_name(void) { return "a program"; }
#ifdef __EMSCRIPTEN__
PRIVATE char* port_realpath(const char* name, char* resolved) { return realpath(name, resolved); }
#else  // WASI knows no whole paths
PRIVATE char* port_realpath(const char* name, char* resolved) {
  (void)name, (void)resolved;
  errno = ENOSYS;
  return NULL;
}
#endif

PRIVATE _Noreturn void port_abort(void) { abort(); }
PRIVATE int port_numa_count(void) { return 1; }

#include "unix_entropy.h"

PRIVATE void port_usage(port_usage_t* out) {
  *out = (port_usage_t){0};
  out->rss_bytes = out->peak_rss_bytes = memory_bytes();
}

// ---- threads ----

#ifdef _REENTRANT

#include "unix_slots.h"

static pthread_key_t exit_key;
static bool has_exit_key;
static void (*exit_call)(void*);

static void exit_key_call(void* argument) { exit_call(argument); }

// The main thread asks for the memory of its thread-local variables before it has a number, and a
// key that is made so early leaves the C library's lock of keys held. It is made before there are
// other threads.
AT_START static void exit_key_make(void) {
  const int saved = errno;
  has_exit_key = pthread_key_create(&exit_key, exit_key_call) == 0;
  errno = saved;
}

PRIVATE int port_thread_exit_init(void (*on_exit)(void*)) {
  exit_call = on_exit;
  return 0;
}

PRIVATE int port_thread_arm(void* argument) {
  return has_exit_key ? pthread_setspecific(exit_key, argument) : EAGAIN;
}

// The main thread of a browser must not wait.
PRIVATE void port_wait(_Atomic(uint32_t)* word, uint32_t value) {
  enum { SOON_NS = 1000000 };
  if (emscripten_is_main_browser_thread()) { return; }
  (void)__builtin_wasm_memory_atomic_wait32((int*)(void*)word, (int)value, SOON_NS);
}

PRIVATE void port_wake_one(_Atomic(uint32_t)* word) {
  (void)__builtin_wasm_memory_atomic_notify((int*)(void*)word, 1);
}

#else

PRIVATE void port_wait(_Atomic(uint32_t)* word, uint32_t value) { (void)word, (void)value; }
PRIVATE void port_wake_one(_Atomic(uint32_t)* word) { (void)word; }
PRIVATE uint32_t port_thread_number(void) { return 1; }
PRIVATE void port_forget_threads(void) {}

PRIVATE int port_thread_exit_init(void (*on_exit)(void*)) {
  (void)on_exit;
  return 0;
}

PRIVATE int port_thread_arm(void* argument) {
  (void)argument;
  return 0;
}

#endif

PRIVATE int port_at_fork(void (*prepare)(void), void (*parent)(void), void (*child)(void)) {
  (void)prepare, (void)parent, (void)child;
  return ENOSYS;
}

PRIVATE void port_lock_streams_for_fork(void) {}
PRIVATE void port_unlock_streams_after_fork(bool child) { (void)child; }
