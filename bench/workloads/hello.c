// bench: start, prints a line: what it costs to be there
/* The shortest program with output. How much of it is resident it reads from its own mappings: what
   the kernel tells of a process that has ended is a sum of counters of each processor, and may be a
   hundred KiB off. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long resident_kib(void) {
  static char text[2048];
  const int file = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
  const ssize_t length = file < 0 ? 0 : read(file, text, sizeof(text) - 1);
  const char* line = length <= 0 ? NULL : strstr(text, "Rss:");
  return line == NULL ? 0 : strtol(line + strlen("Rss:"), NULL, 10);
}

int main(void) {
  puts("hello");
  const long kib = resident_kib();
  if (kib > 0) { printf("metric rss_kib %ld\n", kib); }
  return 0;
}
