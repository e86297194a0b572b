// Windows. Imports functions of kernel32 and ntdll that Windows 7 has; what came later, and what is
// elsewhere, is looked up once, as the loader tells of the process's start. Until then the library
// does without.
//
// Every call keeps the thread's last error: see local_windows.h.
#include "windows_head.h"

#include <psapi.h>
#include <winternl.h>

#include "port.h"

#include <errno.h>
#include <string.h>

#include "../base/bits.h"
#include "../base/track.h"
#include "plain_memory.h"

// Not every set of headers declares them.
EXTERN_C __declspec(dllimport) PEB* NTAPI RtlGetCurrentPeb(void);
EXTERN_C __declspec(dllimport) LONG NTAPI RtlAdjustPrivilege(ULONG privilege, BOOLEAN enable,
                                                             BOOLEAN of_thread, BOOLEAN* was);
EXTERN_C __declspec(dllimport) SIZE_T WINAPI GetLargePageMinimum(void);
EXTERN_C __declspec(dllimport) BOOL WINAPI GetNumaHighestNodeNumber(ULONG* highest);
EXTERN_C __declspec(dllimport) void WINAPI RaiseFailFastException(EXCEPTION_RECORD* record,
                                                                  CONTEXT* context, DWORD flags);

static int error_of(DWORD error) {
  switch (error) {
    case ERROR_INVALID_ADDRESS:
    case ERROR_INVALID_PARAMETER: return EINVAL;
    case ERROR_ACCESS_DENIED:
    case ERROR_PRIVILEGE_NOT_HELD: return EPERM;
    default: return ENOMEM;
  }
}

// ---- what is looked up ----

typedef void* WINAPI alloc2_fun(HANDLE process, void* start, SIZE_T bytes, ULONG kind,
                                ULONG protection, void* extras, ULONG extras_count);
typedef BOOL WINAPI wait_fun(volatile void* word, void* value, SIZE_T bytes, DWORD ms);
typedef void WINAPI wake_fun(void* word);
typedef BOOL WINAPI prng_fun(void* out, SIZE_T bytes);   // ProcessPrng
typedef BOOLEAN WINAPI rng_fun(void* out, ULONG bytes);  // RtlGenRandom

static alloc2_fun* os_alloc2;
static wait_fun* os_wait;
static wake_fun* os_wake;
static prng_fun* os_prng;
static rng_fun* os_rng;

// The caller knows the type.
static void find(HMODULE module, const char* name, void* pointer) {
  const FARPROC found = module == NULL ? NULL : GetProcAddress(module, name);
  memcpy(pointer, &found, sizeof(found));
}

// A DLL of the system that depends on no other but those that every process has: so it may be
// loaded while the loader calls us.
static HMODULE system_dll(const wchar_t* name) {
  enum { SYSTEM_FOLDER_ONLY = 0x800 };
  HMODULE module = NULL;
  if (!GetModuleHandleExW(0, name, &module)) {
    module = LoadLibraryExW(name, NULL, SYSTEM_FOLDER_ONLY);
  }
  return module;
}

static HMODULE random_dll;  // ours, until we go

static void find_all(void) {
  const DWORD saved = GetLastError();
  const HMODULE base = GetModuleHandleW(L"kernelbase.dll");
  find(base, "VirtualAlloc2", &os_alloc2);
  find(base, "WakeByAddressSingle", &os_wake);
  find(base, "WaitOnAddress", &os_wait);
  random_dll = system_dll(L"bcryptprimitives.dll");
  find(random_dll, "ProcessPrng", &os_prng);
  if (os_prng == NULL) {
    if (random_dll != NULL) { (void)FreeLibrary(random_dll); }
    random_dll = system_dll(L"advapi32.dll");
    find(random_dll, "SystemFunction036", &os_rng);
  }
  SetLastError(saved);
}

// ---- memory ----

// The page file may be growing: then there is memory in a moment. ms: for so long it is asked for.
static _Atomic(long) patience_ms;

PRIVATE void port_retry_for(long ms) { store_relaxed(&patience_ms, ms); }

// After a call that failed: whether to try again, for which it has slept.
static bool may_come(long* waited_ms) {
  enum { STEP_MS = 10 };
  if (GetLastError() != ERROR_COMMITMENT_LIMIT || *waited_ms >= load_relaxed(&patience_ms) ||
      port_is_ending()) {
    return false;
  }
  Sleep(STEP_MS);
  *waited_ms += STEP_MS;
  return true;
}

