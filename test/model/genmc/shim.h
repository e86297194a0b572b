// Lets GenMC read the models remote, remote_apart, lock and hooks unchanged: by -include this file
// takes the place of the scheduler, whose fibers become threads. The product's own atomics are
// used. See test/model/genmc.sh.
//   -DINSTANCE=n   which instance of the model
//   -DSPURIOUS     one weak compare-and-swap of each thread may fail for no reason
//   -DWAIT_QUEUE   a futex with a queue for each word; -DWAIT_NOT: waits return at once
#ifndef GENMC_SHIM_H
#define GENMC_SHIM_H

// The model's scheduler and its atomics are not read.
#define TEST_MODEL_ATOMICS_H
#define TEST_MODEL_SCHEDULER_H

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define port_thread_id port_thread_id_of_the_machine
#include "src/port/port.h"  // brings src/base/atomic.h
#undef port_thread_id

#include <genmc.h>

// 64 rounds of spinning are as good as SPINS.
#ifndef SPINS
#define SPINS 1
#endif
#define port_relax() \
  if (i + 1 >= SPINS) { break; }

#ifndef INSTANCE
#define INSTANCE 0
#endif

enum { THREADS_MOST = 4 };

// GenMC knows no thread-local structs.
static struct who {
  int self, threads;
} everybody[THREADS_MOST];
static _Thread_local struct who* model_me;
static inline struct who* model_self(void) { return model_me == NULL ? &everybody[0] : model_me; }
#define m (*model_self())
static inline void model_is(int thread) {
  everybody[thread].self = thread;
  model_me = &everybody[thread];
}

#ifdef SPURIOUS
#include "spurious.h"
#else
#define SPURIOUS_CHOOSE(threads) ((void)0)
#endif

typedef struct site {
  const char* what;
  const char* file;
  int line;
} site_t;

typedef struct model {
  const char* name;
  void (*setup)(void);
  void (*threads[THREADS_MOST])(void);
  void (*finish)(void);
  int preemptions, weak, random_runs;
} model_t;

#define MODEL_CHECK(c)        assert(c)
#define model_state(p, bytes) ((void)(p), (void)(bytes))
#define model_quiet(p, bytes) ((void)(p), (void)(bytes))
#define model_failed(...)     assert(!"model_failed")

// Set-ups run once, on memory that is zero.
static bool model_runs;
static inline void* model_memset(void* p, int value, size_t bytes) {
  (void)value, (void)bytes;
#ifndef WORLD
  assert(!model_runs);
#endif
  return p;
}
#define memset(p, v, n) model_memset((void*)(p), (v), (n))

// ---- waiting: none (who waits looks again), a block until the word differs, or a queue ----

#if defined(WAIT_QUEUE)
static pthread_mutex_t futex_lock;
static struct {
  const void* word;
  _Atomic(unsigned) sleepers, woken;  // tickets, in order
} futexes[2];
#define model_wait(word, value, bytes) futex_wait((word), (value))
#define model_wake_one(word, bytes)    futex_wake((word))
static int futex_of(const void* word) {  // under the lock
  if (futexes[0].word == NULL || futexes[0].word == word) {
    futexes[0].word = word;
    return 0;
  }
  return 1;
}
static void futex_wait(_Atomic(uint32_t)* word, uint32_t value) {
  pthread_mutex_lock(&futex_lock);
  if (load_relaxed(word) != value) {
    pthread_mutex_unlock(&futex_lock);
    return;
  }
  const int i = futex_of((const void*)word);
  const unsigned ticket = load_relaxed(&futexes[i].sleepers) + 1;
  store_relaxed(&futexes[i].sleepers, ticket);
  pthread_mutex_unlock(&futex_lock);
  __VERIFIER_loop_begin();
  for (;;) {  // GenMC: --check-liveness --disable-spin-assume, as it is marked by hand
    __VERIFIER_spin_start();
    const bool is_woken = load_relaxed(&futexes[i].woken) >= ticket;
    __VERIFIER_spin_end(is_woken);
    if (is_woken) { break; }
  }
}
static void futex_wake(_Atomic(uint32_t)* word) {
  pthread_mutex_lock(&futex_lock);
  const int i = futex_of((const void*)word);
  const unsigned woken = load_relaxed(&futexes[i].woken);
  if (woken < load_relaxed(&futexes[i].sleepers)) { store_relaxed(&futexes[i].woken, woken + 1); }
  pthread_mutex_unlock(&futex_lock);
}
#elif defined(WAIT_NOT)
#define model_wait(word, value, bytes) ((void)(word))
#define model_wake_one(word, bytes)    ((void)(word))
#else
#define model_wait(word, value, bytes) __VERIFIER_assume(load_relaxed(word) != (value))
#define model_wake_one(word, bytes)    ((void)(word))
#endif

// ---- thread-local state of set-ups: with -DWORLD, that of world.h ----

#ifdef WORLD
static void* tls_of[THREADS_MOST];
#define TLS_OUT(i)          (tls_of[i] = (void*)tls_theap)
#define TLS_IN(i)           (tls_theap = (void*)tls_of[i])
#define model_tls(p, bytes) model_tls_all((void*)tls_theap)
static void model_tls_all(void* value) {
  for (int i = 0; i < THREADS_MOST; i++) { tls_of[i] = value; }
}
#define model_act_as(thread) (TLS_OUT(m.self), (void)model_is(thread), (void)TLS_IN(m.self))
#else
#define TLS_OUT(i)           ((void)0)
#define TLS_IN(i)            ((void)0)
#define model_tls(p, bytes)  ((void)0)
#define model_act_as(thread) model_is(thread)
#endif

#define MODEL_MAIN(...)                                                            \
  static const model_t models[] = {__VA_ARGS__};                                   \
  static void* model_thread(void* arg) {                                           \
    model_me = &everybody[(int)(intptr_t)arg];                                     \
    (void)TLS_IN(m.self);                                                          \
    models[INSTANCE].threads[m.self]();                                            \
    (void)TLS_OUT(m.self);                                                         \
    return NULL;                                                                   \
  }                                                                                \
  int main(void) {                                                                 \
    pthread_t ids[THREADS_MOST];                                                   \
    int threads = 0;                                                               \
    models[INSTANCE].setup();                                                      \
    model_act_as(0);                                                               \
    (void)TLS_OUT(0);                                                              \
    model_runs = true;                                                             \
    while (threads < THREADS_MOST && models[INSTANCE].threads[threads] != NULL) {  \
      everybody[threads].self = threads;                                           \
      everybody[0].threads = threads + 1;                                          \
      pthread_create(&ids[threads], NULL, model_thread, (void*)(intptr_t)threads); \
      threads++;                                                                   \
    }                                                                              \
    SPURIOUS_CHOOSE(threads);                                                      \
    for (int i = 0; i < threads; i++) { pthread_join(ids[i], NULL); }              \
    (void)TLS_IN(0);                                                               \
    models[INSTANCE].finish();                                                     \
    return 0;                                                                      \
  }

#endif
