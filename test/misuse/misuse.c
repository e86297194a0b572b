// Commits one misuse.  cases CASE SIZE owner|other
// `other`: what misuse_free frees is freed by a thread that did not allocate it.
#include "misuse.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEPT_MAX = 1 << 16 };

typedef struct kept {
  char* p;
  size_t n;
  uint32_t seed;
  bool is_foreign;
} kept_t;

static kept_t kept[KEPT_MAX];
static int kept_count;
static char *trap_start, *trap_end;
static bool frees_by_other;

static void say(const char* what, const char* text) {
  char line[300];
  const int n = snprintf(line, sizeof(line), "%s: %s\n", what, text);
  if (write(2, line, (size_t)n) < 0) { return; }  // the exit status tells as well
}

void harmful(const char* proof) {
  say("EXPLOITED", proof);
  _exit(STATUS_HARMFUL);
}

void not_here(const char* why) {
  say("not here", why);
  _exit(STATUS_NOT_HERE);
}

// ---- Threads
// -------------------------------------------------------------------------------------

typedef struct call {
  void (*fun)(void*);
  void* arg;
} call_t;

static void* thread_main(void* arg) {
  const call_t* call = arg;
  call->fun(call->arg);
  return NULL;
}

void run_on_thread(void (*fun)(void*), void* arg) {
  pthread_t thread;
  call_t call = {fun, arg};
  if (pthread_create(&thread, NULL, thread_main, &call) != 0) { not_here("no thread"); }
  pthread_join(thread, NULL);
}

char* take(size_t n) { return malloc(n); }

// A thread that frees what it is given. It is there before the misuse: a thread that starts
// allocates.
static void* given;
static sem_t give, done;
static pthread_t helper;
static bool helper_may_go;

static void* helper_main(void* arg) {
  for (bool is_last = false; !is_last;) {
    sem_wait(&give);
    is_last = helper_may_go;
    free(given);
    sem_post(&done);
  }
  return arg;
}

void start_helper(void) {
  if (helper != 0) { return; }
  sem_init(&give, 0, 0);
  sem_init(&done, 0, 0);
  if (pthread_create(&helper, NULL, helper_main, NULL) != 0) { not_here("no thread"); }
  free_by_other_thread(NULL);  // it has started
}

void free_by_other_thread(void* p) {
  given = p;
  sem_post(&give);
  sem_wait(&done);
}

// As programs do before they end.
static void end_helper(void) {
  if (helper == 0) { return; }
  helper_may_go = true;
  free_by_other_thread(NULL);
  pthread_join(helper, NULL);
}

void misuse_free(void* p) {
  if (frees_by_other) {
    free_by_other_thread(p);
  } else {
    free(p);
  }
}

// ---- Blocks that are held
// ------------------------------------------------------------------------

// Never 0: an overwriting NUL shows.
static unsigned char pattern(const kept_t* k, size_t i) {
  const uint32_t word = k->seed * 0x9E3779B1u + (uint32_t)(i >> 3) * 0x85EBCA6Bu;
  return (unsigned char)((word >> 11 ^ i * 37) | 1);
}

// Only the two ends of a large block: the middle takes long, and where blocks overlap an end is
// hit.
enum { END_BYTES = 8192 };
static size_t next_watched(const kept_t* k, size_t i) {
  return i == END_BYTES - 1 && k->n > 2 * END_BYTES ? k->n - END_BYTES : i + 1;
}

// The addresses of blocks that are held, to see at once when one is handed out again: before its
// pattern could be taken for a link.
enum { SLOTS = 2 * KEPT_MAX };
static uintptr_t slots[SLOTS];
static const uintptr_t GONE = 1;

static uintptr_t* slot_of(const void* p) {
  size_t i = ((uintptr_t)p >> 3) * 0x9E3779B1u % SLOTS;
  while (slots[i] != 0 && slots[i] != (uintptr_t)p) { i = (i + 1) % SLOTS; }
  return &slots[i];
}

static kept_t* hold(void* p, size_t n, bool is_foreign) {
  if (kept_count == KEPT_MAX) { not_here("too many blocks"); }
  kept_t* k = &kept[kept_count++];
  *k = (kept_t){p, n, (uint32_t)kept_count, is_foreign};
  if (is_foreign) { return k; }
  if (k->p < trap_end && k->p + n > trap_start) {
    harmful("malloc returned memory of the attacker's choice");
  }
  uintptr_t* slot = slot_of(p);
  if (*slot != 0) { harmful("malloc returned a block that is in use"); }
  *slot = (uintptr_t)p;
  return k;
}

