/* test: timeout=60 only=preload when="release glibc" */
/* A process that takes and gives back a block of 4 MiB again and again keeps its memory: after a
   few rounds there is no page fault and no system call any more. What it keeps is bounded. */
#define _GNU_SOURCE
#include "filter.h"

#include "../check.h"
#include "process.h"
#include "workout.h"

enum { BLOCK = 4 << 20, IDLE_MOST = 8 << 20, WARM_UP = 100, FEW_FAULTS = 16 };
enum { ROUNDS = 100000 }; /* more than a second, after which unused memory would be purged */

static void churn(int rounds) {
  for (int i = 0; i < rounds; i++) {
    char* p = (char*)malloc(BLOCK);
    for (size_t at = 0; at < BLOCK; at += 4096) { p[at] = (char)i; }
    free(p);
  }
}

static int no_faults_and_bounded(void) {
  const size_t before = resident_kib();
  churn(WARM_UP);
  const long begin = page_faults();
  churn(ROUNDS);
  const long more = page_faults() - begin;
  const size_t idle = resident_kib() - before;
  printf("%ld page faults in %d rounds, %zu KiB resident afterwards\n", more, ROUNDS, idle);
  CHECK(more <= FEW_FAULTS);
  CHECK(idle <= IDLE_MOST / 1024);
  return check_done();
}

/* The system ends the process at the first call that is not among these. */
static int no_calls(void) {
  churn(WARM_UP);
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  if (!filter_install(code, sizeof(code) / sizeof(code[0]))) {
    return skip("no seccomp filters here");
  }
  churn(ROUNDS);
  _exit(0);
}

int main(void) {
  CHECK(in_child(no_calls, 30) == 0);
  CHECK(no_faults_and_bounded() == 0);
  return check_done();
}
