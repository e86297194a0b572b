// Redirection on Windows: what a program asks of the C runtime's malloc comes from here, without
// being built anew. The runtime is ucrtbase.dll, which programs share; others are left alone.
//
//   program --malloc, free, …--> ucrtbase --HeapAlloc, HeapFree, …--> the process's heap
//                  |                             `-- 1. filters ------------.
//                  `-- 2. jumps ----------------------------------------> here
//
// 1. The entries for HeapAlloc, HeapReAlloc, HeapFree, HeapSize and HeapValidate in ucrtbase's own
//    table of imports become filters: whatever path inside leads to memory, it leads here.
// 2. Where code may be changed, and nothing has run yet, the functions that it exports become jumps
//    to ours, which is the shorter way.
//
// Blocks of the time before are known by their addresses, and go back to where they are from.
// MIMALLOC_DISABLE_REDIRECT=1 leaves all as it was. Tests: test/windows.
#include "../port/port.h"

#if defined(_WIN32) && defined(MI_SHARED_LIB)
#include "../service/message.h"
#include "windows_names.h"

typedef void any_function_t(void);

static HMODULE crt;

// The runtime's heap is the process's, also before the runtime is ready to tell.
static HANDLE runtime_heap(void) { return GetProcessHeap(); }

static void runtime_find(const char* name, void* pointer) {
  const FARPROC found = crt == NULL ? NULL : GetProcAddress(crt, name);
  memcpy(pointer, (const void*)&found, sizeof(found));
}

// ---- 1. filters ----

static void* WINAPI filter_alloc(HANDLE heap, DWORD flags, SIZE_T size) {
  if (heap != runtime_heap()) { return HeapAlloc(heap, flags, size); }
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

static bool write_protected(void* to, const void* from, size_t bytes, DWORD meanwhile) {
  DWORD before;
  if (!VirtualProtect(to, bytes, meanwhile, &before)) { return false; }
  memcpy(to, from, bytes);
  (void)VirtualProtect(to, bytes, before, &before);
  return true;
}

static const IMAGE_DATA_DIRECTORY* directory_of(const uint8_t* base, unsigned index) {
  const IMAGE_DOS_HEADER* dos = (const IMAGE_DOS_HEADER*)base;
  const IMAGE_NT_HEADERS* nt = (const IMAGE_NT_HEADERS*)(base + dos->e_lfanew);
  return &nt->OptionalHeader.DataDirectory[index];
}

// How many entries it has changed.
static int filter_dll(uint8_t* base, const IMAGE_IMPORT_DESCRIPTOR* dll) {
  const IMAGE_THUNK_DATA* name = (const IMAGE_THUNK_DATA*)(base + dll->OriginalFirstThunk);
  IMAGE_THUNK_DATA* address = (IMAGE_THUNK_DATA*)(base + dll->FirstThunk);
  int count = 0;
  for (; dll->OriginalFirstThunk != 0 && name->u1.AddressOfData != 0; name++, address++) {
    if (IMAGE_SNAP_BY_ORDINAL(name->u1.Ordinal)) { continue; }
    const IMAGE_IMPORT_BY_NAME* import =
        (const IMAGE_IMPORT_BY_NAME*)(base + name->u1.AddressOfData);
    any_function_t* filter = filter_for((const char*)import->Name);
    if (filter != NULL) {
      count += write_protected(&address->u1.Function, &filter, sizeof(filter), PAGE_READWRITE);
    }
  }
  return count;
}

static int filter_imports(uint8_t* base) {
  const IMAGE_DATA_DIRECTORY* imports = directory_of(base, IMAGE_DIRECTORY_ENTRY_IMPORT);
  const IMAGE_IMPORT_DESCRIPTOR* dll =
      (const IMAGE_IMPORT_DESCRIPTOR*)(base + imports->VirtualAddress);
  int count = 0;
  for (; imports->Size != 0 && dll->Name != 0; dll++) { count += filter_dll(base, dll); }
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
  return write_protected(function, code, sizeof(code), PAGE_EXECUTE_READWRITE);
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

// ---- start ----

// False: nothing leads here.
PRIVATE bool redirect_start(bool at_start) {
  const char* disabled = port_getenv("MIMALLOC_DISABLE_REDIRECT");
  if (disabled != NULL && *disabled != 0 && strcmp(disabled, "0") != 0) { return false; }
  crt = GetModuleHandleW(L"ucrtbase.dll");
  if (crt == NULL) {
    message_verbose("malloc is not redirected: the program has no ucrtbase.dll");
    return false;
  }
  const int filtered = filter_imports((uint8_t*)crt);
  const int jumped = at_start && filtered > 0 ? jump_from_exports() : 0;
  message_verbose("malloc of ucrtbase.dll: %d of its imports lead here, %d of its exports",
                  filtered, jumped);
  return filtered > 0;
}

// The runtime's, by which mi_is_redirected tells: this DLL is linked with no runtime.
void* malloc(size_t size) {
  void* (*allocate)(size_t) = NULL;
  runtime_find("malloc", (void*)&allocate);
  return allocate == NULL ? NULL : allocate(size);
}

void free(void* p) {
  void (*release)(void*) = NULL;
  runtime_find("free", (void*)&release);
  if (release != NULL) { release(p); }
}

#endif