static int os_alloc(void* start, size_t bytes, DWORD kind, void** out) {
  long waited = 0;
  const DWORD saved = GetLastError();
  const DWORD protection = kind == MEM_RESERVE ? PAGE_NOACCESS : PAGE_READWRITE;
  void* p;
  do { p = VirtualAlloc(start, bytes, kind, protection); } while (p == NULL && may_come(&waited));
  const int error = p != NULL ? 0 : error_of(GetLastError());
  SetLastError(saved);
  if (p != NULL) { *out = p; }
  return error;
}

static int os_free(void* start, size_t bytes, DWORD kind) {
  const DWORD saved = GetLastError();
  const int error = VirtualFree(start, bytes, kind) ? 0 : error_of(GetLastError());
  SetLastError(saved);
  return error;
}

PRIVATE size_t port_page_bytes(void) { return 4 * KiB; }
PRIVATE size_t port_granularity(void) { return 64 * KiB; }

// Windows 10 1803 and later.
typedef struct alignment {
  void *lowest, *highest;
  size_t align;
} alignment_t;
typedef struct extra {
  uint64_t type;
  uint64_t value;
} extra_t;
enum { EXTRA_ADDRESS = 1, EXTRA_NODE = 2, EXTRA_FLAGS = 5, FLAG_HUGE = 0x10 };

static int os_alloc_with(size_t bytes, DWORD kind, const extra_t* extras, ULONG count, void** out) {
  long waited = 0;
  const DWORD saved = GetLastError();
  void* p;
  do {
    p = os_alloc2(GetCurrentProcess(), NULL, bytes, kind, PAGE_READWRITE, (void*)(uintptr_t)extras,
                  count);
  } while (p == NULL && may_come(&waited));
  const int error = p != NULL ? 0 : error_of(GetLastError());
  SetLastError(saved);
  if (p != NULL) { *out = p; }
  return error;
}

static int alloc_aligned(size_t bytes, size_t align, DWORD kind, void** out) {
  const alignment_t wanted = {.align = align};
  const extra_t extra = {.type = EXTRA_ADDRESS, .value = (uintptr_t)&wanted};
  return os_alloc_with(bytes, kind, &extra, 1, out);
}

// A range is released as it was reserved: so one that is wide enough shows where there is room, and
// what is wanted is taken there. Another thread may be faster.
static int alloc_where_room_is(size_t bytes, size_t align, DWORD kind, void** out) {
  enum { TRIES = 16 };
  int error = bytes + align < bytes ? ENOMEM : EINVAL;
  for (int i = 0; i < TRIES && error == EINVAL; i++) {
    void* wide = NULL;
    error = os_alloc(NULL, bytes + align, MEM_RESERVE, &wide);
    if (error != 0) { break; }
    (void)os_free(wide, 0, MEM_RELEASE);
    error = os_alloc((void*)align_up((uintptr_t)wide, align), bytes, kind, out);
  }
  return error;
}

static int os_map(size_t bytes, size_t align, DWORD kind, void** out) {
  void* p = NULL;
  if (*out != NULL && is_aligned(*out, align) && os_alloc(*out, bytes, kind, out) == 0) {
    return 0;
  }
  if (align <= port_granularity()) { return os_alloc(NULL, bytes, kind, out); }
  if (os_alloc2 != NULL) { return alloc_aligned(bytes, align, kind, out); }
  const int error = os_alloc(NULL, bytes, kind, &p);
  if (error != 0) { return error; }
  if (!is_aligned(p, align)) {
    (void)os_free(p, 0, MEM_RELEASE);
    return alloc_where_room_is(bytes, align, kind, out);
  }
  *out = p;
  return 0;
}

PRIVATE int port_reserve(size_t bytes, size_t align, void** out) {
  const int error = os_map(bytes, align, MEM_RESERVE, out);
  if (error == 0) { track_mapped(*out, bytes); }
  return error;
}

PRIVATE int port_map(size_t bytes, size_t align, void** out) {
  *out = NULL;
  const int error = os_map(bytes, align, MEM_RESERVE | MEM_COMMIT, out);
  if (error != 0) { return error; }
  track_mapped(*out, bytes);
  track_committed(*out, bytes);
  return 0;
}

PRIVATE int port_release(void* start, size_t bytes) {
  track_unmapped(start, bytes);
  return os_free(start, 0, MEM_RELEASE);
}

PRIVATE int port_commit(void* start, size_t bytes) {
  const int error = os_alloc(start, bytes, MEM_COMMIT, &start);
  if (error == 0) { track_committed(start, bytes); }
  return error;
}

PRIVATE int port_decommit(void* start, size_t bytes) {
  const int error = os_free(start, bytes, MEM_DECOMMIT);
  if (error == 0) { track_decommitted(start, bytes); }
  return error;
}

