/* test: runs-itself timeout=60 */
/* A file system that holds the program and its libraries and nothing else: no /proc, /sys or /dev.
   As root in a chroot, else in a user namespace; skipped where neither is allowed. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

#include <limits.h>
#include <sched.h>
#include <sys/stat.h>

static char root[] = "/tmp/no-proc-XXXXXX";

static void make_directories(char* path) {
  for (char* s = path + strlen(root) + 1; *s != 0; s++) {
    if (*s == '/') {
      *s = 0;
      mkdir(path, 0755);
      *s = '/';
    }
  }
}

static bool copy_in(const char* from) {
  static char buffer[65536];
  char to[PATH_MAX];
  snprintf(to, sizeof(to), "%s%s", root, from);
  make_directories(to);
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

/* The files that are mapped here with a path are those that the program needs: itself, its
   libraries, what is preloaded. */
static bool copy_mapped_files(void) {
  static char last[PATH_MAX];
  char line[PATH_MAX + 200];
  FILE* maps = fopen("/proc/self/maps", "r");
  if (maps == NULL) { return false; }
  bool fine = true;
  while (fgets(line, sizeof(line), maps) != NULL) {
    char* path = strchr(line, '/');
    if (path == NULL) { continue; }
    path[strcspn(path, "\n")] = 0;
    if (strcmp(path, last) == 0) { continue; }
    snprintf(last, sizeof(last), "%s", path);
    fine &= copy_in(path);
  }
  fclose(maps);
  return fine;
}

/* The loader's own name for itself, and the library directories, may be links: make them again
   inside. */
static void copy_links(void) {
  static const char* const links[] = {"/lib", "/lib64", "/usr/lib64"};
  char target[PATH_MAX];
  char name[2 * PATH_MAX];
  for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
    const ssize_t n = readlink(links[i], target, sizeof(target) - 1);
    if (n <= 0) { continue; }
    target[n] = 0;
    snprintf(name, sizeof(name), "%s%s", root, links[i]);
    make_directories(name);
    if (symlink(target, name) != 0) { continue; }
    snprintf(name, sizeof(name), "%s/%s/", root, target[0] == '/' ? target + 1 : target);
    make_directories(name);
  }
  copy_in("/lib64/ld-linux-x86-64.so.2");
  copy_in("/lib/ld-linux-aarch64.so.1");
}

static int start_inside(const char* program) {
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(15);
    if (chroot(root) != 0 && (unshare(CLONE_NEWUSER) != 0 || chroot(root) != 0)) { _exit(66); }
    if (chdir("/") != 0) { _exit(66); }
    execl(program, program, "inside", (char*)NULL);
    _exit(67);
  }
  return child_result(pid);
}

static int inside(void) {
  if (access("/proc", F_OK) == 0 || access("/dev", F_OK) == 0) { return 2; }
  bool fine = workout() && workout_in_thread();
  fine &= malloc(SIZE_MAX) == NULL;
  void* p = malloc(100 << 20);
  fine &= p != NULL;
  free(p);
  malloc_trim(0);
  return fine ? 0 : 1;
}

int main(int argc, char** argv) {
  if (argc > 1) { return inside(); }
  (void)argv;
  char program[PATH_MAX];
  const ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
  if (n <= 0 || mkdtemp(root) == NULL) { return skip("no /proc, or no place for a new root"); }
  program[n] = 0;
  copy_links();
  const bool copied = copy_mapped_files();
  const int result = copied ? start_inside(program) : 66;
  char command[PATH_MAX];
  snprintf(command, sizeof(command), "rm -rf %s", root);
  CHECK(system(command) == 0);
  if (result == 66) { return skip("chroot is not allowed here"); }
  if (result == 67) { return skip("the copied program does not start"); }
  CHECK(result == 0);
  return check_done();
}
