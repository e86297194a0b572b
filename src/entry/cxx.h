// What C++ `new` wants of the program's C++ runtime, if there is one: a file for each platform.
#ifndef MI_ENTRY_CXX_H
#define MI_ENTRY_CXX_H

#include "new.h"

typedef void new_handler_t(void);
PRIVATE new_handler_t* new_handler(void);              // NULL: there is none
PRIVATE COLD void throw_bad_alloc(size_t size);        // ends the process where there is no runtime
PRIVATE bool handler_returns(new_handler_t* handler);  // false: it threw, and that is over

#ifndef _WIN64  // the routine that a C++ runtime has for the unwinder, in the Itanium ABI
typedef int personality_t(int version, int actions, uint64_t kind, void* exception, void* context);
#endif

#ifdef __ELF__
// The program's operator, which throws; NULL if it does.
typedef void* new_fun_t(size_t size);
typedef void* new_aligned_fun_t(size_t size, size_t alignment);
UNUSED PRIVATE COLD void* new_nothrow_by(new_fun_t* fun, size_t size);
UNUSED PRIVATE COLD void* new_aligned_nothrow_by(new_aligned_fun_t* fun, size_t size,
                                                 size_t alignment);
#endif

#endif