PRIVATE int port_reset(void* start, size_t bytes) {
  return os_alloc(start, bytes, MEM_RESET, &start);
}

// To unlock what is not locked takes it out of what is resident.
PRIVATE int port_purge(void* start, size_t bytes) {
  const DWORD saved = GetLastError();
  const int error = port_reset(start, bytes);
  if (error == 0) { (void)VirtualUnlock(start, bytes); }
  SetLastError(saved);
  return error;
}

PRIVATE int port_shorten(void* start, size_t old_bytes, size_t new_bytes) {
  return port_decommit((uint8_t*)start + new_bytes, old_bytes - new_bytes);
}

PRIVATE int port_lengthen(void* start, size_t old_bytes, size_t new_bytes) {
  (void)start, (void)old_bytes, (void)new_bytes;
  return ENOSYS;
}

PRIVATE int port_guard(void* start, size_t bytes) { return port_decommit(start, bytes); }

PRIVATE int port_unguard(void* start, size_t bytes) { return port_commit(start, bytes); }

PRIVATE int port_seal(void* start, size_t bytes, bool on) {
  const DWORD saved = GetLastError();
  DWORD before;
  const bool done = VirtualProtect(start, bytes, on ? PAGE_NOACCESS : PAGE_READWRITE, &before);
  const int error = done ? 0 : error_of(GetLastError());
  SetLastError(saved);
  if (done) { track_protected(start, bytes); }
  return error;
}

// Large pages need a privilege, which an administrator gives to a user ("lock pages in memory").
PRIVATE int port_map_huge(size_t bytes, size_t huge_bytes, int node, void** out) {
  enum { LOCK_MEMORY = 4 };
  const DWORD kind = MEM_RESERVE | MEM_COMMIT | MEM_LARGE_PAGES;
  extra_t extras[2];
  ULONG count = 0;
  BOOLEAN was;
  if (os_alloc2 == NULL) { return ENOSYS; }
  if (RtlAdjustPrivilege(LOCK_MEMORY, TRUE, FALSE, &was) < 0) { return EPERM; }
  if (node >= 0) { extras[count++] = (extra_t){.type = EXTRA_NODE, .value = (uint64_t)node}; }
  if (huge_bytes > GetLargePageMinimum()) {
    extras[count++] = (extra_t){.type = EXTRA_FLAGS, .value = FLAG_HUGE};
  }
  const int error = os_alloc_with(bytes, kind, extras, count, out);
  if (error != 0) { return error; }
  track_mapped(*out, bytes);
  track_committed(*out, bytes);
  return 0;
}

PRIVATE size_t port_address_limit(void) { return SIZE_MAX; }
PRIVATE bool port_data_is_limited(void) { return false; }

// ---- environment: our part of it, copied once ----

enum { ENVIRONMENT_CHARS = 8 * KiB, ENVIRONMENT_ENTRIES = 64 };
static const wchar_t environment_prefix[] = L"MIMALLOC_";

static wchar_t upper(wchar_t c) { return c >= L'a' && c <= L'z' ? (wchar_t)(c - L'a' + L'A') : c; }

static bool is_ours_in_environment(const wchar_t* entry) {
  size_t i = 0;
  while (environment_prefix[i] != 0 && upper(entry[i]) == environment_prefix[i]) { i++; }
  return environment_prefix[i] == 0;
}

static void environment_copy(const wchar_t* block, char** entries) {
  static char text[ENVIRONMENT_CHARS];
  size_t at = 0, count = 0;
  while (*block != 0 && count < ENVIRONMENT_ENTRIES) {
    const size_t length = wcslen(block);
    if (is_ours_in_environment(block) && at + length < ENVIRONMENT_CHARS) {
      entries[count++] = text + at;
      for (size_t i = 0; i <= length; i++) { text[at++] = block[i] < 128 ? (char)block[i] : '?'; }
    }
    block += length + 1;
  }
}

// Whoever comes first copies, as the process starts: there is one thread then.
PRIVATE char* const* port_environ(void) {
  static char* entries[ENVIRONMENT_ENTRIES + 1];
  static _Atomic(bool) is_read;
  if (exchange_relaxed(&is_read, true)) { return entries; }
  const DWORD saved = GetLastError();
  wchar_t* block = GetEnvironmentStringsW();
  if (block != NULL) {
    environment_copy(block, entries);
    (void)FreeEnvironmentStringsW(block);
  }
  SetLastError(saved);
  return entries;
}

PRIVATE const char* port_getenv(const char* name) {
  const size_t length = strlen(name);
  for (char* const* entry = port_environ(); *entry != NULL; entry++) {
    if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') {
      return *entry + length + 1;
    }
  }
  return NULL;
}

