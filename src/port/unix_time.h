// Clocks, and what the process has used.
#ifndef MI_PORT_UNIX_TIME_H
#define MI_PORT_UNIX_TIME_H

#include <sys/resource.h>
#include <time.h>

static uint64_t ns_of(struct timespec t) {
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t clock_ns(clockid_t clock) {
  struct timespec t = {0};
  const int saved = errno;
  (void)clock_gettime(clock, &t);
  errno = saved;
  return ns_of(t);
}

static uint64_t timeval_ms(struct timeval t) {
  return (uint64_t)t.tv_sec * 1000u + (uint64_t)t.tv_usec / 1000u;
}

static void call_getrusage(struct rusage* usage) {
  const int saved = errno;
  (void)getrusage(RUSAGE_SELF, usage);
  errno = saved;
}

// The times; what else `usage` holds is not the same everywhere.
static void take_usage(port_usage_t* out, struct rusage* usage) {
  call_getrusage(usage);
  out->user_ms = timeval_ms(usage->ru_utime);
  out->system_ms = timeval_ms(usage->ru_stime);
}

#endif
