// The rest of the test port strict, and the last of its files: from here on nobody says errno.
#include "unix_fault.c"

#ifndef MI_INCLUDED_BY_TEST  // which does
#undef errno
#pragma GCC poison errno
#endif
