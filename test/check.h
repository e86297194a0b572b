/* Checks for the test programs: CHECK(condition) reports a broken promise with its place and goes
   on; check_done() is what main returns. A check that holds allocates nothing, takes no lock and
   leaves errno alone. */
#ifndef TEST_CHECK_H
#define TEST_CHECK_H

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static int check_failures;

static void check_failed(const char* file, int line, const char* text) {
  const int saved = errno;
  char message[400];
  const int n = snprintf(message, sizeof(message), "%s:%d: failed: %s\n", file, line, text);
  const int length = n < (int)sizeof(message) ? n : (int)sizeof(message) - 1;
  if (write(2, message, (size_t)length) < 0) { /* nowhere to say it: the count still tells */
  }
  __atomic_add_fetch(&check_failures, 1, __ATOMIC_RELAXED);
  errno = saved;
}

#define CHECK(c) ((c) ? (void)0 : check_failed(__FILE__, __LINE__, #c))

static int check_done(void) {
  const int n = __atomic_load_n(&check_failures, __ATOMIC_RELAXED);
  if (n != 0) { fprintf(stderr, "%d check%s failed\n", n, n == 1 ? "" : "s"); }
  return n == 0 ? 0 : 1;
}

#endif
