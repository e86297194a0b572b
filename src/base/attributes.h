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

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define FAST                   static inline __attribute__((always_inline))
#define COLD                   __attribute__((cold, noinline))
#define NOINLINE               __attribute__((noinline))
#define UNUSED                 __attribute__((unused))
#define API                    __attribute__((visibility("default")))
#define HIDDEN                 __attribute__((visibility("hidden")))
#define ALIGNED(n)             __attribute__((aligned(n)))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))

#ifdef MI_SPLIT
#define PRIVATE                 HIDDEN
#define SHARED_DATA(type, name) extern HIDDEN type name
#define SHARED_DATA_DEF         HIDDEN
#else
#define PRIVATE                 static
#define SHARED_DATA(type, name) static type name
#define SHARED_DATA_DEF         static
#endif

// A thread-local variable that is reached without a call: the library is in the initial set of
// modules, or small enough (a few words) for the reserve that the loader keeps for libraries opened
// later.
#ifdef MI_LIBC_MUSL  // it keeps no such reserve; a program that is linked as a whole needs no call
#define THREAD_LOCAL _Thread_local
#else
#define THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))
#endif

#endif
