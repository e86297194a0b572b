/* test: not-emulated="addresses of faults and stacks are not those of a machine" timeout=300 when="release|debug|secure|guarded linux posix"
   Sampled guards: every misuse of a guarded block, on either side of its memory, at many sizes.
   Each runs in a child, whose end and whose last words are compared with what is promised: stacks
   are among them, which not every port has. */
#define _GNU_SOURCE 1
#include "../lifecycle/filter.h"
#include "api.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { OS_PAGE_MOST = 64 * KIB, WORDS = 16384 };

static size_t os_page(void) { return (size_t)sysconf(_SC_PAGESIZE); }

/* ---- a child and what it says ---- */

typedef struct {
  int status;
  char words[WORDS];
} ending_t;

typedef void action_t(void* arg);

static void read_all(int fd, ending_t* out) {
  size_t length = 0;
  for (;;) {
    char rest[512];
    const bool fits = length + 1 < WORDS;
    const ssize_t n = read(fd, fits ? out->words + length : rest, fits ? WORDS - 1 - length : 512);
    if (n < 0 && errno == EINTR) { continue; }
    if (n <= 0) { break; }
    length += fits ? (size_t)n : 0;
  }
  out->words[length] = 0;
}

static void run(action_t* action, void* arg, ending_t* out) {
  int ends[2];
  CHECK(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const struct rlimit no_core = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &no_core);
    (void)dup2(ends[1], 2);
    close(ends[0]), close(ends[1]);
    alarm(60);
    action(arg);
    _exit(0);
  }
  close(ends[1]);
  read_all(ends[0], out);
  close(ends[0]);
  CHECK(waitpid(child, &out->status, 0) == child);
}

static bool died_by(const ending_t* end, int number) {
  return WIFSIGNALED(end->status) && WTERMSIG(end->status) == number;
}
static bool exited_with(const ending_t* end, int code) {
  return WIFEXITED(end->status) && WEXITSTATUS(end->status) == code;
}

/* ---- blocks on the side that is wanted ---- */

typedef enum { LEFT, RIGHT } side_t;

static void guard_everything(bool precise) {
  mi_option_set(mi_option_corruption, 2);
  mi_option_set(mi_option_guarded_precise, precise);
  mi_heap_guarded_set_sample_rate(mi_heap_main(), 1, 7);
}

/* Does it end, as far as 16-byte alignment lets it, where an OS page ends? */
static bool is_on(side_t side, const unsigned char* p, size_t size) {
  const size_t end = address_of(p + size) % os_page();
  const bool right = end == 0 || os_page() - end < 16;
  return side == LEFT ? is_aligned(p, os_page()) && !right : right && !is_aligned(p, os_page());
}

static unsigned char* take(side_t side, size_t size) {
  enum { TRIES = 100 };
  unsigned char* p = NULL;
  for (int i = 0; i < TRIES; i++) {
    p = (unsigned char*)mi_malloc(size);
    memset(p, 1, size);
    if (size % os_page() == 0 || is_on(side, p, size)) { return p; }
    mi_free(p);
  }
  fprintf(stderr, "no block on that side");
  _exit(99);
}

/* ---- misuses ---- */

typedef struct {
  const char* name;
  side_t side;
  bool precise;
  void (*commit)(volatile unsigned char* p, size_t size);
  int signal;
  const char* said; /* %zu: the size */
  bool freed;       /* the stack of the free is there too */
} misuse_t;

static void free_it(volatile unsigned char* p) { mi_free((void*)(uintptr_t)p); }
static void write_behind(volatile unsigned char* p, size_t size) { p[size] = 9; }
static void read_behind(volatile unsigned char* p, size_t size) { (void)p[size]; }
static void write_before(volatile unsigned char* p, size_t size) { (void)size, p[-1] = 9; }
static void read_before(volatile unsigned char* p, size_t size) { (void)size, (void)p[-1]; }
static void write_far_behind(volatile unsigned char* p, size_t size) {
  p[(size + 15) / 16 * 16 + 5] = 9;
}
static void write_behind_and_free(volatile unsigned char* p, size_t size) {
  p[size] = 9;
  free_it(p);
}
static void zero_behind_and_free(volatile unsigned char* p, size_t size) {
  p[size] = 0;
  free_it(p);
}
static void write_before_and_free(volatile unsigned char* p, size_t size) {
  (void)size;
  p[-1] = 9;
  free_it(p);
}
static void read_freed(volatile unsigned char* p, size_t size) {
  free_it(p);
  (void)p[size / 2];
}
static void write_freed(volatile unsigned char* p, size_t size) {
  free_it(p);
  p[size - 1] = 9;
}
static void write_freed_later(volatile unsigned char* p, size_t size) {
  free_it(p);
  if (size < 100 * KIB) { /* else the quarantine would be full */
    for (int i = 0; i < 100; i++) { mi_free(mi_malloc(size)); }
  }
  p[0] = 9;
}
static void realloc_freed(volatile unsigned char* p, size_t size) {
  free_it(p);
  volatile unsigned char* q = (unsigned char*)mi_realloc((void*)(uintptr_t)p, size);
  q[0] = 1;
}
static void free_twice(volatile unsigned char* p, size_t size) {
  (void)size;
  free_it(p);
  free_it(p);
}
static void free_inside(volatile unsigned char* p, size_t size) { free_it(p + size / 2); }
static void free_behind(volatile unsigned char* p, size_t size) { free_it(p + size + 16); }

