/* Seccomp filters written by hand: a list of system calls that fail with an error from now on, in
   all threads of this process and in its descendants. filter_calls returns false where the system
   does not allow filters. */
#ifndef TEST_FILTER_H
#define TEST_FILTER_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_mmap2
enum { CALL_MMAP = SYS_mmap2 };
#else
enum { CALL_MMAP = SYS_mmap };
#endif

/* Calls that not every kernel or architecture has; -1 is none. */
#ifdef SYS_alarm
enum { CALL_ALARM = SYS_alarm };
#else
enum { CALL_ALARM = -1 };
#endif
#ifdef SYS_clone3
enum { CALL_CLONE3 = SYS_clone3 };
#else
enum { CALL_CLONE3 = -1 };
#endif
#ifdef SYS_rseq
enum { CALL_RSEQ = SYS_rseq };
#else
enum { CALL_RSEQ = -1 };
#endif

/* For memory, threads, children and output: each list of allowed calls begins with these. */
#define CALLS_ALL_NEED                                                                          \
  CALL_MMAP, SYS_munmap, SYS_mprotect, SYS_brk, SYS_futex, SYS_clone, SYS_exit, SYS_exit_group, \
      SYS_rt_sigprocmask, SYS_set_robust_list, SYS_gettid, SYS_getpid, SYS_wait4, SYS_write,    \
      SYS_setitimer, CALL_ALARM, CALL_CLONE3, CALL_RSEQ

#if __has_include(<linux/filter.h>)
#include <linux/filter.h>
#include <linux/seccomp.h>

enum { FILTER_MOST = 30 };

static inline bool filter_install(struct sock_filter* code, size_t n) {
  struct sock_fprog program = {(unsigned short)n, code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

/* What comes of the `count` calls in `numbers`, and of all others. */
static inline bool filter_listed(const long* numbers, int count, unsigned listed, unsigned others) {
  struct sock_filter code[FILTER_MOST + 3];
  int n = 0;
  code[n++] =
      (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (int i = 0; i < count && i < FILTER_MOST; i++) {
    const unsigned char to_listed = (unsigned char)(count - i);
    code[n++] =
        (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)numbers[i], to_listed, 0);
  }
  code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, others);
  code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, listed);
  return filter_install(code, (size_t)n);
}

/* The `count` calls in `numbers` fail with `error`; all others are allowed. */
static inline bool filter_calls(const long* numbers, int count, int error) {
  return filter_listed(numbers, count, SECCOMP_RET_ERRNO | (unsigned)error, SECCOMP_RET_ALLOW);
}

/* Only the `count` calls in `numbers` are allowed; all others fail with `error`. */
static inline bool filter_all_but(const long* numbers, int count, int error) {
  return filter_listed(numbers, count, SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO | (unsigned)error);
}

/* madvise fails with `error` for this advice; little-endian machines only. */
static inline bool filter_advice(int advice, int error) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + 2 * 8),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)advice, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
  };
  return filter_install(code, sizeof(code) / sizeof(code[0]));
}

/* Anonymous mmap, and mremap, fail with ENOMEM in all threads; maps of files go on (libraries). brk
   cannot be made to fail in its own way by a filter (it answers with an address), so a limit on
   data does that. */
static inline bool filter_new_memory(void) {
  const struct rlimit none = {0, RLIM_INFINITY};
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CALL_MMAP, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mremap, 3, 2),
      /* the flags; their low half comes first on little-endian machines only */
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + 3 * 8),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_ANONYMOUS, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOMEM),
  };
  return setrlimit(RLIMIT_DATA, &none) == 0 && filter_install(code, sizeof(code) / sizeof(code[0]));
}

#else /* a C library without the kernel's headers */

static inline bool filter_calls(const long* numbers, int count, int error) {
  return numbers == NULL && count == error;
}
static inline bool filter_all_but(const long* numbers, int count, int error) {
  return numbers == NULL && count == error;
}
static inline bool filter_advice(int advice, int error) { return advice == error; }
static inline bool filter_new_memory(void) { return false; }

#endif
#endif
