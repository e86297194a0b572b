// The C++ runtime of a program for Windows: GNU's or LLVM's, linked in or a DLL, where there is
// one; else Microsoft's. An exception is the system's there, and says of itself what it is, so that
// C can throw one without the runtime's help (see "throw"), and end one of either kind ("catch").
#include "cxx.h"

#ifdef _WIN32
#include "../port/windows_head.h"

#include <string.h>

#include "../service/message.h"

#if defined(_WIN64) || defined(__MINGW32__)
#include "try.h"
#endif

typedef new_handler_t* get_new_handler_t(void);
typedef void throw_t(void);
typedef void* begin_catch_t(void* exception);
typedef int call_handler_t(size_t size);

static void find_in(const wchar_t* dll, const char* name, void* pointer) {
  const HMODULE module = GetModuleHandleW(dll);
  const FARPROC found = module == NULL ? NULL : GetProcAddress(module, name);
  memcpy(pointer, (const void*)&found, sizeof(found));
}

// ---- GNU's and LLVM's ----

static void find_in_gnu_dll(const char* name, void* pointer) {
  const bool is_gnu = GetModuleHandleW(L"libstdc++-6.dll") != NULL;
  find_in(is_gnu ? L"libstdc++-6.dll" : L"libc++.dll", name, pointer);
}

#ifdef _WIN64
#define PERSONALITY "__gxx_personality_seh0"
typedef EXCEPTION_DISPOSITION personality_t(EXCEPTION_RECORD* exception, void* frame,
                                            CONTEXT* context, DISPATCHER_CONTEXT* dispatcher);
#else
#define PERSONALITY "__gxx_personality_v0"
#endif

#ifdef __i386__
#define SYMBOL(name) "_" name
#else
#define SYMBOL(name) name
#endif

// A function of the runtime that is linked in; NULL: none is. gcc and GNU's linker have weak
// references. LLVM's linker looks for these in no archive, but takes another name for what is in
// none.
#if !defined(__MINGW32__) || defined(MI_SHARED_LIB)
#define LINKED(type, variable, name) static type* const variable = NULL
#define IF_LINKED(variable)          (variable)
#elif defined(__clang__)
EXTERN_C void _mi_no_cxx(void);
void _mi_no_cxx(void) {}
#define LINKED(type, variable, name)                                                       \
  EXTERN_C type variable __asm__(SYMBOL(name));                                            \
  __asm__(".section .drectve, \"yni\"\n.ascii \" -alternatename:" SYMBOL(name) "=" SYMBOL( \
      "_mi_no_cxx") "\"\n.text")
#define IF_LINKED(variable) ((throw_t*)(variable) == _mi_no_cxx ? NULL : (variable))
#else  // it forgets that the name is weak where a function's address is all that is used
#define LINKED(type, variable, name)                                  \
  EXTERN_C type variable __asm__(SYMBOL(name)) __attribute__((weak)); \
  __asm__(".weak " SYMBOL(name))
#define IF_LINKED(variable) (variable)
#endif

#define GNU_FUNCTION(type, get, name)                            \
  LINKED(type, linked_##get, name);                              \
  static type* get(void) {                                       \
    type* found = IF_LINKED(linked_##get);                       \
    if (found == NULL) { find_in_gnu_dll(name, (void*)&found); } \
    return found;                                                \
  }
GNU_FUNCTION(get_new_handler_t, gnu_get_new_handler, "_ZSt15get_new_handlerv")
GNU_FUNCTION(throw_t, gnu_throw, "_ZSt17__throw_bad_allocv")
GNU_FUNCTION(personality_t, gnu_personality, PERSONALITY)
GNU_FUNCTION(begin_catch_t, gnu_begin_catch, "__cxa_begin_catch")
GNU_FUNCTION(throw_t, gnu_end_catch, "__cxa_end_catch")

static bool is_gnu(void) {
#if defined(__MINGW32__) && !defined(MI_SHARED_LIB)
  return true;
#else
  return gnu_personality() != NULL;
#endif
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
  if (is_gnu()) {
    get_new_handler_t* get = gnu_get_new_handler();
    return get == NULL ? NULL : get();
  }
  return has_microsoft_handler() ? microsoft_handler : NULL;
}

PRIVATE COLD void throw_bad_alloc(size_t size) {
  throw_t* throw_it = is_gnu() ? gnu_throw() : microsoft_throw;
  if (throw_it != NULL) { throw_it(); }
  message_fatal("out of memory in new of %zu bytes, and no C++ runtime to tell", size);
}

// ---- catch ----

enum { MICROSOFT_EXCEPTION = (int)0xE06D7363, GNU_EXCEPTION = 0x20474343, GNU_KINDS = 0x3000000 };

#ifdef _WIN64
EXTERN_C personality_t _mi_catch;
__attribute__((used)) EXCEPTION_DISPOSITION _mi_catch(EXCEPTION_RECORD* exception, void* frame,
                                                      CONTEXT* context,
                                                      DISPATCHER_CONTEXT* dispatcher) {
  const int kind = (int)exception->ExceptionCode;
  personality_t* personality = NULL;
  if (kind == MICROSOFT_EXCEPTION) {
    find_in(L"ntdll.dll", "__C_specific_handler", (void*)&personality);
  } else if ((kind & ~GNU_KINDS) == GNU_EXCEPTION) {
    personality = gnu_personality();
    dispatcher->HandlerData = (void*)(uintptr_t)_mi_try_table;
  }
  if (personality == NULL) { return ExceptionContinueSearch; }
  return personality(exception, frame, context, dispatcher);
}
#elif defined(TRY_BODY)
static personality_t* cxx_personality(void) { return gnu_personality(); }
#endif

#ifdef TRY_BODY
PRIVATE bool handler_returns(new_handler_t* handler) {
  void* const exception = _mi_try(handler);
  if (exception == NULL) { return true; }
  if ((uintptr_t)exception != 1) {
    gnu_begin_catch()(exception);
    gnu_end_catch()();
  }
  return false;
}
#else  // in 32 bits an exception of Microsoft's C++ goes on to the caller
PRIVATE bool handler_returns(new_handler_t* handler) {
  handler();
  return true;
}
#endif

#endif
