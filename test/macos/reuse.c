/* Memory has a tag; what was offered to the system is said to be in use again before it is; guards
   that are hit are signals that a program's own handler sees, with a report that knows reads from
   writes, and what is sent is not lost.
   reuse [segv]      a guard is a SIGSEGV, not a SIGBUS */
#include <malloc/malloc.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "mimalloc.h"

/* Only the loader has them: times of MADV_FREE_REUSABLE, of MADV_FREE_REUSE, and the tag of the
   memory that was mapped last. */
extern int machorun_offered(void) __attribute__((weak_import));
extern int machorun_reused(void) __attribute__((weak_import));
extern int machorun_tag(void) __attribute__((weak_import));

enum { BLOCKS = 200, BYTES = 500000 };
static sigjmp_buf place;
static volatile int hits, last;
static char said[20000];

static void on_fault(int number, siginfo_t* info, void* context) {
  (void)info, (void)context;
  hits++;
  last = number;
  siglongjmp(place, 1);
}

static void say(const char* text, void* unused) {
  (void)unused;
  const size_t before = strlen(said);
  for (size_t i = 0; text[i] != 0 && before + i + 1 < sizeof(said); i++) {
    said[before + i] = text[i];
    said[before + i + 1] = 0;
  }
}

static void test_guard(bool writes, int number) {
  volatile char* p = malloc(64);
  said[0] = 0;
  hits = 0;
  if (sigsetjmp(place, 1) == 0) {
    for (int i = 64; i < 100000; i++) {
      if (writes) {
        p[i] = 1;
      } else {
        (void)p[i];
      }
    }
  }
  CHECK(hits == 1 && last == number);
  CHECK(strstr(said, writes ? "overflow, a write" : "overflow, a read") != NULL);
}

/* Nothing would repeat a signal that is sent. */
static void test_sent(int number) {
  int status = 0;
  const pid_t child = fork();
  if (child == 0) {
    mi_option_set(mi_option_guarded_sample_rate, 1);
    for (int i = 0; i < 10; i++) { free(malloc(64)); }
    raise(number);
    _exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
}

int main(int argc, char** argv) {
  static char* blocks[BLOCKS];
  const bool is_segv = argc > 1 && strcmp(argv[1], "segv") == 0;
  test_sent(SIGBUS);
  test_sent(SIGSEGV);
  mi_option_set(mi_option_purge_decommits, 0);
  mi_option_set(mi_option_purge_delay, 0);
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < BLOCKS; i++) { blocks[i] = memset(malloc(BYTES), i, BYTES); }
    for (int i = 0; i < BLOCKS; i++) {
      CHECK(blocks[i][BYTES - 1] == (char)i);
      free(blocks[i]);
    }
    mi_collect(true);
  }
  CHECK(machorun_offered == NULL || (machorun_offered() > 0 && machorun_reused() > 0));
  CHECK(machorun_tag == NULL || machorun_tag() == mi_option_get(mi_option_os_tag));

  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  sigaction(SIGBUS, &action, NULL);
  sigaction(SIGSEGV, &action, NULL);
  mi_register_output(say, NULL);
  mi_option_set(mi_option_guarded_sample_rate, 1);
  mi_option_set(mi_option_guarded_precise, 1);
  for (int i = 0; i < 10; i++) { free(malloc(64)); }
  test_guard(true, is_segv ? SIGSEGV : SIGBUS);
  test_guard(false, is_segv ? SIGSEGV : SIGBUS);
  return check_done();
}
