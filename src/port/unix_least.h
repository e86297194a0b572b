// What most systems have something better for, by no more than POSIX 2008, behind unix_plain.h:
// waits that sleep for a moment, random bytes from a file, no memory figures.
#ifndef MI_PORT_UNIX_LEAST_H
#define MI_PORT_UNIX_LEAST_H

static bool is_set_user_id(void) { return getuid() != geteuid() || getgid() != getegid(); }

PRIVATE const char* port_program_name(void) { return "a program"; }

PRIVATE int port_random(void* out, size_t bytes) {
  const calm_t calm = calm_begin();
  const int descriptor = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  const long got = descriptor < 0 ? -1 : (long)read(descriptor, out, bytes);
  if (descriptor >= 0) { (void)close(descriptor); }
  calm_end(calm);
  return got == (long)bytes ? 0 : ENOSYS;
}

// How much memory the process has, POSIX does not say.
PRIVATE void port_usage(port_usage_t* out) {
  struct rusage usage = {0};
  *out = (port_usage_t){0};
  take_usage(out, &usage);
}

static _Atomic(uint32_t) sleepers;  // threads in port_wait, about

// The more threads sleep, the longer each does: a thousand that look every moment would leave the
// holder of the lock no time.
PRIVATE void port_wait(_Atomic(uint32_t)* word, uint32_t value) {
  enum { SOON_NS = 50000, SLEEPERS_MOST = 400 };
  const uint32_t others = add_relaxed(&sleepers, 1);
  const struct timespec soon = {
      .tv_nsec = SOON_NS * (1 + (long)(others < SLEEPERS_MOST ? others : SLEEPERS_MOST))};
  const calm_t calm = calm_begin();
  if (load_relaxed(word) == value) { (void)nanosleep(&soon, NULL); }
  calm_end(calm);
  (void)sub_relaxed(&sleepers, 1);
}

PRIVATE void port_wake_one(_Atomic(uint32_t)* word) { (void)word; }

#endif
