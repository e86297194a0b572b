/* test: when="glibc linux" not-emulated="a fork next to other threads can leave the emulator locked" timeout=480 */
/* fork while other threads are inside the C library, which takes locks of its own around its fork
   and calls malloc while it holds others: nobody may wait for ever. Each case is a process with a
   deadline; a hang is an alarm, and that a failure. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"

#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <stdlib.h>
#include <syslog.h>

enum { FORKS = 300, DEADLINE = 60, LINE = 100000, THREADS_MOST = 8 };
static bool stop;

static bool goes_on(void) { return !__atomic_load_n(&stop, __ATOMIC_RELAXED); }

/* ---- what the threads do, once ---- */

/* getline holds the stream while its block grows. */
static void read_long_lines(void) {
  static __thread char* text;
  if (text == NULL) {
    text = (char*)malloc(2 * LINE);
    memset(text, 'x', 2 * LINE);
    text[LINE - 1] = text[2 * LINE - 1] = '\n';
  }
  FILE* f = fmemopen(text, 2 * LINE, "r");
  if (f == NULL) { return; }
  char* line = NULL;
  size_t room = 0;
  while (getline(&line, &room, f) > 0) {}
  free(line);
  fclose(f);
}

/* … and so does a stream into memory. */
static void write_to_memory(void) {
  char* text = NULL;
  size_t length = 0;
  FILE* f = open_memstream(&text, &length);
  if (f == NULL) { return; }
  for (int i = 0; i < 3000; i++) { fprintf(f, "line %d of many that make a long text\n", i); }
  fclose(f);
  free(text);
}

static void flush_all(void) { fflush(NULL); }

static void open_files(void) {
  FILE* f = fopen("/dev/null", "w");
  if (f == NULL) { return; }
  fprintf(f, "%200d\n", 1);
  fclose(f);
}

static void open_pipe(void) {
  FILE* f = popen("exit 0", "r");
  if (f != NULL) { pclose(f); }
}

static void look_up(void) {
  const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
  struct addrinfo* found = NULL;
  if (getaddrinfo("localhost", "80", &hints, &found) == 0) { freeaddrinfo(found); }
}

static void load_module(void) {
  char name[500];
  snprintf(name, sizeof(name), "%s/c_module.so", getenv("MI_TEST_MODULE_DIR"));
  void* module = dlopen(name, RTLD_NOW);
  if (module != NULL) { dlclose(module); }
}

static void log_line(void) { syslog(LOG_DEBUG, "%s", "nobody reads this"); }

static void handler(void) {}
static void watch_forks(void) {
  static int registered;
  if (registered < 200) { registered += pthread_atfork(handler, handler, handler) == 0; }
}

/* ---- fork meanwhile ---- */

typedef void action_fun(void);

static void* repeat(void* action) {
  while (goes_on()) { (*(action_fun**)action)(); }
  return NULL;
}

/* The C library promises its child malloc and the streams. */
static void child(void) {
  char* text = (char*)malloc(70000);
  FILE* f = fopen("/dev/null", "w");
  const bool good = text != NULL && f != NULL && fprintf(f, "%30000d\n", 1) > 0 && fclose(f) == 0;
  free(text);
  fflush(NULL);
  _exit(good ? 0 : 1);
}

static action_fun* const* actions;

static int forks_meanwhile(void) {
  pthread_t thread[THREADS_MOST];
  int threads = 0;
  for (; actions[threads] != NULL; threads++) {
    if (pthread_create(&thread[threads], NULL, repeat, (void*)&actions[threads]) != 0) { return 2; }
  }
  int failed = 0;
  for (int i = 0; i < FORKS && failed == 0; i++) {
    const pid_t pid = fork();
    if (pid == 0) { child(); }
    failed = pid < 0 ? 3 : child_result(pid);
  }
  __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
  for (int i = 0; i < threads; i++) { pthread_join(thread[i], NULL); }
  return failed;
}

static void meanwhile(const char* what, action_fun* const* list) {
  actions = list;
  const int result = in_child(forks_meanwhile, DEADLINE);
  if (result != 0) { printf("%s: %d%s\n", what, result, result == 128 + SIGALRM ? ", hangs" : ""); }
  CHECK(result == 0);
}

int main(void) {
  meanwhile("lines are read",
            (action_fun* const[]){read_long_lines, flush_all, write_to_memory, NULL});
  meanwhile("files are opened",
            (action_fun* const[]){open_files, flush_all, write_to_memory, open_files, NULL});
  meanwhile("pipes are opened", (action_fun* const[]){open_pipe, flush_all, read_long_lines, NULL});
  meanwhile("names are looked up", (action_fun* const[]){look_up, look_up, flush_all, NULL});
  meanwhile("modules are loaded", (action_fun* const[]){load_module, load_module, flush_all, NULL});
  meanwhile("lines are logged", (action_fun* const[]){log_line, log_line, flush_all, NULL});
  meanwhile("handlers are registered", (action_fun* const[]){watch_forks, read_long_lines, NULL});
  return check_done();
}
