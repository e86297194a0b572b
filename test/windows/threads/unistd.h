/* With what Microsoft's runtime has no name for. */
#include_next <unistd.h>

#ifndef __MINGW32__
#ifndef TEST_WINDOWS_UNISTD_H
#define TEST_WINDOWS_UNISTD_H

#undef open /* a macro there, and the name of a field here */

__declspec(dllimport) void __stdcall Sleep(unsigned long ms);

static inline int usleep(unsigned us) {
  Sleep((us + 999) / 1000);
  return 0;
}

#endif
#endif
