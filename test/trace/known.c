// Allocates what recording.sh expects: `known COUNT [exit|_exit|killed]`. Each figure of the
// recording grows by a known number per COUNT; the C library adds a constant.
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int count;
static void* handed_over[100000];

static void* allocate(void* unused) {
  for (int i = 0; i < count; i++) { handed_over[i] = malloc(64); }
  return unused;
}

static void in_thread(void* (*function)(void*)) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, function, NULL) != 0) { abort(); }
  pthread_join(thread, NULL);
}

static void fork_child(void) {  // what it does is not recorded
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 2 * count; i++) { free(malloc(500)); }
    _exit(0);
  }
  waitpid(child, NULL, 0);
}

int main(int argc, char** argv) {
  count = argc > 1 ? atoi(argv[1]) : 0;
  const char* end = argc > 2 ? argv[2] : "exit";
  in_thread(allocate);
  fork_child();
  for (int i = 0; i < count; i++) {
    free(handed_over[i]);    // by another thread than its owner
    char* p = malloc(1000);  // 1 malloc, 2 reallocs
    p = realloc(p, 3000);
    free(realloc(p, 20));
    handed_over[i] = calloc(3, 100);  // 1 calloc, which stays
    free(memalign(256, 50));          // 3 aligned
    free(aligned_alloc(64, 640));
    void* aligned;
    if (posix_memalign(&aligned, 4096, 8192) == 0) { free(aligned); }
    free(NULL);
    if (realloc(NULL, 0) == NULL) { abort(); }  // a malloc, which stays
  }
  if (strcmp(end, "_exit") == 0) { _exit(0); }
  if (strcmp(end, "killed") == 0) { raise(SIGKILL); }
  return 0;
}