static const misuse_t misuses[] = {
    {"write_behind", RIGHT, true, write_behind, SIGSEGV, "overflow, a write: ", false},
    {"read_behind", RIGHT, true, read_behind, SIGSEGV, "overflow, a read: ", false},
    {"far_behind", RIGHT, false, write_far_behind, SIGSEGV, "beyond the end of a block of %zu byte",
     false},
    {"write_before", LEFT, false, write_before, SIGSEGV, "underflow, a write: ", false},
    {"read_before", LEFT, false, read_before, SIGSEGV, "1 byte before the start of a block of %zu",
     false},
    {"behind_and_free", LEFT, false, write_behind_and_free, SIGABRT,
     "overflow, noticed when the block is freed: ", false},
    {"zero_behind_and_free", LEFT, false, zero_behind_and_free, SIGABRT,
     "1 byte beyond the end of a block of %zu", false},
    {"before_and_free", RIGHT, false, write_before_and_free, SIGABRT,
     "underflow, noticed when the block is freed: ", false},
    {"read_freed", LEFT, false, read_freed, SIGSEGV, "use after free, a read: ", true},
    {"write_freed", RIGHT, false, write_freed, SIGSEGV, "use after free, a write: ", true},
    {"write_freed_later", RIGHT, true, write_freed_later, SIGSEGV,
     "0 bytes into a block of %zu byte", true},
    {"realloc_freed", RIGHT, false, realloc_freed, SIGSEGV, "use after free", true},
    {"free_twice", RIGHT, false, free_twice, SIGABRT, "double free: ", true},
    {"free_twice", LEFT, false, free_twice, SIGABRT, "a block of %zu byte", true},
    {"free_inside", LEFT, false, free_inside, SIGABRT, "not the start of a block: ", false},
    {"free_behind", RIGHT, false, free_behind, SIGABRT, "beyond the end of a block of %zu", false},
};

typedef struct {
  const misuse_t* misuse;
  size_t size;
} deed_t;

static void commit(void* arg) {
  const deed_t* deed = (const deed_t*)arg;
  guard_everything(deed->misuse->precise);
  deed->misuse->commit(take(deed->misuse->side, deed->size), deed->size);
}

/* Not every processor tells whether it was a read. */
static bool says(const char* words, const char* expected, size_t size) {
  char line[200];
  (void)snprintf(line, sizeof(line), expected, size);
#if !defined(__x86_64__) && !defined(__i386__)
  char* comma = strstr(line, ", a ");
  if (comma != NULL) { *comma = 0; }
#endif
  return strstr(words, line) != NULL;
}

static bool makes_sense(const misuse_t* misuse, size_t size) {
  const bool checked = misuse->commit == write_behind_and_free ||
                       misuse->commit == zero_behind_and_free ||
                       misuse->commit == write_before_and_free;
  if (checked && size % os_page() == 0) { return false; } /* there is no room for a canary */
  if (misuse->commit == free_inside && size < 2) { return false; }
  return true;
}

static void test_misuse(const misuse_t* misuse, size_t size) {
  const deed_t deed = {misuse, size};
  ending_t end;
  run(commit, (void*)&deed, &end);
  const bool right = died_by(&end, misuse->signal) && says(end.words, misuse->said, size) &&
                     strstr(end.words, "allocated by thread") != NULL &&
                     (strstr(end.words, "freed by thread") != NULL) == misuse->freed;
  CHECK(right);
  if (!right) {
    fprintf(stderr, "%s of %zu bytes: status %x\n%s\n", misuse->name, size, (unsigned)end.status,
            end.words);
  }
}

static void test_misuses(void) {
  static const size_t sizes[] = {1, 24, 100, 1000, 4096, 10000, 40000, 300001, 5 * MIB};
  for (size_t i = 0; i < sizeof(misuses) / sizeof(misuses[0]); i++) {
    for (size_t j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++) {
      if (makes_sense(&misuses[i], sizes[j])) { test_misuse(&misuses[i], sizes[j]); }
    }
  }
}