// The system counts the 0 at the end only where it does not fit.
static size_t variable_length(DWORD got, size_t most, DWORD saved) {
  const bool is_none = got == 0 && GetLastError() == ERROR_ENVVAR_NOT_FOUND;
  SetLastError(saved);
  return is_none ? 0 : got + (size_t)(got < most);
}

PRIVATE size_t port_variable(const char* name, char* out, size_t most) {
  const DWORD saved = GetLastError();
  SetLastError(ERROR_SUCCESS);
  return variable_length(GetEnvironmentVariableA(name, out, (DWORD)most), most, saved);
}

PRIVATE size_t port_variable_wide(const wchar_t* name, wchar_t* out, size_t most) {
  const DWORD saved = GetLastError();
  SetLastError(ERROR_SUCCESS);
  return variable_length(GetEnvironmentVariableW(name, out, (DWORD)most), most, saved);
}

// ---- standard error ----

static HANDLE kept_stderr;

PRIVATE void port_check_stderr(void) {}

PRIVATE void port_keep_stderr(void) {
  const DWORD saved = GetLastError();
  const HANDLE process = GetCurrentProcess();
  (void)DuplicateHandle(process, GetStdHandle(STD_ERROR_HANDLE), process, &kept_stderr, 0, FALSE,
                        DUPLICATE_SAME_ACCESS);
  SetLastError(saved);
}

PRIVATE void port_write_stderr(const char* text, size_t length) {
  const DWORD saved = GetLastError();
  const HANDLE file = kept_stderr != NULL ? kept_stderr : GetStdHandle(STD_ERROR_HANDLE);
  DWORD written;
  if (file != NULL && file != INVALID_HANDLE_VALUE) {
    (void)WriteFile(file, text, (DWORD)length, &written, NULL);
  }
  SetLastError(saved);
}

// ---- process and time ----

PRIVATE int64_t port_clock_ms(void) { return (int64_t)GetTickCount64(); }

PRIVATE uint64_t port_clock_ns(void) {
  const uint64_t ns = 1000000000u;
  LARGE_INTEGER now, rate;
  (void)QueryPerformanceCounter(&now);
  (void)QueryPerformanceFrequency(&rate);
  const uint64_t ticks = (uint64_t)now.QuadPart, per_second = (uint64_t)rate.QuadPart;
  return ticks / per_second * ns + ticks % per_second * ns / per_second;
}

PRIVATE int port_process_id(void) { return (int)GetCurrentProcessId(); }

// The last part of the name that the process was started by.
PRIVATE const char* port_program_name(void) {
  enum { MOST = 63 };
  static char name[MOST + 1];
  const UNICODE_STRING* path = &RtlGetCurrentPeb()->ProcessParameters->ImagePathName;
  const size_t end = path->Length / sizeof(wchar_t);
  size_t start = end;
  while (start > 0 && end - start < MOST && path->Buffer[start - 1] != L'\\') { start--; }
  for (size_t i = start; i < end; i++) {
    name[i - start] = path->Buffer[i] < 128 ? (char)path->Buffer[i] : '?';
  }
  return name;
}

// What is a link, it does not look at.
PRIVATE char* port_realpath(const char* name, char* resolved) {
  const DWORD length = GetFullPathNameA(name, MAX_PATH, resolved, NULL);
  const bool done = length > 0 && length < MAX_PATH;
  if (!done) { port_errno_set(length == 0 ? EINVAL : ENAMETOOLONG); }
  return done ? resolved : NULL;
}

// As a crash, of which the system makes a report.
PRIVATE _Noreturn void port_abort(void) {
  RaiseFailFastException(NULL, NULL, 0);
  for (;;) { (void)TerminateProcess(GetCurrentProcess(), (UINT)STATUS_FATAL_APP_EXIT); }
}

PRIVATE int port_numa_count(void) {
  const DWORD saved = GetLastError();
  ULONG highest = 0;
  (void)GetNumaHighestNodeNumber(&highest);
  SetLastError(saved);
  return (int)highest + 1;
}

PRIVATE int port_random(void* out, size_t bytes) {
  const DWORD saved = GetLastError();
  bool done = os_prng != NULL && os_prng(out, bytes);
  if (!done) { done = os_rng != NULL && os_rng(out, (ULONG)bytes); }
  SetLastError(saved);
  return done ? 0 : ENOSYS;
}

