/* What this process has advised to lie on huge pages. */
#ifndef TEST_HUGE_ADVICE_H
#define TEST_HUGE_ADVICE_H

#include <stdio.h>
#include <string.h>

enum { HUGE = 2 << 20 };

typedef struct huge_advice {
  size_t bytes;  /* of all such mappings */
  size_t broken; /* those that begin or end inside a huge page */
} huge_advice_t;

/* From /proc/self/smaps: lines that say where a mapping lies, and later one of its flags. */
static inline huge_advice_t huge_advice_now(void) {
  huge_advice_t found = {0, 0};
  char line[1000];
  size_t start = 0, end = 0;
  FILE* file = fopen("/proc/self/smaps", "r");
  if (file == NULL) { return found; }
  while (fgets(line, sizeof(line), file) != NULL) {
    size_t from = 0, to = 0;
    if (sscanf(line, "%zx-%zx ", &from, &to) == 2) { start = from, end = to; }
    if (strncmp(line, "VmFlags:", 8) != 0 || strstr(line, " hg") == NULL) { continue; }
    found.bytes += end - start;
    found.broken += start % HUGE != 0 || end % HUGE != 0;
  }
  fclose(file);
  return found;
}

#endif
