/* test: runs-itself label=fault timeout=900 when="glibc" */
/* Every OS call fails, in every scenario: for each scenario, kind of call, error and n, a process
   of its own runs the scenario with call n failing (or calls n and n + 1, or n and all later ones),
   from the first instruction of the library on; then it runs it again with no call failing. It may
   not crash, hang or lose a byte; its arenas are in order all the time, and at the end no page,
   heap or thread of the library's is left, and no memory that nobody uses. With FAULT_FEW in the
   environment each fails with one error, and of the later calls one in so many; in an emulator,
   which takes seconds for each run, calls 1, 4, 16, ….

   One run by itself, for a debugger: FAULT="SCENARIO KIND ERROR FIRST LAST" ./fault, as printed
   for each run that goes wrong. With arguments: only these scenarios. */
#include "scenarios.h"
#include "walk.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

enum { SECONDS_A_RUN = 20, NO_LAST = 1000000, KEPT = 12 };

/* ---- One run ---- */

/* What the process that started us wants to know. */
typedef struct result {
  unsigned calls, injected;
} result_t;

static unsigned plan_scenario;

/* Before the library's own constructor: its calls count too. */
__attribute__((constructor(101))) static void read_plan(void) {
  const char* text = getenv("FAULT");
  unsigned long word[5] = {0};
  if (text == NULL) { return; }
  for (int i = 0; i < 5; i++) { word[i] = strtoul(text, (char**)(uintptr_t)&text, 10); }
  plan_scenario = (unsigned)(word[0] % SCENARIOS);
  fault_plan = (fault_plan_t){
      .kind = (fault_kind_t)(word[1] % FAULT_KINDS),
      .error = (int)word[2],
      .first = (unsigned)word[3],
      .last = (unsigned)word[4],
  };
  atomic_store(&fault_armed, true);
}

static void swallow(const char* text, void* arg) { (void)text, (void)arg; }

/* A thread whose end nobody tells, having no key, leaves its record to the next one that needs it.
 */
static bool ends_are_told(void) {
  switch (fault_plan.kind) {
    case FAULT_KEY:
    case FAULT_SPECIFIC:
    case FAULT_ANY: return false;
    default: return true;
  }
}

/* With no call failing any more, everything goes back. What a program reserved itself stays. */
static void check_nothing_left(void) {
  mi_stats_t stats = {.size = sizeof(stats), .version = MI_STAT_VERSION};
  mi_collect(true);
  guard_flush();
  page_release_kept(); /* memory that keeps its class */
  mi_collect(true);
  CHECK(arenas_are_sound());
  CHECK(memory.dirty_slices == 0 || !PORT_CAN_RELEASE);
  CHECK(memory.direct.count == 0 && memory.direct.bytes == 0);
  CHECK(mi_stats_get(&stats));
  CHECK(stats.malloc_normal.current == 0 && stats.malloc_huge.current == 0);
  CHECK(stats.heaps.current == 1);
  if (!ends_are_told()) { return; }
  CHECK(pages_in_use() == 0 && memory.taken_slices == 0);
  CHECK(stats.threads.current == 1);
}

static int run_plan(int result_fd) {
  const struct rlimit no_core = {0};
  setrlimit(RLIMIT_CORE, &no_core);
  alarm(SECONDS_A_RUN);
  mi_register_output(swallow, NULL);

  item_t kept[KEPT]; /* outlive the failures */
  for (size_t i = 0; i < KEPT; i++) { kept[i] = item_new((size_t)20 << i, i); }
  scenarios[plan_scenario].run();
  CHECK(arenas_are_sound());
  atomic_store(&fault_armed, false);
  scenarios[plan_scenario].run();
  items_free(kept, KEPT);
  mi_collect(true);
  scenario_small();
  check_nothing_left();

  const result_t result = {atomic_load(&fault_calls), atomic_load(&fault_injected)};
  if (result_fd >= 0 && write(result_fd, &result, sizeof(result)) != sizeof(result)) { return 2; }
  return check_failures == 0 ? 0 : 1;
}

/* ---- All runs ---- */

static unsigned runs, bad_runs, all_injected;

static pid_t start_run(const char* plan, int result_fd) {
  const pid_t child = fork();
  if (child != 0) { return child; }
  char* const environment[] = {(char*)(uintptr_t)plan, NULL};
  char fd[16];
  snprintf(fd, sizeof(fd), "%d", result_fd);
  char* const arguments[] = {(char*)(uintptr_t)"fault", fd, NULL};
  execve("/proc/self/exe", arguments, environment);
  _exit(127);
}

