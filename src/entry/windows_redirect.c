// Redirection on Windows: what a program asks of the C runtime's malloc comes from here, without
// being built anew. The runtime is ucrtbase.dll, which programs share, or ucrtbased.dll, that for
// debugging. Others are left alone, and so is ucrtbase.dll in x64 programs on arm64, where it is
// code of another processor.
//
//   program --malloc, free, …--> ucrtbase --HeapAlloc, HeapFree, …--> the process's heap
//                  |                             `-- 1. filters ------------.
//                  `-- 2. jumps, or entries in all imports -------------> here
//
// 1. The entries for HeapAlloc, HeapReAlloc, HeapFree, HeapSize and HeapValidate in ucrtbase's own
//    table of imports become filters: whatever path inside leads to memory, it leads here.
// 2. Where code may be changed, and nothing has run yet, the functions that it exports become jumps
//    to ours, which is the shorter way. Else what the modules that are loaded import of these
//    functions leads to ours. Those of ucrtbased.dll stay: they have more to tell apart.
//
// Blocks of the time before are known by their addresses, and go back to where they are from.
// MIMALLOC_DISABLE_REDIRECT=1 leaves all as it was. Tests: test/windows.
#include "../port/port.h"

#if defined(_WIN32) && defined(MI_SHARED_LIB)
#include "../port/windows_head.h"

#include <psapi.h>

#include "../service/message.h"
#include "windows_names.h"

typedef void any_function_t(void);

static HMODULE crt;  // whose functions are replaced, or asked

static void runtime_find(const char* name, void* pointer) {
  const FARPROC found = crt == NULL ? NULL : GetProcAddress(crt, name);
  memcpy(pointer, (const void*)&found, sizeof(found));
}

// That of the process, also before the runtime is ready to tell; wine's runtime has one of its own.
static HANDLE runtime_heap(void) {
  static _Atomic(HANDLE) told;
  HANDLE heap = load_relaxed(&told);
  if (likely(heap != NULL)) { return heap; }
  intptr_t (*get)(void) = NULL;
  runtime_find("_get_heap_handle", (void*)&get);
  heap = get == NULL ? NULL : (HANDLE)get();
  if (heap == NULL) { return GetProcessHeap(); }
  store_relaxed(&told, heap);
  return heap;
}

// ---- 1. filters ----

static void* WINAPI filter_alloc(HANDLE heap, DWORD flags, SIZE_T size) {
  const bool is_runtimes = heap == runtime_heap() || heap == GetProcessHeap();
  if (!is_runtimes) { return HeapAlloc(heap, flags, size); }
  return take(size, (flags & HEAP_ZERO_MEMORY) != 0);
}

static BOOL WINAPI filter_free(HANDLE heap, DWORD flags, void* p) {
  if (p == NULL || !is_ours(p)) { return HeapFree(heap, flags, p); }
  block_free(p);
  return TRUE;
}

static void* WINAPI filter_realloc(HANDLE heap, DWORD flags, void* p, SIZE_T size) {
  if (p == NULL || !is_ours(p)) { return HeapReAlloc(heap, flags, p, size); }
  if ((flags & HEAP_REALLOC_IN_PLACE_ONLY) != 0) { return size <= block_usable(p) ? p : NULL; }
  return retake(p, size, (flags & HEAP_ZERO_MEMORY) != 0);
}

static SIZE_T WINAPI filter_size(HANDLE heap, DWORD flags, const void* p) {
  return p == NULL || !is_ours(p) ? HeapSize(heap, flags, p) : block_usable(p);
}

static BOOL WINAPI filter_validate(HANDLE heap, DWORD flags, const void* p) {
  return p == NULL || !is_ours(p) ? HeapValidate(heap, flags, p) : TRUE;
}

typedef struct replaced {
  const char* name;
  any_function_t* by;
} replaced_t;

#define BY(name) ((any_function_t*)(name))
static const replaced_t filters[] = {
    {"HeapAlloc", BY(filter_alloc)},       {"HeapFree", BY(filter_free)},
    {"HeapReAlloc", BY(filter_realloc)},   {"HeapSize", BY(filter_size)},
    {"HeapValidate", BY(filter_validate)}, {"RtlAllocateHeap", BY(filter_alloc)},
    {"RtlFreeHeap", BY(filter_free)},      {"RtlReAllocateHeap", BY(filter_realloc)},
    {"RtlSizeHeap", BY(filter_size)},      {"RtlValidateHeap", BY(filter_validate)},
};
enum { FILTERS = sizeof(filters) / sizeof(filters[0]) };

