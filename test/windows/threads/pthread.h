/* What the tests want of <pthread.h>, on Windows' own threads: for compilers that come without. */
#ifndef TEST_WINDOWS_PTHREAD_H
#define TEST_WINDOWS_PTHREAD_H

#include <stdlib.h>
#define SIZE SIZE_OF_WINDOWS /* tests have the name for themselves */
#include <windows.h>
#undef SIZE

typedef struct pthread {
  HANDLE handle;
  void* (*run)(void*);
  void *argument, *result;
}* pthread_t;

static DWORD WINAPI pthread_main(void* p) {
  pthread_t thread = (pthread_t)p;
  thread->result = thread->run(thread->argument);
  return 0;
}

static inline int pthread_create(pthread_t* out, const void* attributes, void* (*run)(void*),
                                 void* argument) {
  pthread_t thread = (pthread_t)calloc(1, sizeof(*thread));
  (void)attributes;
  if (thread == NULL) { return 12; }
  thread->run = run;
  thread->argument = argument;
  thread->handle = CreateThread(NULL, 0, pthread_main, thread, 0, NULL);
  *out = thread;
  return thread->handle == NULL ? 11 : 0;
}

static inline int pthread_join(pthread_t thread, void** result) {
  WaitForSingleObject(thread->handle, INFINITE);
  CloseHandle(thread->handle);
  if (result != NULL) { *result = thread->result; }
  free(thread);
  return 0;
}

static inline int pthread_detach(pthread_t thread) { return CloseHandle(thread->handle) ? 0 : 22; }

typedef SRWLOCK pthread_mutex_t;
#define PTHREAD_MUTEX_INITIALIZER SRWLOCK_INIT
static inline int pthread_mutex_init(pthread_mutex_t* mutex, const void* attributes) {
  (void)attributes;
  InitializeSRWLock(mutex);
  return 0;
}
static inline int pthread_mutex_lock(pthread_mutex_t* mutex) {
  AcquireSRWLockExclusive(mutex);
  return 0;
}
static inline int pthread_mutex_unlock(pthread_mutex_t* mutex) {
  ReleaseSRWLockExclusive(mutex);
  return 0;
}

typedef CONDITION_VARIABLE pthread_cond_t;
#define PTHREAD_COND_INITIALIZER CONDITION_VARIABLE_INIT
static inline int pthread_cond_init(pthread_cond_t* condition, const void* attributes) {
  (void)attributes;
  InitializeConditionVariable(condition);
  return 0;
}
static inline int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  return SleepConditionVariableSRW(condition, mutex, INFINITE, 0) ? 0 : 22;
}
static inline int pthread_cond_signal(pthread_cond_t* condition) {
  WakeConditionVariable(condition);
  return 0;
}
static inline int pthread_cond_broadcast(pthread_cond_t* condition) {
  WakeAllConditionVariable(condition);
  return 0;
}

typedef struct pthread_barrier {
  SRWLOCK lock;
  CONDITION_VARIABLE all_there;
  unsigned count, missing, round;
} pthread_barrier_t;

static inline int pthread_barrier_init(pthread_barrier_t* barrier, const void* attributes,
                                       unsigned count) {
  (void)attributes;
  InitializeSRWLock(&barrier->lock);
  InitializeConditionVariable(&barrier->all_there);
  barrier->count = barrier->missing = count;
  barrier->round = 0;
  return 0;
}

static inline int pthread_barrier_wait(pthread_barrier_t* barrier) {
  AcquireSRWLockExclusive(&barrier->lock);
  const unsigned round = barrier->round;
  if (--barrier->missing == 0) {
    barrier->missing = barrier->count;
    barrier->round++;
    WakeAllConditionVariable(&barrier->all_there);
  }
  while (round == barrier->round) {
    SleepConditionVariableSRW(&barrier->all_there, &barrier->lock, INFINITE, 0);
  }
  ReleaseSRWLockExclusive(&barrier->lock);
  return 0;
}

static inline int sched_yield(void) {
  (void)SwitchToThread();
  return 0;
}

#endif
