/* test: libs="pthread" when="linux posix threads release|debug" not-emulated="the emulator maps memory of its own"
   All memory goes, as where the library does and the process stays (FreeLibrary on Windows): that
   of threads that live on too, but not that of blocks in use, unless everything is to go. */
#include "../../src/static.c"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../check.h"

/* Bytes of addresses, by what the kernel says. */
static size_t mapped(void) {
  static char text[64 << 10];
  size_t pages = 0;
  const int file = open("/proc/self/statm", O_RDONLY);
  const ssize_t length = read(file, text, sizeof(text) - 1);
  close(file);
  text[length < 0 ? 0 : length] = 0;
  CHECK(sscanf(text, "%zu", &pages) == 1);
  return pages * (size_t)sysconf(_SC_PAGESIZE);
}

enum { BLOCKS = 1000, THREADS = 3 };
static const size_t sizes[] = {16, 200, 5000, 70000, 3000000, 50000000};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static void use(void) {
  static _Thread_local void* blocks[BLOCKS];
  mi_heap_t* heap = mi_heap_new();
  for (int i = 0; i < BLOCKS; i++) {
    const size_t size = sizes[i < 990 ? i % 4 : 4 + i % 2];
    blocks[i] = i % 2 == 0 ? mi_malloc(size) : mi_heap_malloc(heap, size);
    CHECK(blocks[i] != NULL);
    *(char*)blocks[i] = 1;
  }
  for (int i = 0; i < BLOCKS; i++) { mi_free(blocks[i]); }
}

static pthread_barrier_t barrier;

static void* run(void* unused) {
  for (;;) {
    pthread_barrier_wait(&barrier);
    use();
    pthread_barrier_wait(&barrier);
  }
  return unused;
}

static size_t begin(void) {
  pthread_t thread;
  pthread_barrier_init(&barrier, NULL, THREADS + 1);
  for (int i = 0; i < THREADS; i++) { CHECK(pthread_create(&thread, NULL, run, NULL) == 0); }
  return mapped();
}

static void use_by_all(void) {
  pthread_barrier_wait(&barrier);
  use();
  pthread_barrier_wait(&barrier);
}

static void test_nothing(void) {
  const size_t before = begin();
  use_by_all();
  CHECK(mapped() > before);
  process_unload();
  CHECK(mapped() == before);
}

static void test_blocks(bool everything) {
  char* blocks[SIZES];
  const size_t before = begin();
  size_t bytes = 0;
  use_by_all();
  for (int i = 0; i < SIZES; i++) {
    bytes += sizes[i];
    blocks[i] = (char*)mi_malloc(sizes[i]);
    memset(blocks[i], 'a' + i, sizes[i]);
  }
  mi_option_set_enabled(mi_option_destroy_on_exit, everything);
  process_unload();
  if (everything) {
    CHECK(mapped() == before);
    return;
  }
  CHECK(mapped() >= before + bytes);
  for (int i = 0; i < SIZES; i++) {
    for (size_t at = 0; at < sizes[i]; at++) { CHECK(blocks[i][at] == 'a' + i); }
  }
}

/* Once in a process. */
static void apart(int which) {
  int status = 1;
  const pid_t child = fork();
  if (child == 0) {
    if (which == 0) { test_nothing(); }
    if (which == 1) { test_blocks(false); }
    if (which == 2) { test_blocks(true); }
    _exit(check_done());
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

int main(void) {
  for (int which = 0; which < 3; which++) { apart(which); }
  return check_done();
}