static any_function_t* filter_for(const char* name) {
  for (int i = 0; i < FILTERS; i++) {
    if (strcmp(name, filters[i].name) == 0) { return filters[i].by; }
  }
  return NULL;
}

// What may be run can be run meanwhile.
static bool write_protected(void* to, const void* from, size_t bytes) {
  const DWORD executable =
      PAGE_EXECUTE | PAGE_EXECUTE_READ | PAGE_EXECUTE_READWRITE | PAGE_EXECUTE_WRITECOPY;
  MEMORY_BASIC_INFORMATION info;
  DWORD before;
  if (VirtualQuery(to, &info, sizeof(info)) == 0) { return false; }
  const bool is_code = (info.Protect & executable) != 0;
  if (!VirtualProtect(to, bytes, is_code ? PAGE_EXECUTE_READWRITE : PAGE_READWRITE, &before)) {
    return false;
  }
  memcpy(to, from, bytes);
  (void)VirtualProtect(to, bytes, before, &before);
  return true;
}

typedef any_function_t* choose_fun(const uint8_t* base, const IMAGE_THUNK_DATA* name,
                                   any_function_t* now);  // NULL: it stays

static any_function_t* choose_filter(const uint8_t* base, const IMAGE_THUNK_DATA* name,
                                     any_function_t* now) {
  (void)now;
  if (IMAGE_SNAP_BY_ORDINAL(name->u1.Ordinal)) { return NULL; }
  return filter_for(
      (const char*)((const IMAGE_IMPORT_BY_NAME*)(base + name->u1.AddressOfData))->Name);
}

static const IMAGE_DATA_DIRECTORY* directory_of(const uint8_t* base, unsigned index) {
  const IMAGE_DOS_HEADER* dos = (const IMAGE_DOS_HEADER*)base;
  const IMAGE_NT_HEADERS* nt = (const IMAGE_NT_HEADERS*)(base + dos->e_lfanew);
  return &nt->OptionalHeader.DataDirectory[index];
}

// How many entries it has changed.
static int replace_of_dll(uint8_t* base, const IMAGE_IMPORT_DESCRIPTOR* dll, choose_fun* choose) {
  const IMAGE_THUNK_DATA* name = (const IMAGE_THUNK_DATA*)(base + dll->OriginalFirstThunk);
  IMAGE_THUNK_DATA* address = (IMAGE_THUNK_DATA*)(base + dll->FirstThunk);
  int count = 0;
  for (; dll->OriginalFirstThunk != 0 && name->u1.AddressOfData != 0; name++, address++) {
    any_function_t* by = choose(base, name, (any_function_t*)address->u1.Function);
    if (by != NULL) { count += write_protected(&address->u1.Function, &by, sizeof(by)); }
  }
  return count;
}

static const IMAGE_IMPORT_DESCRIPTOR* imports_of(const uint8_t* base) {
  static const IMAGE_IMPORT_DESCRIPTOR none;
  const IMAGE_DATA_DIRECTORY* imports = directory_of(base, IMAGE_DIRECTORY_ENTRY_IMPORT);
  return imports->Size == 0 ? &none
                            : (const IMAGE_IMPORT_DESCRIPTOR*)(base + imports->VirtualAddress);
}

static int replace_imports(uint8_t* base, choose_fun* choose) {
  const IMAGE_IMPORT_DESCRIPTOR* dll = imports_of(base);
  int count = 0;
  for (; dll->Name != 0; dll++) { count += replace_of_dll(base, dll, choose); }
  return count;
}

// ---- 2. jumps ----

static const replaced_t jumps[] = {
    {"malloc", BY(crt_malloc)},      {"_malloc_base", BY(crt_malloc)},
    {"calloc", BY(crt_calloc)},      {"_calloc_base", BY(crt_calloc)},
    {"free", BY(crt_free)},          {"_free_base", BY(crt_free)},
    {"realloc", BY(crt_realloc)},    {"_realloc_base", BY(crt_realloc)},
    {"_msize", BY(crt_msize)},       {"_msize_base", BY(crt_msize)},
    {"_expand", BY(crt_expand)},     {"_expand_base", BY(crt_expand)},
    {"_recalloc", BY(crt_recalloc)}, {"_recalloc_base", BY(crt_recalloc)},
};
enum { JUMPS = sizeof(jumps) / sizeof(jumps[0]) };