static void fill(const kept_t* k) {
  for (size_t i = 0; i < k->n; i = next_watched(k, i)) {
    ((unsigned char*)k->p)[i] = pattern(k, i);
  }
}

char* keep(void* p, size_t n) {
  if (p != NULL) { fill(hold(p, n, false)); }
  return p;
}

char* keep_foreign(void* p, size_t n) {
  fill(hold(p, n, true));
  return p;
}

char* keep_new(size_t n) { return keep(take(n), n); }

void keep_many(size_t n) {
  const int first = kept_count;
  size_t count = (1 << 20) / n;
  if (count > 12000) { count = 12000; }
  if (count < 6) { count = 6; }
  for (size_t i = 0; i < count; i++) {
    void* p = take(n);
    if (p != NULL) { hold(p, n, false); }
  }
  for (int i = first; i < kept_count; i++) { fill(&kept[i]); }
}

static void let_go(int i) {
  if (!kept[i].is_foreign) { *slot_of(kept[i].p) = GONE; }
  kept[i] = kept[--kept_count];
}

void unkeep(void* p) {
  for (int i = 0; i < kept_count; i++) {
    if (kept[i].p == p) {
      let_go(i);
      return;
    }
  }
}

static bool is_whole(const kept_t* k) {
  for (size_t i = 0; i < k->n; i = next_watched(k, i)) {
    if (((unsigned char*)k->p)[i] != pattern(k, i)) { return false; }
  }
  return true;
}

bool kept_are_whole(void) {
  for (int i = 0; i < kept_count; i++) {
    if (!is_whole(&kept[i])) { return false; }
  }
  return true;
}

bool is_kept(const char* p, size_t n) {
  for (int i = 0; i < kept_count; i++) {
    if (kept[i].p < p + n && p < kept[i].p + kept[i].n) { return true; }
  }
  return false;
}

void free_kept(void) {
  while (kept_count > 0) {
    const kept_t k = kept[kept_count - 1];
    let_go(kept_count - 1);
    if (!k.is_foreign) { free(k.p); }
  }
}

void set_trap(void* p, size_t n) {
  trap_start = p;
  trap_end = trap_start + n;
}

void expect_heap_whole(size_t n) {
  keep_many(n);
  if (!kept_are_whole()) {
    harmful("a block in use shares memory with another, or was written into");
  }
  free_kept();
}

neighbours_t closest(char** blocks, int count) {
  neighbours_t best = {NULL, NULL};
  for (int i = 0; i < count; i++) {
    for (int j = 0; j < count; j++) {
      if (blocks[j] > blocks[i] &&
          (best.upper == NULL || blocks[j] - blocks[i] < best.upper - best.lower)) {
        best = (neighbours_t){blocks[i], blocks[j]};
      }
    }
  }
  return best;
}

int crowd_of(size_t n) { return n < 50000 ? CROWD_MAX : n < 1000000 ? 16 : 6; }

// ---- main
// ----------------------------------------------------------------------------------------

// A program without a C++ compiler has no such misuses.
__attribute__((weak)) const misuse_t delete_misuses[] = {{NULL, NULL}};

static const misuse_t* find_misuse(const char* name) {
  const misuse_t* const families[] = {
      double_free_misuses, invalid_free_misuses, overflow_misuses, use_after_free_misuses,
      placement_misuses,   size_misuses,         delete_misuses};
  for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
    for (const misuse_t* c = families[i]; c->name != NULL; c++) {
      if (strcmp(c->name, name) == 0) { return c; }
    }
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc != 4) {
    say("usage", "cases CASE SIZE owner|other");
    return STATUS_WRONG_USE;
  }
  const misuse_t* misuse = find_misuse(argv[1]);
  if (misuse == NULL) {
    say("no such case", argv[1]);
    return STATUS_WRONG_USE;
  }
  frees_by_other = strcmp(argv[3], "other") == 0;
  if (frees_by_other) { start_helper(); }
  misuse->commit(strtoul(argv[2], NULL, 10));
  end_helper();
  return 0;
}