/* Shows how the run ended if it ended badly; false if it had too few calls of its kind to fail one.
 */
static bool run_one(const char* scenario, const char* plan, const char* kind) {
  int ends[2];
  if (pipe(ends) != 0) { exit(2); }
  const pid_t child = start_run(plan, ends[1]);
  close(ends[1]);
  result_t result = {0};
  const bool told = read(ends[0], &result, sizeof(result)) == sizeof(result);
  close(ends[0]);
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) != child) { exit(2); }
  runs++;
  all_injected += result.injected;
  if (status == 0 && told) { return result.injected > 0; }
  bad_runs++;
  printf("FAILED %s, %s: ", scenario, kind);
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    printf("%s", number == SIGALRM ? "hangs" : strsignal(number));
  } else {
    printf("exit status %d", WEXITSTATUS(status));
  }
  printf("; to repeat: FAULT=\"%s\" ./fault\n", plan + strlen("FAULT="));
  fflush(stdout);
  return true;
}

static bool is_emulated(void) { return getenv("MI_EMULATED") != NULL; }
static bool runs_a_few(void) { return is_emulated() || getenv("FAULT_FEW") != NULL; }

typedef enum { ONE, PAIR, AND_LATER, WAYS } way_t;

static unsigned next_call(unsigned n, bool some_are_enough) {
  if (is_emulated()) { return 4 * n; }
  if (some_are_enough) { return 2 * n; }
  return runs_a_few() ? n + 1 + n / 8 : n + 1;
}

/* Fails call 1, 2, 3, … of a kind until there is none of that number. */
static void run_kind(unsigned scenario, fault_kind_t kind, int error, way_t way) {
  enum { MAX_BAD = 5 };
  static const char* const also[WAYS] = {"", " and the next", " and all later ones"};
  const bool is_like_others = way == AND_LATER && error != fault_kinds[kind].errors[0];
  const bool some_are_enough = kind == FAULT_ANY || kind == FAULT_CLOCK || is_like_others ||
                               (way == AND_LATER && runs_a_few());
  const unsigned bad = bad_runs + MAX_BAD;
  for (unsigned n = 1; n < NO_LAST && bad_runs < bad; n = next_call(n, some_are_enough)) {
    const unsigned last = way == ONE ? n : way == PAIR ? n + 1 : NO_LAST;
    char plan[100], what[100];
    snprintf(plan, sizeof(plan), "FAULT=%u %u %d %u %u", scenario, (unsigned)kind, error, n, last);
    snprintf(what, sizeof(what), "%s call %u%s gives error %d", fault_kinds[kind].name, n,
             also[way], error);
    if (!run_one(scenarios[scenario].name, plan, what)) { break; }
  }
}

/* Of a group one call alone has failed already, as one of its own kind. */
static void run_error(unsigned scenario, fault_kind_t kind, int error) {
  run_kind(scenario, kind, error, kind < FAULT_SINGLE ? ONE : PAIR);
  run_kind(scenario, kind, error, AND_LATER);
}

static void run_scenario(unsigned scenario) {
  const unsigned runs_before = runs, injected_before = all_injected;
  for (int kind = 0; kind < FAULT_KINDS; kind++) {
    for (const int* error = fault_kinds[kind].errors; *error != 0; error++) {
      run_error(scenario, (fault_kind_t)kind, *error);
      if (runs_a_few()) { break; }
    }
  }
  printf("%-14s %5u runs, %6u faults\n", scenarios[scenario].name, runs - runs_before,
         all_injected - injected_before);
  fflush(stdout);
}

static bool is_wanted(const char* name, int argc, char** argv) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], name) == 0) { return true; }
  }
  return argc < 2;
}

/* QEMU 7 with 32-bit targets unmaps what lies behind a mapping that mremap shortens. */
static bool is_for_machines(const char* name) {
  return sizeof(void*) == 4 && strcmp(name, "huge") == 0;
}

int main(int argc, char** argv) {
  if (getenv("FAULT") != NULL) { return run_plan(argc > 1 ? atoi(argv[1]) : -1); }
  for (unsigned i = 0; i < SCENARIOS; i++) {
    const char* name = scenarios[i].name;
    if (is_emulated() && is_for_machines(name)) {
      printf("%s is not emulated\n", name);
    } else if (scenarios[i].has_threads && !PORT_HAS_THREADS) {
      printf("%s has threads\n", name);
    } else if (is_wanted(name, argc, argv)) {
      run_scenario(i);
    }
  }
  printf("%u faults injected in %u runs, %u of which failed\n", all_injected, runs, bad_runs);
  return bad_runs == 0 ? 0 : 1;
}
