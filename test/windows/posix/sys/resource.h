/* What the stress tests want of <sys/resource.h>: the most memory that was resident, in KiB. */
#ifndef TEST_WINDOWS_RESOURCE_H
#define TEST_WINDOWS_RESOURCE_H

#define SIZE SIZE_OF_WINDOWS /* tests have the name for themselves */
#include <windows.h>
#undef SIZE
#include <psapi.h>

struct rusage {
  long ru_maxrss;
};
enum { RUSAGE_SELF };

static inline int getrusage(int who, struct rusage* out) {
  PROCESS_MEMORY_COUNTERS memory = {0};
  (void)who;
  (void)K32GetProcessMemoryInfo(GetCurrentProcess(), &memory, sizeof(memory));
  out->ru_maxrss = (long)(memory.PeakWorkingSetSize / 1024);
  return 0;
}

#endif
