/* test: timeout=60 libs="dl" */
/* Three copies of the allocator in one process (beside the one that may be preloaded): each takes
   back its own blocks, from every thread, through thread exits, a fork, and unloading in any order.
   MI_LIB_SHARED is the path of the library. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

#include <dlfcn.h>
#include <limits.h>

enum { COPIES = 3, BLOCKS = 500 };

typedef struct {
  void* library;
  void* (*allocate)(size_t);
  void (*release)(void*);
  unsigned char* block[BLOCKS];
} copy_t;

static copy_t copies[COPIES];
static char directory[] = "/tmp/copies-XXXXXX";

static bool copy_file(const char* from, const char* to) {
  static char buffer[65536];
  const int in = open(from, O_RDONLY | O_CLOEXEC);
  const int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
  ssize_t n = -1;
  while (in >= 0 && out >= 0 && (n = read(in, buffer, sizeof(buffer))) > 0) {
    if (write(out, buffer, (size_t)n) != n) {
      n = -1;
      break;
    }
  }
  close(in);
  close(out);
  return n == 0;
}

static void load(int number) {
  copy_t* c = &copies[number];
  char path[PATH_MAX];
  snprintf(path, sizeof(path), "%s/copy-%d.so", directory, number);
  CHECK(copy_file(getenv("MI_LIB_SHARED"), path));
  c->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  unlink(path);
  CHECK(c->library != NULL);
  if (c->library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    rmdir(directory);
    exit(1);
  }
  *(void**)&c->allocate = dlsym(c->library, "mi_malloc");
  *(void**)&c->release = dlsym(c->library, "mi_free");
  CHECK(c->allocate != NULL && c->release != NULL);
}

static void* fill(void* unused) {
  for (int i = 0; i < BLOCKS; i++) {
    for (int k = 0; k < COPIES; k++) {
      const size_t size = (size_t)i * 13 + 1;
      copies[k].block[i] = (unsigned char*)copies[k].allocate(size);
      memset(copies[k].block[i], i + k, size);
      free(malloc(size));
    }
  }
  return unused;
}

static void* empty(void* unused) {
  for (int i = 0; i < BLOCKS; i++) {
    for (int k = COPIES - 1; k >= 0; k--) {
      CHECK(copies[k].block[i][i * 13] == (unsigned char)(i + k));
      copies[k].release(copies[k].block[i]);
    }
  }
  return unused;
}

static void in_thread(void* (*work)(void*)) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, work, NULL) == 0);
  pthread_join(thread, NULL);
}

static int child(void) {
  empty(NULL);
  fill(NULL);
  in_thread(empty);
  return workout() ? check_done() : 1;
}

int main(void) {
  if (getenv("MI_LIB_SHARED") == NULL) { return skip("MI_LIB_SHARED is not set"); }
  CHECK(mkdtemp(directory) != NULL);
  for (int round = 0; round < 3; round++) {
    for (int k = 0; k < COPIES; k++) { load(k); }
    for (int i = 0; i < COPIES; i++) {
      CHECK(copies[i].allocate != copies[(i + 1) % COPIES].allocate); /* they are three indeed */
    }
    fill(NULL);
    in_thread(empty);
    in_thread(fill);
    CHECK(in_child(child, 15) == 0);
    empty(NULL);
    for (int k = 0; k < COPIES; k++) { CHECK(dlclose(copies[(k + round) % COPIES].library) == 0); }
    CHECK(workout() && workout_in_thread());
  }
  rmdir(directory);
  return check_done();
}
