/* test: not-emulated="the emulator opens files of its own" timeout=30 */
/* Started with descriptors 0, 1 and 2 closed: the program's next files get these numbers, and
   nothing that an allocator may request to say ends up in them. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

/* Opens files, which become 0, 1 and 2, works, fails, and looks whether they are still empty. */
static int second_half(void) {
  char name[3][40];
  for (int i = 0; i < 3; i++) {
    strcpy(name[i], "/tmp/closed-stdio-XXXXXX");
    if (mkstemp(name[i]) != i) { return 10; }
    unlink(name[i]);
  }
  bool fine = workout() && workout_in_thread();
  fine &= malloc(SIZE_MAX) == NULL && calloc(SIZE_MAX, 2) == NULL;
  errno = 0;
  fine &= malloc((size_t)PTRDIFF_MAX + (sizeof(size_t) == 8 ? 0 : 2)) == NULL && errno == ENOMEM;
  if (!fine) { return 11; }
  for (int i = 0; i < 3; i++) {
    if (lseek(i, 0, SEEK_END) != 0) { return 12 + i; }
  }
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 1) { return second_half(); }
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(15);
    char* const again[] = {argv[0], (char*)(size_t)"again", NULL};
    close(0);
    close(1);
    close(2);
    execv("/proc/self/exe", again);
    _exit(77);
  }
  const int result = child_result(pid);
  CHECK(result == 0);
  if (result != 0) { fprintf(stderr, "the second half ended with %d\n", result); }
  return check_done();
}
