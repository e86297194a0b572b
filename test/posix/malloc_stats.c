/* test: when=glibc timeout=20 */
/* malloc_stats writes something readable to standard error, and nowhere else. */
#define _GNU_SOURCE
#include "../check.h"
#include "../lifecycle/process.h"
#include "opaque.h"

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
  malloc_stats();
  free(p);
  fflush(NULL);

  dup2(saved_error, 2);
  dup2(saved_output, 1);
  char text[4096];
  const ssize_t n = pread(error_fd, text, sizeof(text), 0);
  CHECK(n > 20);
  bool digit = false;
  for (ssize_t i = 0; i < n; i++) {
    digit |= text[i] >= '0' && text[i] <= '9';
    CHECK(text[i] != 0);
  }
  CHECK(digit);
  CHECK(lseek(output_fd, 0, SEEK_END) == 0);
  return check_done();
}
