/* test: when=glibc timeout=20 */
/* malloc_stats writes glibc's lines, and what else is readable, to standard error, and nowhere
   else. */
#define _GNU_SOURCE
#include "../check.h"
#include "../lifecycle/process.h"
#include "opaque.h"

/* The number in the line that begins so, from `at` on; moves `at` behind it. */
static size_t number_of(const char** at, const char* line) {
  const char* found = strstr(*at, line);
  CHECK(found != NULL && (found == *at || found[-1] == '\n'));
  if (found == NULL) { return 0; }
  *at = found + strlen(line);
  return strtoul(*at, NULL, 10);
}

static void has_lines(const char* text) {
  const char* at = text;
  (void)number_of(&at, "Arena 0:\n");
  const size_t system = number_of(&at, "system bytes     = ");
  const size_t in_use = number_of(&at, "in use bytes     = ");
  CHECK(in_use <= system);
  (void)number_of(&at, "Total (incl. mmap):\n");
  const size_t all_system = number_of(&at, "system bytes     = ");
  const size_t all_in_use = number_of(&at, "in use bytes     = ");
  CHECK(all_in_use >= 45u << 20 && all_in_use <= all_system && all_system - system >= 40u << 20);
  CHECK(number_of(&at, "max mmap regions = ") >= 2);
  CHECK(number_of(&at, "max mmap bytes   = ") >= 80u << 20);
}

int main(void) {
  char error_name[] = "/tmp/malloc-stats-XXXXXX";
  char output_name[] = "/tmp/malloc-stats-XXXXXX";
  const int error_fd = mkstemp(error_name);
  const int output_fd = mkstemp(output_name);
  CHECK(error_fd >= 0 && output_fd >= 0);
  unlink(error_name);
  unlink(output_name);
  const int saved_error = dup(2);
  const int saved_output = dup(1);
  fflush(NULL);
  dup2(error_fd, 2);
  dup2(output_fd, 1);

  void* p = malloc(5 << 20);
  void* q = malloc(40 << 20);
  free(malloc(40 << 20)); /* two mappings of their own at one time */
  malloc_stats();
  free(q);
  free(p);
  fflush(NULL);

  dup2(saved_error, 2);
  dup2(saved_output, 1);
  static char text[4096];
  const ssize_t n = pread(error_fd, text, sizeof(text) - 1, 0);
  CHECK(n > 20);
  bool digit = false;
  for (ssize_t i = 0; i < n; i++) {
    digit |= text[i] >= '0' && text[i] <= '9';
    CHECK(text[i] != 0);
  }
  CHECK(digit);
  has_lines(text);
  CHECK(lseek(output_fd, 0, SEEK_END) == 0);
  return check_done();
}
