// What C++ `new` wants of the program's C++ runtime, if there is one: a file for each platform.
#ifndef MI_ENTRY_CXX_H
#define MI_ENTRY_CXX_H

#include "new.h"

typedef void new_handler_t(void);
PRIVATE new_handler_t* new_handler(void);              // NULL: there is none
PRIVATE COLD void throw_bad_alloc(size_t size);        // ends the process where there is no runtime
PRIVATE bool handler_returns(new_handler_t* handler);  // false: it threw, and that is over

#endif