/* ---- every time: no chance decides on which side a precise block lies ---- */

/* The compiler need not know that it is a block. */
static volatile unsigned char* take_guarded(mi_option_t side, size_t size) {
  mi_option_set(side, 1);
  mi_heap_guarded_set_sample_rate(mi_heap_main(), 1, 0);
  void* volatile p = mi_malloc(size);
  return (unsigned char*)p;
}

static void overflow_by_one(void* arg) {
  const size_t size = *(const size_t*)arg;
  write_behind(take_guarded(mi_option_guarded_precise, size), size);
}

static void underflow_by_one(void* arg) {
  const size_t size = *(const size_t*)arg;
  write_before(take_guarded(mi_option_guarded_underflow, size), size);
}

static void test_each_time(void) {
  enum { RUNS = 100 };
  static const size_t sizes[] = {1, 24, 141, 4096, 300001};
  for (size_t i = 0; i < RUNS; i++) {
    size_t size = sizes[i % (sizeof(sizes) / sizeof(sizes[0]))];
    ending_t end;
    run(overflow_by_one, &size, &end);
    CHECK(died_by(&end, SIGSEGV) && says(end.words, "overflow, a write: ", size));
    run(underflow_by_one, &size, &end);
    CHECK(died_by(&end, SIGSEGV) && says(end.words, "underflow, a write: ", size));
  }
}

/* ---- without a fatal policy the process goes on ---- */

static void misuse_and_go_on(void* arg) {
  (void)arg;
  guard_everything(false);
  mi_option_set(mi_option_corruption, 0);
  free_twice(take(RIGHT, 100), 100);
  free_inside(take(RIGHT, 100), 100);
  write_behind_and_free(take(LEFT, 100), 100);
  unsigned char* p = take(LEFT, 100);
  mi_free(p);
  _exit(31);
}

static int error_seen;
static void on_error(int err, void* arg) { (void)arg, error_seen = err; }

static void misuse_and_ask(void* arg) {
  (void)arg;
  guard_everything(false);
  mi_option_set(mi_option_corruption, 1);
  mi_register_error(on_error, NULL);
  free_twice(take(RIGHT, 100), 100);
  _exit(error_seen == EAGAIN ? 32 : 1);
}

static void test_policy(void) {
  ending_t end;
  run(misuse_and_go_on, NULL, &end);
  CHECK(exited_with(&end, 31) && strstr(end.words, "double free") != NULL &&
        strstr(end.words, "not the start") != NULL &&
        strstr(end.words, "overflow, noticed") != NULL);
  run(misuse_and_ask, NULL, &end);
  CHECK(exited_with(&end, 32) && strstr(end.words, "double free") != NULL);
}

/* ---- the program's own handlers ---- */

static const void* volatile fault_at;
static volatile sig_atomic_t calls;
static sigjmp_buf again;

static void leave_with_77(int number, siginfo_t* info, void* context) {
  (void)number, (void)context;
  _exit(info->si_addr == fault_at && info->si_code > 0 ? 77 : 1);
}
static void count_calls(int number) { (void)number, calls++; }
static void jump_back(int number) { (void)number, siglongjmp(again, 1); }
static void leave_if_masked(int number, siginfo_t* info, void* context) {
  sigset_t blocked;
  (void)info, (void)context;
  (void)sigprocmask(SIG_BLOCK, NULL, &blocked);
  _exit(sigismember(&blocked, SIGUSR1) && sigismember(&blocked, number) ? 78 : 1);
}

static void handle(int number, void (*plain)(int), void (*full)(int, siginfo_t*, void*),
                   int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  (void)sigaddset(&action.sa_mask, SIGUSR1);
  action.sa_flags = flags;
  if (full != NULL) {
    action.sa_sigaction = full, action.sa_flags |= SA_SIGINFO;
  } else {
    action.sa_handler = plain;
  }
  CHECK(sigaction(number, &action, NULL) == 0);
}

static void overflow_here(void) {
  unsigned char* p = take(RIGHT, 64);
  fault_at = p + 64;
  write_behind(p, 64);
}

