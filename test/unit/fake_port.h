/* A port for unit tests of src/service: an environment, a standard error and an OS that the test
   controls. Include it before the sources under test. */
#ifndef TEST_FAKE_PORT_H
#define TEST_FAKE_PORT_H

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/port/port.h"

static struct {
  const char** environment; /* ends with NULL; NULL: not known yet */
  bool set_uid;
  bool random_refused;
  uint64_t clock_ns;
  char written[1 << 16]; /* what went to standard error, terminated */
  size_t written_length;
  jmp_buf* abort_to; /* where port_abort goes; NULL: the test fails */
} fake_port;

static char* const* port_environ(void) {
  return fake_port.set_uid ? NULL : (char* const*)(uintptr_t)fake_port.environment;
}

static void port_write_stderr(const char* text, size_t length) {
  if (fake_port.written_length + length >= sizeof(fake_port.written)) { exit(4); }
  memcpy(fake_port.written + fake_port.written_length, text, length);
  fake_port.written_length += length;
  fake_port.written[fake_port.written_length] = 0;
}

static int port_random(void* out, size_t bytes) {
  if (!fake_port.random_refused) { memset(out, 0x5A, bytes); }
  return fake_port.random_refused;
}

static int64_t port_clock_ms(void) { return (int64_t)(fake_port.clock_ns / 1000000); }

#ifdef MI_PORT_STRICT
HIDDEN THREAD_LOCAL int port_thread_mark; /* what its port_thread_id asks for */
#endif
static uint64_t port_clock_ns(void) { return fake_port.clock_ns; }

static _Noreturn void port_abort(void) {
  if (fake_port.abort_to != NULL) { longjmp(*fake_port.abort_to, 1); }
  exit(3);
}

/* What was written since the last call. */
static const char* fake_port_written(void) {
  static char text[sizeof(fake_port.written)];
  memcpy(text, fake_port.written, sizeof(text));
  fake_port.written_length = 0;
  fake_port.written[0] = 0;
  return text;
}

static size_t count_of(const char* text, const char* part) {
  size_t n = 0;
  for (const char* p = text; (p = strstr(p, part)) != NULL; p += strlen(part)) { n++; }
  return n;
}

#endif