static uint64_t ms_of(FILETIME time) {
  enum { IN_A_MS = 10000 };
  return ((uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime) / IN_A_MS;
}

PRIVATE void port_usage(port_usage_t* out) {
  const DWORD saved = GetLastError();
  const HANDLE process = GetCurrentProcess();
  FILETIME began, ended, kernel, user;
  PROCESS_MEMORY_COUNTERS memory = {0};
  *out = (port_usage_t){0};
  if (GetProcessTimes(process, &began, &ended, &kernel, &user)) {
    out->user_ms = ms_of(user), out->system_ms = ms_of(kernel);
  }
  if (K32GetProcessMemoryInfo(process, &memory, sizeof(memory))) {
    out->rss_bytes = memory.WorkingSetSize, out->peak_rss_bytes = memory.PeakWorkingSetSize;
    out->page_faults = memory.PageFaultCount;
  }
  SetLastError(saved);
}

// ---- errno ----

#ifdef MI_SHARED_LIB  // which belongs to no C runtime, but serves the universal one

static int* errno_place(void) {  // NULL: there is no such runtime
  const DWORD saved = GetLastError();
  int* (*place)(void) = NULL;
  const HMODULE runtime = GetModuleHandleW(L"ucrtbase.dll");
  find(runtime, "_errno", (void*)&place);
  int* error = place == NULL ? NULL : place();
  SetLastError(saved);
  return error;
}

PRIVATE int port_errno_get(void) {
  const int* place = errno_place();
  return place == NULL ? 0 : *place;
}

PRIVATE void port_errno_set(int error) {
  int* place = errno_place();
  if (place != NULL) { *place = error; }
}

#else
PRIVATE int port_errno_get(void) { return errno; }
PRIVATE void port_errno_set(int error) { errno = error; }
#endif

// ---- threads ----

// Before Windows 8 there is nothing to sleep on without an object for each thread.
PRIVATE void port_wait(_Atomic(uint32_t)* word, uint32_t value) {
  const DWORD saved = GetLastError();
  if (os_wait != NULL) {
    (void)os_wait((volatile void*)(uintptr_t)word, &value, sizeof(value), INFINITE);
  } else if (load_relaxed(word) == value) {
    Sleep(1);
  }
  SetLastError(saved);
}

PRIVATE void port_wake_one(_Atomic(uint32_t)* word) {
  if (os_wait != NULL) { os_wake((void*)(uintptr_t)word); }
}

PRIVATE uint32_t port_thread_number(void) { return GetCurrentThreadId(); }
PRIVATE void port_forget_threads(void) {}

#if !PORT_NATIVE_TLS

HIDDEN _Atomic(uint32_t) port_slot_place;
static _Atomic(DWORD) slot_index;  // plus 1; 0: there is none yet

// Another thread may have been faster.
static DWORD slot_take_index(void) {
  const DWORD fresh = TlsAlloc();
  DWORD before = 0;
  if (fresh == TLS_OUT_OF_INDEXES) { return load_relaxed(&slot_index); }
  while (before == 0) {
    if (cas_relaxed(&slot_index, &before, fresh + 1)) { return fresh + 1; }
  }
  (void)TlsFree(fresh);
  return before;
}

// Some tools make the index another number than that of the word.
static void slot_find_place(DWORD index, const void* value) {
  enum { WORDS = 64, FIRST = sizeof(void*) == 8 ? 0x1480 : 0xE10 };
  const uint32_t place = (uint32_t)(FIRST + index * sizeof(void*));
  if (index < WORDS && port_slot_at(place) == value) { store_relaxed(&port_slot_place, place); }
}

PRIVATE bool port_slot_set(void* value) {
  const DWORD saved = GetLastError();
  DWORD index = load_relaxed(&slot_index);
  if (index == 0) { index = slot_take_index(); }
  const bool done = index != 0 && TlsSetValue(index - 1, value);
  if (done && value != NULL) { slot_find_place(index - 1, value); }
  SetLastError(saved);
  return done || value == NULL;
}

HIDDEN NOINLINE void* port_slot_get_by_call(void) {
  const DWORD saved = GetLastError();
  const DWORD index = load_relaxed(&slot_index);
  void* value = index == 0 ? NULL : TlsGetValue(index - 1);
  SetLastError(saved);
  return value;
}

#endif

PRIVATE int port_at_fork(void (*prepare)(void), void (*parent)(void), void (*child)(void)) {
  (void)prepare, (void)parent, (void)child;
  return 0;
}

PRIVATE void port_lock_streams_for_fork(void) {}
PRIVATE void port_unlock_streams_after_fork(bool child) { (void)child; }

#if MI_TRACK_ETW
SHARED_DATA_DEF(etw_provider_t, etw_provider);
#endif

#include "windows_thread.h"