static unsigned char* foreign(void) {
  void* p = mmap(NULL, OS_PAGE_MOST, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  fault_at = p;
  return (unsigned char*)p;
}

static void ours_with_handler(void* arg) {
  (void)arg;
  handle(SIGSEGV, NULL, leave_with_77, 0);
  guard_everything(false);
  overflow_here();
}
static void foreign_with_handler(void* arg) {
  (void)arg;
  handle(SIGSEGV, NULL, leave_with_77, SA_ONSTACK);
  guard_everything(false);
  write_behind(foreign(), 0);
}
static void foreign_with_default(void* arg) {
  (void)arg;
  guard_everything(false);
  write_behind(foreign(), 0);
}
static void foreign_when_ignored(void* arg) {
  (void)arg;
  (void)signal(SIGSEGV, SIG_IGN);
  guard_everything(false);
  (void)raise(SIGSEGV); /* ignored, but not the fault */
  (void)!write(2, "on", 2);
  write_behind(foreign(), 0);
}
static void foreign_bus_error(void* arg) {
  char name[] = "/tmp/guarded-XXXXXX";
  const int fd = mkstemp(name);
  (void)arg;
  (void)unlink(name);
  guard_everything(false);
  unsigned char* p = (unsigned char*)mmap(NULL, OS_PAGE_MOST, PROT_READ, MAP_SHARED, fd, 0);
  read_behind(p, 0);
}
static void handler_once(void* arg) {
  (void)arg;
  handle(SIGSEGV, count_calls, NULL, (int)SA_RESETHAND);
  guard_everything(false);
  write_behind(foreign(), 0); /* the handler returns: the second fault has the default action */
}
static void sent_with_default(void* arg) {
  (void)arg;
  guard_everything(false);
  (void)raise(SIGSEGV);
}
static void sent_with_handler(void* arg) {
  (void)arg;
  handle(SIGSEGV, count_calls, NULL, 0);
  guard_everything(false);
  (void)raise(SIGSEGV);
  (void)kill(getpid(), SIGSEGV);
  _exit(calls == 2 ? 79 : 1);
}
/* The flag says nothing where there is no function. */
static void sent_when_ignored(void* arg) {
  (void)arg;
  handle(SIGSEGV, SIG_IGN, NULL, SA_SIGINFO);
  guard_everything(false);
  (void)raise(SIGSEGV);
  _exit(81);
}
static void two_faults(void* arg) {
  (void)arg;
  handle(SIGSEGV, jump_back, NULL, SA_NODEFER);
  guard_everything(false);
  volatile int round = 0;
  if (sigsetjmp(again, 1) != 0) { round++; }
  if (round == 0) { overflow_here(); }
  if (round == 1) { read_freed(take(LEFT, 200), 200); }
  _exit(80);
}
static void masked(void* arg) {
  (void)arg;
  handle(SIGSEGV, NULL, leave_if_masked, 0);
  guard_everything(false);
  overflow_here();
}

static bool reported(const ending_t* end) { return strstr(end->words, "mimalloc: error") != NULL; }

/* The library's handler is there from the start in a guarded build, and gives way to the program's.
 */
static bool is_first(void) { return mi_option_get(mi_option_guarded_sample_rate) == 0; }

static void test_handlers(void) {
  ending_t end;
  run(ours_with_handler, NULL, &end);
  CHECK(exited_with(&end, 77) && (strstr(end.words, "overflow") != NULL) == is_first());
  run(foreign_with_handler, NULL, &end);
  CHECK(exited_with(&end, 77) && !reported(&end));
  run(foreign_with_default, NULL, &end);
  CHECK(died_by(&end, SIGSEGV) && !reported(&end));
  run(foreign_when_ignored, NULL, &end);
  CHECK(died_by(&end, SIGSEGV) && strcmp(end.words, "on") == 0);
  run(foreign_bus_error, NULL, &end);
  CHECK(died_by(&end, SIGBUS) && !reported(&end));
  run(handler_once, NULL, &end);
  CHECK(died_by(&end, SIGSEGV) && !reported(&end));
  run(sent_with_default, NULL, &end);
  CHECK(died_by(&end, SIGSEGV) && !reported(&end));
  run(sent_with_handler, NULL, &end);
  CHECK(exited_with(&end, 79) && !reported(&end));
  run(sent_when_ignored, NULL, &end);
  CHECK(exited_with(&end, 81) && !reported(&end));
  run(two_faults, NULL, &end);
  CHECK(exited_with(&end, 80) && (strstr(end.words, "overflow") != NULL) == is_first() &&
        (strstr(end.words, "use after free") != NULL) == is_first());
  run(masked, NULL, &end);
  CHECK(exited_with(&end, 78) && reported(&end) == is_first());
}

/* ---- as long as nobody asks for guards there is no handler ---- */

static void test_off(void) {
  struct sigaction action;
  if (mi_option_get(mi_option_guarded_sample_rate) != 0) { return; }
  CHECK(sigaction(SIGSEGV, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
  CHECK(sigaction(SIGBUS, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
}

int main(int argc, char** argv) {
  enum { GUARD_INSTALL = 102 };
  test_off();
  test_policy();
  test_handlers();
  test_misuses();
  test_each_time();
  if (check_done() == 0 && argc == 1 && filter_advice(GUARD_INSTALL, EINVAL)) {
    (void)execl("/proc/self/exe", argv[0], "by-protection", (char*)NULL);
  }
  return check_done();
}