#if defined(__x86_64__) || defined(__i386__)
enum { NEAR_JUMP_BYTES = 5, NEAR_JUMP = 0xE9 };

// Another function may begin behind a short one.
static bool has_room(const uint8_t* function) {
  for (int i = 0; i < JUMPS; i++) {
    const uint8_t* other = NULL;
    runtime_find(jumps[i].name, (void*)&other);
    if (other > function && other < function + NEAR_JUMP_BYTES) { return false; }
  }
  return true;
}

static bool jump_to(uint8_t* function, const uint8_t* by) {
  uint8_t code[NEAR_JUMP_BYTES] = {NEAR_JUMP};
  const int32_t distance = (int32_t)(by - (function + NEAR_JUMP_BYTES));
  memcpy(code + 1, &distance, sizeof(distance));
  return write_protected(function, code, sizeof(code));
}

static uint8_t* function_inside(const char* name) {
  void *found = NULL, *base = NULL;
  runtime_find(name, (void*)&found);
  const bool inside = found != NULL && RtlPcToFileHeader(found, &base) == (void*)crt;
  return inside ? (uint8_t*)found : NULL;
}

#ifdef __x86_64__
// Such a jump reaches two GiB; from there another goes on to any address.
typedef struct far_jump {
  uint8_t code[6];  // jmp *(%rip), to the address behind it
  uint8_t address[8];
  uint8_t unused[2];
} far_jump_t;

