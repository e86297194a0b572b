/* test: when="shared glibc" timeout=60 libs="dl" runs-itself */
/* A module that is opened with RTLD_DEEPBIND has the program's malloc, unless option
   dlopen_deepbind is off; and whoever opens a module is known to the C library: its RUNPATH is
   searched, and $ORIGIN is where it is. MI_TEST_MODULE_DIR names the directory with the modules. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/syscall.h>

static const char* module_path(const char* name) {
  static char path[PATH_MAX];
  snprintf(path, sizeof(path), "%s/%s", getenv("MI_TEST_MODULE_DIR"), name);
  return path;
}

static void* symbol(void* module, const char* name) {
  void* found = dlsym(module, name);
  CHECK(found != NULL);
  return found;
}

/* ---- blocks pass between the program and a module that was opened with the flag ---- */

static bool has_our_malloc(void* module) {
  return ((void* (*)(void))symbol(module, "its_malloc"))() == (void*)malloc;
}

static void blocks_pass(void* module) {
  char* (*copies)(const char*) = (char* (*)(const char*))symbol(module, "copies");
  void (*releases)(void*) = (void (*)(void*))symbol(module, "releases");
  for (int i = 0; i < 1000; i++) {
    char* text = copies("a text of the module");
    CHECK(text != NULL && strcmp(text, "a text of the module") == 0);
    free(text);
    releases(strdup("a text of the program"));
    releases(malloc(100000));
  }
}

/* ---- who opens is known ---- */

static bool is_open(const char* name) {
  void* module = dlopen(module_path(name), RTLD_NOW | RTLD_NOLOAD);
  return module != NULL && dlclose(module) == 0;
}

/* By a name that only the RUNPATH of the module leads to. */
static void opener_is_known(void* module, int mode) {
  void* (*opens)(const char*, int) = (void* (*)(const char*, int))symbol(module, "opens");
  const char* const names[] = {"empty.so", "$ORIGIN/empty.so"};
  for (int i = 0; i < 2; i++) {
    CHECK(!is_open("empty.so"));
    CHECK(dlopen(names[i], mode) == NULL && dlerror() != NULL); /* not for the program */
    void* found = opens(names[i], mode);
    CHECK(found != NULL && is_open("empty.so"));
    if (found != NULL) { CHECK(dlclose(found) == 0); }
  }
}

static void rest_is_as_ever(void) {
  CHECK(dlopen("/no/such/module.so", RTLD_NOW | RTLD_DEEPBIND) == NULL);
  const char* error = dlerror();
  CHECK(error != NULL && strstr(error, "/no/such/module.so") != NULL && dlerror() == NULL);
  void* program = dlopen(NULL, RTLD_NOW);
  CHECK(program != NULL && dlsym(program, "malloc") != NULL);
}

/* ---- the option, in runs of their own ---- */

/* What the run prints on standard error. */
static int run_again(const char* self, const char* option, char* text, size_t room) {
  const int fd = (int)syscall(SYS_memfd_create, "stderr", 0); /* an old C library has no name */
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(fd, 2);
    setenv("MIMALLOC_VERBOSE", "1", 1);
    setenv("MIMALLOC_DLOPEN_DEEPBIND", option, 1);
    execl(self, self, option, (char*)NULL);
    _exit(9);
  }
  const int result = child_result(pid);
  const ssize_t n = pread(fd, text, room - 1, 0);
  text[n > 0 ? n : 0] = 0;
  close(fd);
  return result;
}

static int lines_about_it(const char* text) {
  int n = 0;
  for (const char* at = text; (at = strstr(at, ": RTLD_DEEPBIND is left out")) != NULL; at++) {
    n++;
  }
  return n;
}

static int run_with_option(bool on) {
  void* first = dlopen(module_path("opens_modules.so"), RTLD_NOW | RTLD_DEEPBIND);
  void* second = dlopen(module_path("c_module.so"), RTLD_NOW | RTLD_DEEPBIND);
  CHECK(first != NULL && second != NULL && has_our_malloc(first) == on);
  return check_done();
}

static void option_decides(const char* self) {
  static char text[100000];
  CHECK(run_again(self, "1", text, sizeof(text)) == 0);
  CHECK(lines_about_it(text) == 1);
  CHECK(run_again(self, "0", text, sizeof(text)) == 0);
  CHECK(lines_about_it(text) == 0);
}

int main(int argc, char** argv) {
#ifdef __powerpc64__
  return skip("dlopen is the C library's there");
#endif
  if (argc > 1) { return run_with_option(argv[1][0] == '1'); }
  void* module = dlopen(module_path("opens_modules.so"), RTLD_NOW | RTLD_DEEPBIND);
  CHECK(module != NULL);
  if (module == NULL) { return check_done(); }
  CHECK(has_our_malloc(module));
  if (has_our_malloc(module)) { blocks_pass(module); }
  opener_is_known(module, RTLD_NOW);
  opener_is_known(module, RTLD_NOW | RTLD_DEEPBIND);
  rest_is_as_ever();
  if (getenv("LD_PRELOAD") != NULL) { option_decides(argv[0]); }
  return check_done();
}
