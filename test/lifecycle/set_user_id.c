/* test: when=glibc runs-itself timeout=30 libs="dl" */
/* A set-user-id program is not to be steered by the environment of who starts it: the allocator
   ignores its options there. Needs root to make such a program; it loads the library
   (MI_LIB_SHARED) itself, since LD_PRELOAD is ignored as well. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"

#include <dlfcn.h>
#include <limits.h>
#include <sys/auxv.h>
#include <sys/stat.h>

static char directory[] = "/tmp/set-user-id-XXXXXX";

static bool copy_file(const char* from, const char* to) {
  static char buffer[65536];
  const int in = open(from, O_RDONLY | O_CLOEXEC);
  const int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
  ssize_t n = -1;
  while (in >= 0 && out >= 0 && (n = read(in, buffer, sizeof(buffer))) > 0) {
    if (write(out, buffer, (size_t)n) != n) { break; }
  }
  close(in);
  close(out);
  return n == 0;
}

/* The program itself: status 66 when the system did not raise it after all. */
static int use_library(const char* path, bool raised) {
  if ((getauxval(AT_SECURE) != 0) != raised) { return 66; }
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) { return 67; }
  void* (*allocate)(size_t);
  void (*release)(void*);
  *(void**)&allocate = dlsym(library, "mi_malloc");
  *(void**)&release = dlsym(library, "mi_free");
  void* p = allocate(1000);
  release(p);
  return p != NULL ? 0 : 1;
}

/* Start it as nobody, with options in the environment; the number of bytes it wrote to its standard
   error. */
static int start(const char* program, const char* library, const char* mode, size_t* written) {
  char output[PATH_MAX];
  snprintf(output, sizeof(output), "%s/output", directory);
  const int fd = open(output, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  fflush(NULL);
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(10);
    dup2(fd, 2);
    unsetenv("LD_PRELOAD");
    setenv("MIMALLOC_VERBOSE", "1", 1);
    setenv("MIMALLOC_SHOW_STATS", "1", 1);
    if (setgid(65534) != 0 || setuid(65534) != 0) { _exit(66); }
    execl(program, program, mode, library, (char*)NULL);
    _exit(66);
  }
  const int result = child_result(pid);
  *written = (size_t)lseek(fd, 0, SEEK_END);
  close(fd);
  return result;
}

int main(int argc, char** argv) {
  if (argc > 2) { return use_library(argv[2], strcmp(argv[1], "raised") == 0); }
  if (getenv("MI_LIB_SHARED") == NULL) { return skip("MI_LIB_SHARED is not set"); }
  if (geteuid() != 0) { return skip("only root can make a set-user-id program"); }
  char raised[PATH_MAX], plain[PATH_MAX], library[PATH_MAX], command[PATH_MAX];
  CHECK(mkdtemp(directory) != NULL && chmod(directory, 0755) == 0);
  snprintf(raised, sizeof(raised), "%s/raised", directory);
  snprintf(plain, sizeof(plain), "%s/plain", directory);
  snprintf(library, sizeof(library), "%s/library.so", directory);
  CHECK(copy_file("/proc/self/exe", raised) && copy_file("/proc/self/exe", plain));
  CHECK(copy_file(getenv("MI_LIB_SHARED"), library));
  CHECK(chmod(raised, 04755) == 0);

  size_t said_raised = 0;
  size_t said_plain = 0;
  const int result_plain = start(plain, library, "plain", &said_plain);
  const int result_raised = start(raised, library, "raised", &said_raised);
  snprintf(command, sizeof(command), "rm -rf %s", directory);
  CHECK(system(command) == 0);
  if (result_raised == 66 || result_plain == 66) {
    return skip("set-user-id is not honoured here");
  }
  CHECK(result_plain == 0 && said_plain > 0); /* the options are heard where they may be */
  CHECK(result_raised == 0 && said_raised == 0);
  return check_done();
}
