// The C++ runtime of a program for Windows: GNU's or LLVM's, linked in or a DLL, where there is
// one; else Microsoft's. An exception is the system's there, and says of itself what it is, so that
// C can throw one without the runtime's help: see "throw".
#include "cxx.h"

#ifdef _WIN32
#include "../port/windows_head.h"

#include <string.h>

#include "../service/message.h"

typedef new_handler_t* get_new_handler_t(void);
typedef void throw_t(void);
typedef int call_handler_t(size_t size);

static void find_in(const wchar_t* dll, const char* name, void* pointer) {
  const HMODULE module = GetModuleHandleW(dll);
  const FARPROC found = module == NULL ? NULL : GetProcAddress(module, name);
  memcpy(pointer, (const void*)&found, sizeof(found));
}

// ---- GNU's and LLVM's ----

static bool has_gnu_dll(void) {
  return GetModuleHandleW(L"libstdc++-6.dll") != NULL || GetModuleHandleW(L"libc++.dll") != NULL;
}

static void find_in_gnu_dll(const char* name, void* pointer) {
  find_in(L"libstdc++-6.dll", name, pointer);
  if (!has_gnu_dll()) { find_in(L"libc++.dll", name, pointer); }
}

#if defined(__MINGW32__) && !defined(MI_SHARED_LIB)
#ifdef __i386__
#define SYMBOL(name) "_" name
#else
#define SYMBOL(name) name
#endif
#define LINKED(name) __asm__(SYMBOL(name)) __attribute__((weak))
EXTERN_C new_handler_t* linked_get_new_handler(void) LINKED("_ZSt15get_new_handlerv");
EXTERN_C void linked_throw(void) LINKED("_ZSt17__throw_bad_allocv");
// gcc forgets it where a function's address is all that is used.
__asm__(".weak " SYMBOL("_ZSt15get_new_handlerv") "\n.weak " SYMBOL("_ZSt17__throw_bad_allocv"));
#undef LINKED
#undef SYMBOL
static bool is_gnu(void) { return true; }
#else
static get_new_handler_t* const linked_get_new_handler = NULL;
static throw_t* const linked_throw = NULL;
static bool is_gnu(void) { return has_gnu_dll(); }
#endif

static new_handler_t* gnu_handler(void) {
  get_new_handler_t* get = linked_get_new_handler;
  if (get == NULL) { find_in_gnu_dll("_ZSt15get_new_handlerv", (void*)&get); }
  return get == NULL ? NULL : get();
}

static void gnu_throw(void) {
  throw_t* throw_it = linked_throw;
  if (throw_it == NULL) { find_in_gnu_dll("_ZSt17__throw_bad_allocv", (void*)&throw_it); }
  if (throw_it != NULL) { throw_it(); }
}

// ---- throw, in Microsoft's ABI ----
//
// What is thrown is described by addresses from the start of a module on, in 32 bits. A handler
// compares the names of types; it takes the object by address, or copies its bytes.

#ifdef _WIN64
extern const IMAGE_DOS_HEADER __ImageBase;

typedef struct type_name {
  const void* table;
  void* unused;
  char name[24];
} type_name_t;

typedef struct catchable {
  uint32_t properties, type;
  int32_t displacement[3];
  uint32_t bytes, copy;
} catchable_t;

typedef struct catchables {
  uint32_t count, types[2];
} catchables_t;

typedef struct thrown {
  uint32_t attributes, destructor, compatible, types;
} thrown_t;

// std::bad_alloc, with the functions that std::exception has.
typedef struct bad_alloc bad_alloc_t;
typedef struct bad_alloc_functions {
  void* (*destroy)(bad_alloc_t* object, unsigned flags);
  const char* (*what)(const bad_alloc_t* object);
} bad_alloc_functions_t;
struct bad_alloc {
  const bad_alloc_functions_t* functions;
  const char* what;
  bool owns_what;
};

static void* bad_alloc_destroy(bad_alloc_t* object, unsigned flags) {
  (void)flags;
  return object;
}

static const char* bad_alloc_what(const bad_alloc_t* object) { return object->what; }

static uint32_t from_start(const void* p) {
  return (uint32_t)((uintptr_t)p - (uintptr_t)&__ImageBase);
}

static void microsoft_throw(void) {
  enum { CODE = (int)0xE06D7363, MAGIC = 0x19930520, DISPLACED_NOT = -1 };
  static type_name_t names[2] = {{.name = ".?AVbad_alloc@std@@"}, {.name = ".?AVexception@std@@"}};
  static catchable_t types[2];
  static catchables_t list;
  static thrown_t thrown;
  static const bad_alloc_functions_t functions = {bad_alloc_destroy, bad_alloc_what};
  bad_alloc_t object = {.functions = &functions, .what = "bad allocation"};
  list.count = 2;
  for (int i = 0; i < 2; i++) {
    types[i] = (catchable_t){.type = from_start(&names[i]),
                             .displacement = {0, DISPLACED_NOT, 0},
                             .bytes = sizeof(object)};
    list.types[i] = from_start(&types[i]);
  }
  thrown.types = from_start(&list);
  const ULONG_PTR arguments[] = {MAGIC, (ULONG_PTR)&object, (ULONG_PTR)&thrown,
                                 (ULONG_PTR)&__ImageBase};
  RaiseException((DWORD)CODE, EXCEPTION_NONCONTINUABLE, 4, arguments);
}
#else
static void microsoft_throw(void) {
  throw_t* throw_it = NULL;
  find_in(L"msvcp140.dll", "?_Xbad_alloc@std@@YAXXZ", (void*)&throw_it);
  if (throw_it != NULL) { throw_it(); }
}
#endif

// ---- Microsoft's new-handler has a size, and says whether to try again ----

static void microsoft_handler(void) {
  call_handler_t* call = NULL;
  find_in(L"ucrtbase.dll", "_callnewh", (void*)&call);
  if (call == NULL || call(1) == 0) { throw_bad_alloc(1); }
}

static bool has_microsoft_handler(void) {
  void* (*query)(void) = NULL;
  find_in(L"ucrtbase.dll", "_query_new_handler", (void*)&query);
  return query != NULL && query() != NULL;
}

// ---- whichever it is ----

PRIVATE new_handler_t* new_handler(void) {
  if (is_gnu()) { return gnu_handler(); }
  return has_microsoft_handler() ? microsoft_handler : NULL;
}

PRIVATE COLD void throw_bad_alloc(size_t size) {
  if (is_gnu()) {
    gnu_throw();
  } else {
    microsoft_throw();
  }
  message_fatal("out of memory in new of %zu bytes, and no C++ runtime to tell", size);
}

#if defined(__clang__) && !defined(__MINGW32__)
PRIVATE bool handler_returns(new_handler_t* handler) {
  __try {
    handler();
  } __except (EXCEPTION_EXECUTE_HANDLER) { return false; }
  return true;
}
#else  // gcc has no words for it: what the handler throws goes on to the caller
PRIVATE bool handler_returns(new_handler_t* handler) {
  handler();
  return true;
}
#endif

#endif