static far_jump_t* far_jumps_near(const uint8_t* base) {
  enum { STEP = 1 << 16, FIRST = 1 << 24, LAST = 1 << 30 };
  void* p = NULL;
  for (uintptr_t at = FIRST; p == NULL && at < LAST; at += STEP) {
    void* wanted = (void*)(((uintptr_t)base & ~(uintptr_t)(STEP - 1)) + at);
    p = VirtualAlloc(wanted, sizeof(far_jump_t) * JUMPS, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
  }
  return (far_jump_t*)p;
}

// What the jumps go to; false: there is no room for it.
static bool jump_targets(const uint8_t* targets[JUMPS]) {
  static const uint8_t code[6] = {0xFF, 0x25};
  far_jump_t* far_jumps = far_jumps_near((const uint8_t*)crt);
  DWORD before;
  for (int i = 0; far_jumps != NULL && i < JUMPS; i++) {
    memcpy(far_jumps[i].code, code, sizeof(code));
    memcpy(far_jumps[i].address, &jumps[i].by, sizeof(jumps[i].by));
    targets[i] = far_jumps[i].code;
  }
  return far_jumps != NULL &&
         VirtualProtect(far_jumps, sizeof(far_jump_t) * JUMPS, PAGE_EXECUTE_READ, &before);
}
#else
static bool jump_targets(const uint8_t* targets[JUMPS]) {
  for (int i = 0; i < JUMPS; i++) { memcpy(&targets[i], &jumps[i].by, sizeof(targets[i])); }
  return true;
}
#endif

static int jump_from_exports(void) {
  const uint8_t* targets[JUMPS];
  int count = 0;
  if (!jump_targets(targets)) { return 0; }
  for (int i = 0; i < JUMPS; i++) {
    uint8_t* function = function_inside(jumps[i].name);
    if (function != NULL && has_room(function)) { count += jump_to(function, targets[i]); }
  }
  (void)FlushInstructionCache(GetCurrentProcess(), NULL, 0);
  return count;
}
#else
static int jump_from_exports(void) { return 0; }
#endif

// ---- else: all imports ----

static any_function_t* exported[JUMPS];

static any_function_t* choose_ours(const uint8_t* base, const IMAGE_THUNK_DATA* name,
                                   any_function_t* now) {
  (void)base, (void)name;
  int i = 0;
  while (i < JUMPS && (now == NULL || exported[i] != now)) { i++; }
  return i < JUMPS ? jumps[i].by : NULL;
}

static int lead_imports_here(void) {
  enum { MOST = 1024 };  // what more modules import takes the longer way
  static HMODULE modules[MOST];
  DWORD bytes = 0;
  int count = 0;
  for (int i = 0; i < JUMPS; i++) { runtime_find(jumps[i].name, (void*)&exported[i]); }
  if (!K32EnumProcessModules(GetCurrentProcess(), modules, sizeof(modules), &bytes)) { return 0; }
  if (bytes > sizeof(modules)) { bytes = sizeof(modules); }
  for (DWORD i = 0; i < bytes / sizeof(HMODULE); i++) {
    if (modules[i] != crt) { count += replace_imports((uint8_t*)modules[i], choose_ours); }
  }
  return count;
}

// ---- start ----

// The DLL for x64 on arm64 has code of both processors; what describes that is said here.
static bool is_hybrid(const uint8_t* base) {
#ifdef __x86_64__
  enum { BYTES_AT = 0, HYBRID_AT = 0xC8 };
  const IMAGE_DATA_DIRECTORY* at = directory_of(base, IMAGE_DIRECTORY_ENTRY_LOAD_CONFIG);
  uint32_t bytes = 0;
  uint64_t hybrid = 0;
  if (at->Size == 0) { return false; }
  memcpy(&bytes, base + at->VirtualAddress + BYTES_AT, sizeof(bytes));
  if (bytes < HYBRID_AT + sizeof(hybrid)) { return false; }
  memcpy(&hybrid, base + at->VirtualAddress + HYBRID_AT, sizeof(hybrid));
  return hybrid != 0;
#else
  (void)base;
  return false;
#endif
}

static bool begins_with(const char* name, const char* lower) {
  while (*lower != 0 && (*name | 0x20) == *lower) { name++, lower++; }
  return *lower == 0;
}

// NULL: the program imports none itself.
static const char* imported_runtime(void) {
  const uint8_t* base = (const uint8_t*)GetModuleHandleW(NULL);
  for (const IMAGE_IMPORT_DESCRIPTOR* dll = imports_of(base); dll->Name != 0; dll++) {
    const char* name = (const char*)(base + dll->Name);
    if (begins_with(name, "msvcr") || begins_with(name, "ucrtbase")) { return name; }
    if (begins_with(name, "api-ms-win-crt")) { return "ucrtbase.dll"; }
  }
  return NULL;
}

// NULL: none of its imports leads here.
static HMODULE filter_runtime(const wchar_t* dll, const char* name) {
  const HMODULE module = GetModuleHandleW(dll);
  if (module == NULL) { return NULL; }
  if (is_hybrid((const uint8_t*)module)) {
    message_warning("malloc of %s is not redirected: it is code for arm64 (ARM64EC)", name);
    return NULL;
  }
  const int count = replace_imports((uint8_t*)module, choose_filter);
  message_verbose("malloc of %s: %d of its imports lead here", name, count);
  return count == 0 ? NULL : module;
}

// At the start of the process nothing has run yet that could be changed under way.
static void shorten_ways(bool at_start) {
  const int jumped = at_start ? jump_from_exports() : 0;
  const int imported = jumped == 0 ? lead_imports_here() : 0;
  message_verbose("%d of its exports lead here, %d imports of others", jumped, imported);
}

static HMODULE probed;  // the runtime that mi_is_redirected asks

// Returns false if nothing leads here.
PRIVATE bool redirect_start(bool at_start) {
  const char* disabled = port_getenv("MIMALLOC_DISABLE_REDIRECT");
  const char* name = imported_runtime();
  probed = name == NULL ? NULL : GetModuleHandleA(name);
  if (disabled != NULL && *disabled != 0 && strcmp(disabled, "0") != 0) { return false; }
  const HMODULE debug = filter_runtime(L"ucrtbased.dll", "ucrtbased.dll");
  crt = filter_runtime(L"ucrtbase.dll", "ucrtbase.dll");
  if (crt != NULL) { shorten_ways(at_start); }
  if (probed == NULL || (name != NULL && begins_with(name, "msvcr"))) {
    message_warning("malloc is not redirected: the program's C runtime is %s",
                    name != NULL ? name : "no DLL");
  }
  return crt != NULL || debug != NULL;
}

// Those of the program's runtime, by which mi_is_redirected tells: this DLL is linked with none.
static FARPROC probe(const char* name) {
  return probed == NULL ? NULL : GetProcAddress(probed, name);
}

void* malloc(size_t size) {
  void* (*allocate)(size_t) = NULL;
  const FARPROC found = probe("malloc");
  memcpy(&allocate, &found, sizeof(found));
  return allocate == NULL ? NULL : allocate(size);
}

void free(void* p) {
  void (*release)(void*) = NULL;
  const FARPROC found = probe("free");
  memcpy(&release, &found, sizeof(found));
  if (release != NULL) { release(p); }
}

#endif
