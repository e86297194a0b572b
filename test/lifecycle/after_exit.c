/* test: when=glibc timeout=20 */
/* The family works after main: in atexit and on_exit handlers, in destructors of every priority,
   and on blocks from before. The last destructor ends the child with a status of its own, which
   proves that all of them ran. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

enum { KEPT = 64, STAGES = 5, ALL_WELL = 42 };
static unsigned char* kept[STAGES][KEPT];
static int stages_done;
static bool in_test_child;
static bool fine = true;

static void stage(int number) {
  if (!in_test_child) { return; }
  for (int i = 0; i < KEPT; i++) {
    fine &= kept[number][i][i * 100] == (unsigned char)i;
    free(kept[number][i]);
  }
  fine &= workout();
  fine &= workout_in_thread();
  stages_done++;
}

static void exit_handler(void) { stage(0); }
static void exit_handler_2(int status, void* arg) {
  (void)status;
  fine &= ((char*)arg)[0] == 'x';
  free(arg);
  stage(1);
}
__attribute__((destructor)) static void first_destructor(void) { stage(2); }
__attribute__((destructor(5000))) static void later_destructor(void) { stage(3); }
__attribute__((destructor(101))) static void last_destructor(void) {
  stage(4);
  if (in_test_child) { _exit(fine && stages_done == STAGES ? ALL_WELL : 1); }
}

static void prepare(void) {
  in_test_child = true;
  for (int s = 0; s < STAGES; s++) {
    for (int i = 0; i < KEPT; i++) {
      kept[s][i] = (unsigned char*)malloc((size_t)i * 100 + 1);
      kept[s][i][i * 100] = (unsigned char)i;
    }
  }
  atexit(exit_handler);
  char* text = (char*)malloc(100);
  text[0] = 'x';
  on_exit(exit_handler_2, text);
}

int main(void) {
  const pid_t pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) {
    alarm(15);
    prepare();
    return 0;
  }
  CHECK(child_result(pid) == ALL_WELL);

  const pid_t quick = fork(); /* quick_exit runs its own handlers and no others */
  if (quick == 0) {
    alarm(15);
    prepare();
    at_quick_exit(exit_handler);
    quick_exit(7);
  }
  CHECK(child_result(quick) == 7);
  return check_done();
}
