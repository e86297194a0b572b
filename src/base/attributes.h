// Compiler attributes and linkage: how functions and data of the one-unit and the split build are
// declared.
//
// One unit (`src/static.c`): PRIVATE is `static`, so the compiler sees every caller and nothing
// leaks into a user's name space. Split (`MI_SPLIT`, used by the layer check): PRIVATE is a hidden
// external function.
#ifndef MI_BASE_ATTRIBUTES_H
#define MI_BASE_ATTRIBUTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The sources are C11, and C++17 too. EXTERN_C declares a name as C has it, in both.
#ifdef __cplusplus
#define EXTERN_C extern "C"
#ifdef __THROW  // what glibc's headers say of its functions
#define NOTHROW __THROW
#endif
#define _Static_assert static_assert
#define _Noreturn      __attribute__((noreturn))
#else
#define EXTERN_C extern
#endif
#ifndef NOTHROW
#define NOTHROW
#endif

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define FAST       static inline __attribute__((always_inline))
#define COLD       __attribute__((cold, noinline))
#define NOINLINE   __attribute__((noinline))
#define UNUSED     __attribute__((unused))
#define USED       __attribute__((used))  // by what the compiler does not see
#define WEAK       __attribute__((weak))  // may be defined elsewhere, or nowhere: then NULL
#define ALIAS(of)  __attribute__((alias(of)))
#define AT_START   __attribute__((constructor(101)))  // before what the program has of that kind
#define AT_END     __attribute__((destructor(101)))
#define ALIGNED(n) __attribute__((aligned(n)))
#if defined(_WIN32) && !defined(__clang__)  // there gcc means the printf of an old C library
#define PRINTF_LIKE(fmt, args) __attribute__((format(gnu_printf, fmt, args)))
#else
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))
#endif

#ifdef _WIN32  // there a module shows what it exports, and nothing else
#define HIDDEN
#else
#define HIDDEN __attribute__((visibility("hidden")))
#endif

// A function that reads fields of other threads' pages. Each value was true at some moment; what is
// computed from them is a good estimate, and exact when no other thread allocates or frees.
#define RACY __attribute__((no_sanitize("thread")))

// A function that ends in `JUMP_TO(call)` has left the stack when it calls: who is called finds our
// caller's address where its own caller's should be. gcc does so only if it optimizes, as it is
// told here whatever its flags are; what such a function calls must not be inlined into it. Not on
// 64-bit POWER, where who calls through a pointer has a register to restore afterwards.
//
// TAKES_PERSONALITY: the directive .personality in a function of 32-bit Arm, see entry/unwind.h.
#ifdef __powerpc64__
#define HAS_JUMPS 0
#else
#define HAS_JUMPS 1
#endif
#ifdef __clang__
#define TAKES_PERSONALITY 0
#define ENDS_IN_JUMP
#define JUMP_TO(call) __attribute__((musttail)) return call
#else
#define TAKES_PERSONALITY 1
#define ENDS_IN_JUMP      __attribute__((optimize("O2")))
#define JUMP_TO(call)     return call
#endif

// SHARED_DATA declares a variable that several files use, SHARED_DATA_DEF defines it. C++ knows no
// declaration of a static variable: there they are external, and hidden, in a name space.
#ifdef __cplusplus
namespace mi_data {}
using namespace mi_data;
#define SHARED_DATA(type, name) \
  namespace mi_data {           \
  extern HIDDEN type name;      \
  }                             \
  static_assert(true, "")
#define SHARED_DATA_DEF(type, name) type mi_data::name
#elif defined(MI_SPLIT)
#define SHARED_DATA(type, name)     extern HIDDEN type name
#define SHARED_DATA_DEF(type, name) HIDDEN type name
#else
#define SHARED_DATA(type, name)     static type name
#define SHARED_DATA_DEF(type, name) static type name
#endif
#ifdef MI_SPLIT
#define PRIVATE HIDDEN
#else
#define PRIVATE static
#endif

// OVERRIDE marks a name of the C library or the C++ runtime, which every module of the process has
// to find. API marks a `mi_` name: only the shared library shows it, so that a plug-in with a copy
// of the library linked in uses that copy, whatever the program has.
#ifdef _WIN32
#define VISIBLE __declspec(dllexport)
#else
#define VISIBLE __attribute__((visibility("default")))
#endif
#ifdef MI_SHARED_LIB_EXPORT
#define API VISIBLE
#else
#define API HIDDEN
#endif
#define OVERRIDE EXTERN_C VISIBLE

// The address of a name that another module may define is loaded and jumped to at once, not by way
// of a table of jumps.
#if defined(__GNUC__) && !defined(__clang__) && (defined(__x86_64__) || defined(__aarch64__))
#define NO_PLT __attribute__((noplt))
#else
#define NO_PLT
#endif

// The compiler's -ftls-model decides how thread-local variables are reached. The shared library is
// built with initial-exec, which needs no call, but some bytes of the reserve that the loader keeps
// for libraries that are opened later.
#define THREAD_LOCAL __thread

#endif
