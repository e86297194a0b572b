/* test: timeout=60 when="linux posix release|debug|secure|guarded" */
/* A filter as Android has one for its apps: a call that is not in the list ends the process by
   SIGSYS. malloc, threads, forks, collection, statistics and the figures of the process go on with
   calls that Android's C library makes too. (glibc's own are clone3 and rseq.) */
#define _GNU_SOURCE
#include "../lifecycle/filter.h"

#include <mimalloc.h>
#include <signal.h>

#include "../check.h"
#include "../lifecycle/process.h"
#include "../lifecycle/workout.h"

#if defined(SECCOMP_RET_TRAP) && defined(__LP64__) /* with 32 bits calls have other names */

static const long allowed[] = {
    CALLS_ALL_NEED, SYS_madvise,      SYS_mremap,    SYS_openat,    SYS_read,
    SYS_close,      SYS_fcntl,        SYS_getrandom, SYS_getrusage, SYS_clock_gettime,
    SYS_prlimit64,  SYS_rt_sigaction, SYS_prctl,
};
enum { ALLOWED = sizeof(allowed) / sizeof(allowed[0]) };
_Static_assert((int)ALLOWED <= (int)FILTER_MOST, "the filter takes them all");

static bool install(void) {
  return filter_listed(allowed, ALLOWED, SECCOMP_RET_ALLOW, SECCOMP_RET_TRAP);
}

/* A list of what a process with one thread needs for memory that it has begun to use, and that a
   sandbox is made of after that. Blocks that are sampled need its last call too: the number of the
   thread is noted. */
static const long few[] = {
    CALL_MMAP,        SYS_munmap,    SYS_mprotect,   SYS_mremap,        SYS_madvise,
    SYS_futex,        SYS_write,     SYS_exit_group, SYS_clock_gettime, SYS_rt_sigreturn,
    SYS_rt_sigaction, SYS_getrandom, SYS_getrusage,  SYS_gettid,
};
enum { FEW = sizeof(few) / sizeof(few[0]) };

static int worker(void) {
  enum { BLOCKS = 400, BYTES = 100000, ROUNDS = 3 };
  static char* blocks[BLOCKS];
  mi_free(mi_malloc(100));
  const bool is_sampled = mi_option_get(mi_option_guarded_sample_rate) > 0;
  if (!filter_listed(few, is_sampled ? FEW : FEW - 1, SECCOMP_RET_ALLOW, SECCOMP_RET_TRAP)) {
    return skip("no seccomp filters here");
  }
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < BLOCKS; i++) { blocks[i] = memset(mi_malloc(BYTES), 1, BYTES); }
    for (int i = 0; i < BLOCKS; i += 2) { mi_free(blocks[i]); }
    for (int i = 1; i < BLOCKS; i += 2) { mi_free(blocks[i]); }
  }
  mi_collect(true);
  return check_done();
}

static void ignore(const char* text, void* unused) { (void)text, (void)unused; }

static int all(void) {
  if (!install()) { return skip("no seccomp filters here"); }
  CHECK(workout() && workout_in_thread());
  void* large = mi_malloc((size_t)100 << 20);
  CHECK(large != NULL);
  large = mi_realloc(large, (size_t)200 << 20);
  CHECK(large != NULL);
  mi_free(large);
  mi_collect(true);
  mi_stats_print_out(ignore, NULL);
  size_t resident = 0;
  mi_process_info(NULL, NULL, NULL, &resident, NULL, NULL, NULL, NULL);
  CHECK(resident > 0);
  mi_heap_t* heap = mi_heap_new();
  CHECK(mi_heap_malloc(heap, 1000) != NULL);
  mi_heap_destroy(heap);
  CHECK(in_child(workout_of_child, 10) == 0);
  CHECK(workout());
  return check_done();
}

/* The filter is there. */
static int forbidden_call(void) {
  if (!install()) { return skip("no seccomp filters here"); }
  (void)syscall(SYS_getppid);
  return 1;
}

int main(void) {
  CHECK(in_child(worker, 20) == 0);
  CHECK(in_child(all, 20) == 0);
  const int status = in_child(forbidden_call, 10);
  CHECK(status == 128 + SIGSYS || status == 0);
  return check_done();
}

#else
int main(void) { return skip("for 64 bits, with the kernel's headers"); }
#endif
