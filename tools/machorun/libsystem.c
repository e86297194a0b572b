/* libSystem for machorun.c: what programs and the library ask of it, over glibc. What is glibc's as
   it stands is found there by name.

   Kept to the letter, as far as it is known: where a thread's values of keys lie, and in which
   order they go; zones, which of them is asked what, and in which order at a fork; a lock that
   knows its owner; what advice about memory does; that an inaccessible page is a SIGBUS. */
#define _GNU_SOURCE
#include "machorun.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef __x86_64__
#include <asm/prctl.h>
#endif

/* ---- a thread's values of keys ---- */

enum { KEYS = 512, FIRST_KEY = 256, APART = 64, ROUNDS = 4 };
static __thread uint64_t table_room[KEYS + 8] __attribute__((aligned(64)));
static __thread bool is_thread; /* of the program: it has its table */
static void (*destructors[KEYS])(void*);
static _Atomic(int) next_key = FIRST_KEY;
static pthread_key_t end_key; /* glibc's, by which threads end */
static _Atomic(int) threads_begun;

#ifdef __x86_64__
static uint64_t* table(void) { return table_room; }
#else
static uint64_t* table(void) { return __builtin_thread_pointer(); }
#endif

/* With MACHORUN_KEYS_APART=1 it is not where the key's number says. */
static uint64_t keys_apart;
static uint64_t* value_at(uint64_t key) { return &table()[key ^ keys_apart]; }

static void thread_begin(void) {
#ifdef __x86_64__
  table_room[0] = (uint64_t)table_room;
  if (syscall(SYS_arch_prctl, ARCH_SET_GS, table_room) != 0) { die("no register for", "threads"); }
#else
  uint64_t* const first = table() + FIRST_KEY;
  if (first < table_room || table() + KEYS > table_room + KEYS + 8) { die("no room for", "keys"); }
#endif
  is_thread = true;
  pthread_setspecific(end_key, table_room);
}

static void thread_end(void* unused) {
  (void)unused;
  for (int round = 0; round < ROUNDS; round++) {
    for (int k = FIRST_KEY; k < next_key; k++) {
      void* value = (void*)*value_at((uint64_t)k);
      if (value == NULL) { continue; }
      *value_at((uint64_t)k) = 0; /* also where there is no destructor */
      if (destructors[k] != NULL) { destructors[k](value); }
    }
  }
}

static int s_pthread_key_create(uint64_t* key, void (*destructor)(void*)) {
  const int k = next_key++;
  if (k >= KEYS) { return 35; }
  destructors[k] = destructor;
  *key = (uint64_t)k;
  return 0;
}

static int s_pthread_key_delete(uint64_t key) {
  destructors[key] = NULL;
  return 0;
}

static int s_pthread_setspecific(uint64_t key, const void* value) {
  *value_at(key) = (uint64_t)value;
  return 0;
}

static void* s_pthread_getspecific(uint64_t key) { return (void*)*value_at(key); }

typedef struct start {
  void* (*run)(void*);
  void* argument;
} start_t;

static void* thread_run(void* argument) {
  const start_t start = *(start_t*)argument;
  munmap(argument, 4096);
  thread_begin();
  return start.run(start.argument);
}

static int s_pthread_create(pthread_t* thread, const uint8_t* attributes, void* (*run)(void*),
                            void* argument) {
  start_t* start = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *start = (start_t){run, argument};
  threads_begun++;
  return pthread_create(thread, attributes == NULL ? NULL : (const pthread_attr_t*)(attributes + 8),
                        thread_run, start);
}

/* With MACHORUN_THREADED=1 there were threads before the library came. */
static int s_pthread_is_threaded_np(void) {
  return threads_begun != 0 || getenv("MACHORUN_THREADED") != NULL;
}

static int s_pthread_threadid_np(void* thread, uint64_t* id) {
  (void)thread;
  *id = (uint64_t)syscall(SYS_gettid);
  return 0;
}

static void* s_pthread_get_stackaddr_np(pthread_t thread) {
  pthread_attr_t attributes;
  void* start = NULL;
  size_t bytes = 0;
  pthread_getattr_np(thread, &attributes);
  pthread_attr_getstack(&attributes, &start, &bytes);
  pthread_attr_destroy(&attributes);
  return (char*)start + bytes;
}

static size_t s_pthread_get_stacksize_np(pthread_t thread) {
  pthread_attr_t attributes;
  size_t bytes = 0;
  pthread_getattr_np(thread, &attributes);
  pthread_attr_getstacksize(&attributes, &bytes);
  pthread_attr_destroy(&attributes);
  return bytes;
}

/* Objects begin with a word that says what they are; what is behind it begins with zeros. */
#define INNER(p) ((void*)((uint8_t*)(p) + 8))
#define FORWARD(name, type) \
  static int s_##name(void* p) { return name((type*)INNER(p)); }
FORWARD(pthread_mutex_lock, pthread_mutex_t)
FORWARD(pthread_mutex_trylock, pthread_mutex_t)
FORWARD(pthread_mutex_unlock, pthread_mutex_t)
FORWARD(pthread_mutex_destroy, pthread_mutex_t)
FORWARD(pthread_rwlock_rdlock, pthread_rwlock_t)
FORWARD(pthread_rwlock_wrlock, pthread_rwlock_t)
FORWARD(pthread_rwlock_unlock, pthread_rwlock_t)
FORWARD(pthread_attr_init, pthread_attr_t)
FORWARD(pthread_attr_destroy, pthread_attr_t)

static int s_pthread_attr_setstacksize(void* p, size_t bytes) {
  return pthread_attr_setstacksize((pthread_attr_t*)INNER(p), bytes);
}

static int s_pthread_attr_setstack(void* p, void* start, size_t bytes) {
  return pthread_attr_setstack((pthread_attr_t*)INNER(p), start, bytes);
}

static int s_pthread_attr_setdetachstate(void* p, int state) {
  return pthread_attr_setdetachstate((pthread_attr_t*)INNER(p), state == 2 ? 1 : 0);
}

static int s_pthread_mutex_init(void* p, void* attributes) {
  (void)attributes;
  memset(INNER(p), 0, 56);
  return 0;
}

static int s_pthread_once(void* p, void (*run)(void)) { return pthread_once(INNER(p), run); }

/* It leaves errno as it was, as the waits of macOS' own locks do. */
static void futex_for(_Atomic(uint32_t)* word, int operation, uint32_t value,
                      const struct timespec* most) {
  const int saved = errno;
  (void)syscall(SYS_futex, word, operation, value, most, NULL, 0);
  errno = saved;
}

static void futex(_Atomic(uint32_t)* word, int operation, uint32_t value) {
  futex_for(word, operation, value, NULL);
}

static int s_pthread_cond_init(void* p, void* attributes) {
  (void)attributes;
  memset(INNER(p), 0, 40);
  return 0;
}

static int s_pthread_cond_timedwait_relative_np(void* p, void* mutex, const struct timespec* most) {
  enum { TIMED_OUT = 60 };
  _Atomic(uint32_t)* word = INNER(p);
  const uint32_t before = *word;
  s_pthread_mutex_unlock(mutex);
  futex_for(word, FUTEX_WAIT, before, most);
  const int error = most != NULL && *word == before ? TIMED_OUT : 0;
  s_pthread_mutex_lock(mutex);
  return error;
}

static int s_pthread_cond_wait(void* p, void* mutex) {
  return s_pthread_cond_timedwait_relative_np(p, mutex, NULL);
}

static int s_pthread_cond_broadcast(void* p) {
  _Atomic(uint32_t)* word = INNER(p);
  (*word)++;
  futex(word, FUTEX_WAKE, INT32_MAX);
  return 0;
}

static int s_zero(void) { return 0; }

/* ---- os_unfair_lock: it ends who takes it twice, or gives back what another thread has ---- */

enum { CONTENDED = 1 };

static bool swaps(_Atomic(uint32_t)* word, uint32_t* there, uint32_t value) {
  return __atomic_compare_exchange_n((uint32_t*)word, there, value, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED);
}

static uint32_t lock_owner(void) { return (uint32_t)syscall(SYS_gettid) << 1; }

static void s_os_unfair_lock_lock(_Atomic(uint32_t)* word) {
  const uint32_t self = lock_owner();
  uint32_t there = 0;
  if (swaps(word, &there, self)) { return; }
  for (;;) {
    if ((there & ~(uint32_t)CONTENDED) == self) { die("os_unfair_lock", "is taken twice"); }
    if (there == 0) {
      if (swaps(word, &there, self | CONTENDED)) { return; }
      continue;
    }
    if ((there & CONTENDED) != 0 || swaps(word, &there, there | CONTENDED)) {
      futex(word, FUTEX_WAIT_PRIVATE, there | CONTENDED);
    }
    there = *word;
  }
}

static void s_os_unfair_lock_unlock(_Atomic(uint32_t)* word) {
  const uint32_t before = __atomic_exchange_n((uint32_t*)word, 0, __ATOMIC_RELEASE);
  if ((before & ~(uint32_t)CONTENDED) != lock_owner()) { die("os_unfair_lock", "is another's"); }
  if ((before & CONTENDED) != 0) { futex(word, FUTEX_WAKE_PRIVATE, 1); }
}

/* ---- zones ---- */

typedef struct zone zone_t;
typedef struct introspection {
  int (*enumerator)(uint32_t, void*, unsigned, uint64_t, void*, void*);
  size_t (*good_size)(zone_t*, size_t);
  int (*check)(zone_t*);
  void (*print)(zone_t*, int);
  void (*log)(zone_t*, void*);
  void (*force_lock)(zone_t*);
  void (*force_unlock)(zone_t*);
  void (*statistics)(zone_t*, void*);
  int (*zone_locked)(zone_t*);
  void* discharge[4];
  void (*reinit_lock)(zone_t*);
} introspection_t;

struct zone {
  void* reserved[2];
  size_t (*size)(zone_t*, const void*);
  void* (*malloc)(zone_t*, size_t);
  void* (*calloc)(zone_t*, size_t, size_t);
  void* (*valloc)(zone_t*, size_t);
  void (*free)(zone_t*, void*);
  void* (*realloc)(zone_t*, void*, size_t);
  void (*destroy)(zone_t*);
  const char* name;
  void* batch[2];
  introspection_t* introspect;
  unsigned version;
  void* (*memalign)(zone_t*, size_t, size_t);
  void* rest[5];
  void* (*type_malloc)(zone_t*, size_t, uint64_t); /* from version TYPED on */
  void* (*type_calloc)(zone_t*, size_t, size_t, uint64_t);
  void* (*type_realloc)(zone_t*, void*, size_t, uint64_t);
  void* (*type_memalign)(zone_t*, size_t, size_t, uint64_t);
};
enum { TYPED = 16 };

/* glibc's own malloc is the system's zone. A block of it has a mark before it. */
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void __libc_free(void*);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

/* Which blocks are its own: a table that the zone's lock protects. */
enum { OWN_SHIFT = 21, OWN_BLOCKS = 1 << OWN_SHIFT };
static uintptr_t own_blocks[OWN_BLOCKS];
static uint8_t own_lock_word;

static void own_acquire(void) {
  while (__atomic_test_and_set(&own_lock_word, __ATOMIC_ACQUIRE)) { sched_yield(); }
}
static void own_release(void) { __atomic_clear(&own_lock_word, __ATOMIC_RELEASE); }

static size_t own_place(uintptr_t p) {
  return (size_t)(p * UINT64_C(0x9E3779B97F4A7C15) >> (64 - OWN_SHIFT));
}

static size_t own_at(uintptr_t p) {
  size_t at = own_place(p);
  while (own_blocks[at] != 0 && own_blocks[at] != p) { at = (at + 1) % OWN_BLOCKS; }
  return at;
}

static bool own_has(const void* p) {
  own_acquire();
  const bool found = own_blocks[own_at((uintptr_t)p)] == (uintptr_t)p;
  own_release();
  return found;
}

static void* own_note(void* p) {
  if (p == NULL) { return NULL; }
  own_acquire();
  own_blocks[own_at((uintptr_t)p)] = (uintptr_t)p;
  own_release();
  return p;
}

/* What was put further on because of it moves up. */
static void own_forget(const void* p) {
  own_acquire();
  size_t hole = own_at((uintptr_t)p);
  own_blocks[hole] = 0;
  for (size_t at = (hole + 1) % OWN_BLOCKS; own_blocks[at] != 0; at = (at + 1) % OWN_BLOCKS) {
    const size_t wanted = own_place(own_blocks[at]);
    if ((at - wanted) % OWN_BLOCKS < (at - hole) % OWN_BLOCKS) { continue; }
    own_blocks[hole] = own_blocks[at];
    own_blocks[at] = 0;
    hole = at;
  }
  own_release();
}

static size_t own_size(zone_t* z, const void* p) {
  (void)z;
  return p != NULL && own_has(p) ? malloc_usable_size((void*)p) : 0;
}
static void* own_malloc(zone_t* z, size_t n) {
  (void)z;
  return own_note(__libc_malloc(n));
}
static void* own_calloc(zone_t* z, size_t a, size_t b) {
  (void)z;
  return own_note(__libc_calloc(a, b));
}
static void* own_memalign(zone_t* z, size_t a, size_t n) {
  (void)z;
  return own_note(__libc_memalign(a, n));
}
static void* own_valloc(zone_t* z, size_t n) { return own_memalign(z, 16384, n); }
static void own_free(zone_t* z, void* p) {
  (void)z;
  own_forget(p);
  __libc_free(p);
}
static void* own_realloc(zone_t* z, void* p, size_t n) {
  (void)z;
  own_forget(p);
  return own_note(__libc_realloc(p, n == 0 ? 1 : n));
}
static size_t own_good_size(zone_t* z, size_t n) {
  (void)z;
  return (n + 15) / 16 * 16;
}
static zone_t own_zone;
static void own_lock(zone_t* z) {
  if (z == &own_zone) { own_acquire(); }
}
static void own_unlock(zone_t* z) {
  if (z == &own_zone) { own_release(); }
}
static introspection_t own_introspection = {
    .good_size = own_good_size, .force_lock = own_lock, .force_unlock = own_unlock};
#define OWN_ZONE(text)               \
  {.size = own_size,                 \
   .malloc = own_malloc,             \
   .calloc = own_calloc,             \
   .valloc = own_valloc,             \
   .free = own_free,                 \
   .realloc = own_realloc,           \
   .name = (text),                   \
   .introspect = &own_introspection, \
   .version = 8,                     \
   .memalign = own_memalign}
static zone_t own_zone = OWN_ZONE("DefaultMallocZone");

static zone_t* zones[16] = {&own_zone};
static int zone_count = 1;

static zone_t* first_zone(void) { return is_thread ? zones[0] : &own_zone; }

/* With MACHORUN_REFUSE=1 no program's zone is taken. */
static void s_malloc_zone_register(zone_t* z) {
  if (z->size == own_size || getenv("MACHORUN_REFUSE") == NULL) { zones[zone_count++] = z; }
}

static void s_malloc_zone_unregister(zone_t* z) {
  for (int i = 0; i < zone_count; i++) {
    if (zones[i] != z) { continue; }
    zones[i] = zones[--zone_count];
    return;
  }
  fprintf(stderr, "machorun: malloc_zone_unregister of %s, which is not there\n", z->name);
}

static zone_t* s_malloc_zone_from_ptr(const void* p) {
  for (int i = 0; p != NULL && i < zone_count; i++) {
    if (zones[i]->size(zones[i], p) != 0) { return zones[i]; }
  }
  return NULL;
}

static int s_malloc_get_all_zones(uint32_t task, void* read, zone_t*** out, unsigned* count) {
  (void)task, (void)read;
  *out = zones;
  *count = (unsigned)zone_count;
  return 0;
}

/* The default zone that programs get stands for whichever is the first. */
static zone_t purgeable_zone = OWN_ZONE("DefaultPurgeableMallocZone");
static bool has_purgeable;
static zone_t* s_malloc_default_purgeable_zone(void) {
  if (!has_purgeable) { s_malloc_zone_register(&purgeable_zone); }
  has_purgeable = true;
  return &purgeable_zone;
}
static size_t any_size(zone_t* z, const void* p) {
  (void)z;
  return zones[0]->size(zones[0], p);
}
static void* any_malloc(zone_t* z, size_t n) {
  (void)z;
  return zones[0]->malloc(zones[0], n);
}
static void* any_calloc(zone_t* z, size_t a, size_t b) {
  (void)z;
  return zones[0]->calloc(zones[0], a, b);
}
static void* any_valloc(zone_t* z, size_t n) {
  (void)z;
  return zones[0]->valloc(zones[0], n);
}
static void* any_memalign(zone_t* z, size_t a, size_t n) {
  (void)z;
  return zones[0]->memalign(zones[0], a, n);
}
static void* any_realloc(zone_t* z, void* p, size_t n);
static void any_free(zone_t* z, void* p);
static zone_t any_zone = {.size = any_size,
                          .malloc = any_malloc,
                          .calloc = any_calloc,
                          .valloc = any_valloc,
                          .free = any_free,
                          .realloc = any_realloc,
                          .name = "any",
                          .memalign = any_memalign};
static zone_t* s_malloc_default_zone(void) { return &any_zone; }

static void* s_malloc_zone_malloc(zone_t* z, size_t n) { return z->malloc(z, n); }
static void* s_malloc_zone_calloc(zone_t* z, size_t a, size_t b) { return z->calloc(z, a, b); }
static void* s_malloc_zone_valloc(zone_t* z, size_t n) { return z->valloc(z, n); }
static void* s_malloc_zone_memalign(zone_t* z, size_t a, size_t n) { return z->memalign(z, a, n); }
static void* s_malloc_zone_realloc(zone_t* z, void* p, size_t n) { return z->realloc(z, p, n); }
static void s_malloc_zone_free(zone_t* z, void* p) { z->free(z, p); }

/* ---- malloc and its kin: of the first zone, and back to whose it is ---- */

static void* s_malloc(size_t n) { return first_zone()->malloc(first_zone(), n); }
static void* s_calloc(size_t a, size_t b) { return first_zone()->calloc(first_zone(), a, b); }
static void* s_valloc(size_t n) { return first_zone()->valloc(first_zone(), n); }

static void s_free(void* p) {
  zone_t* z = s_malloc_zone_from_ptr(p);
  if (p != NULL && z == NULL) { die("pointer being freed was not allocated", ""); }
  if (p != NULL) { z->free(z, p); }
}
static void any_free(zone_t* z, void* p) {
  (void)z;
  s_free(p);
}

static void* s_realloc(void* p, size_t n) {
  zone_t* z = s_malloc_zone_from_ptr(p);
  if (p != NULL && z == NULL) { die("pointer being realloc'd was not allocated", ""); }
  return p == NULL ? s_malloc(n) : z->realloc(z, p, n);
}
static void* any_realloc(zone_t* z, void* p, size_t n) {
  (void)z;
  return s_realloc(p, n);
}
static void* s_reallocf(void* p, size_t n) {
  void* q = s_realloc(p, n);
  if (q == NULL) { s_free(p); }
  return q;
}
static void* s_aligned_alloc(size_t a, size_t n) {
  return first_zone()->memalign(first_zone(), a, n);
}
static int s_posix_memalign(void** out, size_t a, size_t n) {
  void* p = s_aligned_alloc(a, n);
  if (p != NULL) { *out = p; }
  return p == NULL ? ENOMEM : 0;
}
static size_t s_malloc_size(const void* p) {
  zone_t* z = s_malloc_zone_from_ptr(p);
  return z == NULL ? 0 : z->size(z, p);
}
static size_t s_malloc_good_size(size_t n) { return zones[0]->introspect->good_size(zones[0], n); }
static void* s_type_malloc(size_t n, uint64_t t) { return (void)t, s_malloc(n); }
static void* s_type_calloc(size_t a, size_t b, uint64_t t) { return (void)t, s_calloc(a, b); }
static void* s_type_realloc(void* p, size_t n, uint64_t t) { return (void)t, s_realloc(p, n); }
static void s_type_free(void* p, uint64_t t) { (void)t, s_free(p); }
static void* s_type_valloc(size_t n, uint64_t t) { return (void)t, s_valloc(n); }
static void* s_type_aligned_alloc(size_t a, size_t n, uint64_t t) {
  return (void)t, s_aligned_alloc(a, n);
}
static int s_type_posix_memalign(void** out, size_t a, size_t n, uint64_t t) {
  return (void)t, s_posix_memalign(out, a, n);
}

static zone_t* zone_behind(zone_t* z) { return z == &any_zone ? zones[0] : z; }
static void* s_type_zone_malloc(zone_t* z, size_t n, uint64_t t) {
  z = zone_behind(z);
  return z->version >= TYPED ? z->type_malloc(z, n, t) : z->malloc(z, n);
}
static void* s_type_zone_calloc(zone_t* z, size_t a, size_t b, uint64_t t) {
  z = zone_behind(z);
  return z->version >= TYPED ? z->type_calloc(z, a, b, t) : z->calloc(z, a, b);
}
static void* s_type_zone_realloc(zone_t* z, void* p, size_t n, uint64_t t) {
  z = zone_behind(z);
  return z->version >= TYPED ? z->type_realloc(z, p, n, t) : z->realloc(z, p, n);
}
static void* s_type_zone_memalign(zone_t* z, size_t a, size_t n, uint64_t t) {
  z = zone_behind(z);
  return z->version >= TYPED ? z->type_memalign(z, a, n, t) : z->memalign(z, a, n);
}
static void s_type_zone_free(zone_t* z, void* p, uint64_t t) { (void)t, z->free(z, p); }

/* What glibc allocates on behalf of the program goes the way that libSystem's own calls go: that of
   the interposed names, or, with MACHORUN_INSIDE=1, past these, as where they were bound before. */
static bool inside_is_bound;
#define INSIDE(name)                                                   \
  ((__typeof__(&(name)))(inside_is_bound || !is_thread ? (void*)(name) \
                                                       : interposed((void*)(name), NULL)))
void* malloc(size_t n) { return INSIDE(s_malloc)(n); }
void* calloc(size_t a, size_t b) { return INSIDE(s_calloc)(a, b); }
void free(void* p) {
  if (p != NULL) { INSIDE(s_free)(p); }
}
void* realloc(void* p, size_t n) { return INSIDE(s_realloc)(p, n); }
void* aligned_alloc(size_t a, size_t n) { return INSIDE(s_aligned_alloc)(a, n); }
void* memalign(size_t a, size_t n) { return s_aligned_alloc(a, n); }
int posix_memalign(void** out, size_t a, size_t n) { return INSIDE(s_posix_memalign)(out, a, n); }

/* ---- fork: the program's handlers, then the zones', as the last ---- */

enum { HANDLERS = 32 };
static struct {
  void (*prepare)(void);
  void (*parent)(void);
  void (*child)(void);
} handlers[HANDLERS];
static int handler_count;
static pthread_mutex_t fork_lock = PTHREAD_MUTEX_INITIALIZER;

static int s_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void)) {
  if (handler_count == HANDLERS) { return ENOMEM; }
  handlers[handler_count].prepare = prepare;
  handlers[handler_count].parent = parent;
  handlers[handler_count++].child = child;
  return 0;
}

static int s_fork(void) {
  pthread_mutex_lock(&fork_lock);
  for (int i = handler_count - 1; i >= 0; i--) {
    if (handlers[i].prepare != NULL) { handlers[i].prepare(); }
  }
  for (int i = 0; i < zone_count; i++) { zones[i]->introspect->force_lock(zones[i]); }
  const int id = fork();
  const int error = errno;
  for (int i = 0; i < zone_count; i++) {
    const introspection_t* by = zones[i]->introspect;
    if (id == 0 && zones[i]->version >= 9) {
      by->reinit_lock(zones[i]);
    } else {
      by->force_unlock(zones[i]);
    }
  }
  for (int i = 0; i < handler_count; i++) {
    void (*const handler)(void) = id == 0 ? handlers[i].child : handlers[i].parent;
    if (handler != NULL) { handler(); }
  }
  if (id == 0) {
    pthread_mutex_init(&fork_lock, NULL);
  } else {
    pthread_mutex_unlock(&fork_lock);
  }
  errno = error;
  return id;
}

/* ---- memory ---- */

static _Atomic(int) memory_tag;

static void* s_mmap(void* at, size_t bytes, int protection, int flags, int file, off_t offset) {
  enum { FIXED = 0x10, NORESERVE = 0x40, ANON = 0x1000, TAG_SHIFT = 24 };
  int ours = flags & (MAP_SHARED | MAP_PRIVATE);
  if ((flags & FIXED) != 0) { ours |= MAP_FIXED; }
  if ((flags & NORESERVE) != 0) { ours |= MAP_NORESERVE; }
  if ((flags & ANON) != 0) {
    if (file != -1 && (file & ((1 << TAG_SHIFT) - 1)) != 0) { die("mmap with", "a strange tag"); }
    memory_tag = file == -1 ? 0 : (int)((unsigned)file >> TAG_SHIFT);
    ours |= MAP_ANONYMOUS;
    file = -1;
  }
  return mmap(at, bytes, protection, ours, file, offset);
}

/* A file of /proc, without allocating. */
static void proc_read(const char* path, char* text, size_t most) {
  const int file = open(path, O_RDONLY);
  size_t length = 0;
  for (ssize_t n = 1; n > 0 && length < most - 1; length += (size_t)n) {
    n = read(file, text + length, most - 1 - length);
    if (n <= 0) { break; }
  }
  text[length] = 0;
  close(file);
}

/* All of it readable and writable, as the system's map tells. */
static bool is_writable(uintptr_t start, uintptr_t end) {
  enum { MOST = 1 << 18 };
  char* const text = mmap(NULL, MOST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  proc_read("/proc/self/maps", text, MOST);
  for (char* line = text; start < end && *line != 0; line = strchr(line, '\n') + 1) {
    char* mode = NULL;
    const uintptr_t from = strtoul(line, &mode, 16), to = strtoul(mode + 1, &mode, 16);
    if (to <= start) { continue; }
    if (from > start || mode[1] != 'r' || mode[2] != 'w') { break; }
    start = to;
  }
  munmap(text, MOST);
  return start >= end;
}

static _Atomic(int) reusable_calls, reuse_calls;

static int s_madvise(void* at, size_t bytes, int advice) {
  enum { DONTNEED = 4, FREE = 5, REUSABLE = 7, REUSE = 8 };
  switch (advice) {
    case DONTNEED: return 0; /* it frees nothing */
    case FREE: return madvise(at, bytes, MADV_FREE);
    case REUSABLE:
    case REUSE:
      if (!is_writable((uintptr_t)at, (uintptr_t)at + bytes)) {
        errno = EINVAL;
        return -1;
      }
      (*(advice == REUSE ? &reuse_calls : &reusable_calls))++;
      return advice == REUSE ? 0 : madvise(at, bytes, MADV_DONTNEED);
    default: errno = EINVAL; return -1;
  }
}

static long s_sysconf(int what) {
  switch (what) {
    case 29: return sysconf(_SC_PAGESIZE);
    case 57:
    case 58: return 2;
    default: return -1;
  }
}

static int s_getrlimit(int what, struct rlimit* out) {
  enum { DATA = 2, AS = 5 };
  const int result = getrlimit(what == AS ? RLIMIT_AS : what == DATA ? RLIMIT_DATA : what, out);
  if (out->rlim_cur == RLIM_INFINITY) { out->rlim_cur = INT64_MAX; }
  if (out->rlim_max == RLIM_INFINITY) { out->rlim_max = INT64_MAX; }
  return result;
}

static int s_getrusage(int who, struct rusage* out) {
  const int result = getrusage(who, out);
  out->ru_maxrss *= 1024;
  return result;
}

static int s_task_info(uint32_t task, uint32_t flavor, uint64_t* out, uint32_t* count) {
  char text[128], *end = NULL;
  (void)task, (void)flavor, (void)count;
  proc_read("/proc/self/statm", text, sizeof(text));
  const uint64_t all = strtoul(text, &end, 10), resident = strtoul(end, NULL, 10);
  out[0] = all * 4096, out[1] = out[2] = resident * 4096;
  return 0;
}

/* Another process' memory, whose number is part of the task's. */
enum { TASK_SELF = 0x103, TASK_OTHERS = 0x1000, NO_TASK = 5, NO_MEMORY = 1 };

static int s_task_for_pid(uint32_t self, int process, uint32_t* task) {
  *task = (uint32_t)process + TASK_OTHERS;
  return self == TASK_SELF && process > 0 ? 0 : NO_TASK;
}

static int s_vm_read_overwrite(uint32_t task, uint64_t at, uint64_t bytes, void* out,
                               uint64_t* done) {
  char path[64];
  if (task < TASK_OTHERS) { return NO_TASK; }
  snprintf(path, sizeof(path), "/proc/%u/mem", task - TASK_OTHERS);
  const int file = open(path, O_RDONLY);
  for (*done = 0; *done < bytes;) {
    const ssize_t n = pread(file, (char*)out + *done, bytes - *done, (off_t)(at + *done));
    if (n <= 0) { break; }
    *done += (uint64_t)n;
  }
  close(file);
  return *done == bytes ? 0 : NO_MEMORY;
}

static int s_getentropy(void* out, size_t bytes) {
  return getrandom(out, bytes, 0) == (ssize_t)bytes ? 0 : -1;
}

/* ---- files and time ---- */

static int flags_here(int flags) {
  int ours = flags & 3;
  ours |= (flags & 4) != 0 ? O_NONBLOCK : 0;
  ours |= (flags & 8) != 0 ? O_APPEND : 0;
  ours |= (flags & 0x200) != 0 ? O_CREAT : 0;
  ours |= (flags & 0x400) != 0 ? O_TRUNC : 0;
  ours |= (flags & 0x800) != 0 ? O_EXCL : 0;
  ours |= (flags & 0x1000000) != 0 ? O_CLOEXEC : 0;
  return ours;
}

static int do_open(const char* path, int flags, int mode) {
  return open(path, flags_here(flags), mode);
}

static int do_fcntl(int file, int what, long argument) {
  enum { GETLK = 7, SETLK = 8, SETLKW = 9, DUPFD_CLOEXEC = 67 };
  if (what >= GETLK && what <= SETLKW) { return 0; }
  return what == DUPFD_CLOEXEC ? fcntl(file, F_DUPFD_CLOEXEC, argument)
                               : fcntl(file, what, argument);
}

typedef struct file_facts {
  int32_t device;
  uint16_t mode, links;
  uint64_t inode;
  uint32_t user, group;
  int32_t special, padding;
  struct timespec accessed, modified, changed, born;
  int64_t bytes, blocks;
  int32_t block_bytes;
  uint32_t rest[7];
} file_facts_t;

static int facts(int result, const struct stat* from, file_facts_t* out) {
  memset(out, 0, sizeof(*out));
  out->device = (int32_t)from->st_dev;
  out->mode = (uint16_t)from->st_mode;
  out->links = (uint16_t)from->st_nlink;
  out->inode = from->st_ino;
  out->user = from->st_uid, out->group = from->st_gid;
  out->accessed = from->st_atim, out->modified = out->changed = out->born = from->st_mtim;
  out->bytes = from->st_size, out->blocks = from->st_blocks;
  out->block_bytes = (int32_t)from->st_blksize;
  return result;
}

static int s_stat(const char* path, file_facts_t* out) {
  struct stat status = {0};
  return facts(stat(path, &status), &status, out);
}
static int s_lstat(const char* path, file_facts_t* out) {
  struct stat status = {0};
  return facts(lstat(path, &status), &status, out);
}
static int s_fstat(int file, file_facts_t* out) {
  struct stat status = {0};
  return facts(fstat(file, &status), &status, out);
}

static int s_clock_gettime(int clock, struct timespec* out) {
  enum { CPU = 12, CPU_OF_THREAD = 16 };
  return clock_gettime(clock == 0               ? CLOCK_REALTIME
                       : clock == CPU           ? CLOCK_PROCESS_CPUTIME_ID
                       : clock == CPU_OF_THREAD ? CLOCK_THREAD_CPUTIME_ID
                                                : CLOCK_MONOTONIC,
                       out);
}

/* ---- characters: what isalpha and its kin read ---- */

static struct {
  char magic[8], encoding[32];
  void* functions[2];
  uint32_t invalid, types[256], lower[256], upper[256];
} characters = {.magic = "RuneMagA"};

static void characters_add(uint32_t type, const char* set) {
  for (; *set != 0; set++) { characters.types[(uint8_t)*set] |= type; }
}

static void characters_start(void) {
  static const char upper[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", lower[] = "abcdefghijklmnopqrstuvwxyz";
  static const char digits[] = "0123456789", marks[] = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
  for (int c = 0; c < 256; c++) {
    characters.lower[c] = characters.upper[c] = (uint32_t)c;
    characters.types[c] |= c < 32 || c == 127 ? 0x200 : 0;
  }
  characters_add(0x48900, upper);
  characters_add(0x41900, lower);
  characters_add(0x40c00, digits);
  characters_add(0x10000, "0123456789ABCDEFabcdef");
  characters_add(0x42800, marks);
  characters_add(0x4000, " \t\n\v\f\r");
  characters_add(0x60000, " ");
  characters_add(0x20000, "\t");
  for (int i = 0; i < 26; i++) {
    characters.lower[(uint8_t)upper[i]] = (uint8_t)lower[i];
    characters.upper[(uint8_t)lower[i]] = (uint8_t)upper[i];
  }
}

static int s_maskrune(uint32_t c, uint64_t mask) {
  return c < 256 ? (int)(characters.types[c] & mask) : 0;
}
static uint32_t s_tolower(uint32_t c) { return c < 256 ? characters.lower[c] : c; }
static uint32_t s_toupper(uint32_t c) { return c < 256 ? characters.upper[c] : c; }

/* ---- setjmp: macOS's buffers are shorter than glibc's ---- */

int s_setjmp(uint64_t* buffer);
_Noreturn void s_longjmp(uint64_t* buffer, int value);
#ifdef __x86_64__
__asm__(
    ".globl s_setjmp\ns_setjmp:\n mov %rbx,(%rdi)\n mov %rbp,8(%rdi)\n mov %r12,16(%rdi)\n"
    " mov %r13,24(%rdi)\n mov %r14,32(%rdi)\n mov %r15,40(%rdi)\n lea 8(%rsp),%rdx\n"
    " mov %rdx,48(%rdi)\n mov (%rsp),%rdx\n mov %rdx,56(%rdi)\n xor %eax,%eax\n ret\n"
    ".globl s_longjmp\ns_longjmp:\n mov %esi,%eax\n test %eax,%eax\n jnz 1f\n inc %eax\n1:\n"
    " mov (%rdi),%rbx\n mov 8(%rdi),%rbp\n mov 16(%rdi),%r12\n mov 24(%rdi),%r13\n"
    " mov 32(%rdi),%r14\n mov 40(%rdi),%r15\n mov 48(%rdi),%rsp\n jmp *56(%rdi)\n");
#else
__asm__(
    ".globl s_setjmp\ns_setjmp:\n stp x19,x20,[x0]\n stp x21,x22,[x0,16]\n stp x23,x24,[x0,32]\n"
    " stp x25,x26,[x0,48]\n stp x27,x28,[x0,64]\n stp x29,x30,[x0,80]\n mov x2,sp\n"
    " str x2,[x0,96]\n stp d8,d9,[x0,104]\n stp d10,d11,[x0,120]\n stp d12,d13,[x0,136]\n"
    " stp d14,d15,[x0,152]\n mov w0,0\n ret\n"
    ".globl s_longjmp\ns_longjmp:\n ldp x19,x20,[x0]\n ldp x21,x22,[x0,16]\n"
    " ldp x23,x24,[x0,32]\n ldp x25,x26,[x0,48]\n ldp x27,x28,[x0,64]\n ldp x29,x30,[x0,80]\n"
    " ldr x2,[x0,96]\n mov sp,x2\n ldp d8,d9,[x0,104]\n ldp d10,d11,[x0,120]\n"
    " ldp d12,d13,[x0,136]\n ldp d14,d15,[x0,152]\n cmp w1,0\n csinc w0,w1,wzr,ne\n ret\n");
#endif

/* ---- thread-local variables: the first use in a thread allocates, as dyld's does ---- */

typedef struct variable {
  void* (*get)(struct variable*);
  uint64_t key, offset;
} variable_t;

static struct {
  const void* start;
  size_t bytes;
} variables[KEYS];

static void variables_free(void* p) { INSIDE(s_free)(p); }

__attribute__((used)) void* variable_address(variable_t* variable) {
  uint8_t* mine = s_pthread_getspecific(variable->key);
  if (mine == NULL) {
    mine = INSIDE(s_malloc)(variables[variable->key].bytes);
    memcpy(mine, variables[variable->key].start, variables[variable->key].bytes);
    s_pthread_setspecific(variable->key, mine);
  }
  return mine + variable->offset;
}

/* It changes no register but that of its result. */
void* variable_get(variable_t* variable);
#ifdef __x86_64__
__asm__(
    "variable_get:\n push %rbp\n mov %rsp,%rbp\n push %rcx\n push %rdx\n push %rsi\n push %rdi\n"
    " push %r8\n push %r9\n push %r10\n push %r11\n sub $576,%rsp\n and $-64,%rsp\n fxsave (%rsp)\n"
    " call variable_address\n fxrstor (%rsp)\n lea -64(%rbp),%rsp\n pop %r11\n pop %r10\n pop %r9\n"
    " pop %r8\n pop %rdi\n pop %rsi\n pop %rdx\n pop %rcx\n pop %rbp\n ret\n");
#else
__asm__(
    "variable_get:\n stp x29,x30,[sp,-16]!\n mov x29,sp\n stp x1,x2,[sp,-16]!\n"
    " stp x3,x4,[sp,-16]!\n stp x5,x6,[sp,-16]!\n stp x7,x8,[sp,-16]!\n stp x9,x10,[sp,-16]!\n"
    " stp x11,x12,[sp,-16]!\n stp x13,x14,[sp,-16]!\n stp x15,x16,[sp,-16]!\n"
    " stp x17,x18,[sp,-16]!\n stp q0,q1,[sp,-32]!\n stp q2,q3,[sp,-32]!\n stp q4,q5,[sp,-32]!\n"
    " stp q6,q7,[sp,-32]!\n bl variable_address\n ldp q6,q7,[sp],32\n ldp q4,q5,[sp],32\n"
    " ldp q2,q3,[sp],32\n ldp q0,q1,[sp],32\n ldp x17,x18,[sp],16\n ldp x15,x16,[sp],16\n"
    " ldp x13,x14,[sp],16\n ldp x11,x12,[sp],16\n ldp x9,x10,[sp],16\n ldp x7,x8,[sp],16\n"
    " ldp x5,x6,[sp],16\n ldp x3,x4,[sp],16\n ldp x1,x2,[sp],16\n ldp x29,x30,[sp],16\n ret\n");
#endif

void system_add_variables(void* descriptors, size_t count, const void* start, size_t bytes) {
  variable_t* variable = descriptors;
  uint64_t key = 0;
  if (count == 0) { return; }
  s_pthread_key_create(&key, variables_free);
  variables[key].start = start;
  variables[key].bytes = bytes;
  for (size_t i = 0; i < count; i++) { variable[i].key = key; }
}

/* What C++ has for the destructors of thread-local objects: they run with the variables' keys. */
typedef struct at_end {
  void (*run)(void*);
  void* object;
  struct at_end* next;
} at_end_t;
static uint64_t at_end_key;

static void run_at_end(void* list) {
  for (at_end_t *at = list, *next = NULL; at != NULL; at = next) {
    next = at->next;
    at->run(at->object);
    INSIDE(s_free)(at);
  }
}

static void s_tlv_atexit(void (*run)(void*), void* object) {
  at_end_t* at = INSIDE(s_malloc)(sizeof(*at));
  *at = (at_end_t){run, object, s_pthread_getspecific(at_end_key)};
  s_pthread_setspecific(at_end_key, at);
}

/* ---- signals: a page that is there but inaccessible is a SIGBUS, one that is not, SIGSEGV ---- */

enum { BUS = 10, SEGV = 11, SIGNALS = 32, ON_OWN_STACK = 1, WITH_INFO = 0x40 };
typedef struct action {
  void* handler;
  uint32_t mask;
  int32_t flags;
} action_t;
static action_t actions[SIGNALS];
static bool guards_are_segv; /* with MACHORUN_SEGV=1: the inaccessible page too */

static int signal_here(int number) {
  static const struct {
    int theirs, ours;
  } others[] = {{10, SIGBUS}, {12, SIGSYS}, {20, SIGCHLD}, {30, SIGUSR1}, {31, SIGUSR2}};
  for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
    if (others[i].theirs == number) { return others[i].ours; }
  }
  return number;
}

typedef struct info {
  int32_t number, error, code, process, user, status;
  void* address;
  uint64_t rest[10];
} info_t;

#ifdef __x86_64__
typedef struct registers {
  uint16_t trap, processor;
  uint32_t error;
  uint64_t address, a, b, c, d, di, si, bp, sp, r[8], ip, flags, rest[70];
} registers_t;
static void registers_from(registers_t* out, const ucontext_t* at, bool is_fault) {
  (void)is_fault;
  const greg_t* g = at->uc_mcontext.gregs;
  out->trap = (uint16_t)g[REG_TRAPNO], out->error = (uint32_t)g[REG_ERR];
  out->bp = (uint64_t)g[REG_RBP], out->sp = (uint64_t)g[REG_RSP], out->ip = (uint64_t)g[REG_RIP];
}
#else
typedef struct registers {
  uint64_t address;
  uint32_t syndrome, exception;
  uint64_t x[29], fp, lr, sp, pc, rest[70];
} registers_t;
/* Stores, and what loads and stores at once. */
static bool is_store(uint32_t code) {
  const bool is_single = (code >> 27 & 7) == 7; /* else pairs and others, whose bit 22 says it */
  const bool is_atomic =
      is_single && (code >> 24 & 1) == 0 && (code >> 21 & 1) == 1 && (code >> 10 & 3) == 0;
  const bool is_whole = is_single && (code >> 26 & 1) == 0; /* bit 23: a load with a sign */
  return is_atomic || (code >> 22 & (is_whole ? 3 : 1)) == 0;
}

/* Linux says it in a record of the context; not every emulator does. */
static uint32_t syndrome_of(const ucontext_t* at) {
  enum { DATA_ABORT = 0x24, CLASS_SHIFT = 26, BY_WRITE = 1 << 6 };
  const struct _aarch64_ctx* record = (const void*)at->uc_mcontext.__reserved;
  for (; record->magic != 0; record = (const void*)((const uint8_t*)record + record->size)) {
    if (record->magic == ESR_MAGIC) { return (uint32_t)((const struct esr_context*)record)->esr; }
  }
  const uint32_t by_write = is_store(*(const uint32_t*)at->uc_mcontext.pc) ? BY_WRITE : 0;
  return (uint32_t)DATA_ABORT << CLASS_SHIFT | by_write;
}

static void registers_from(registers_t* out, const ucontext_t* at, bool is_fault) {
  out->syndrome = is_fault ? syndrome_of(at) : 0;
  out->fp = at->uc_mcontext.regs[29], out->sp = at->uc_mcontext.sp, out->pc = at->uc_mcontext.pc;
}
#endif

typedef struct context {
  int32_t on_stack;
  uint32_t mask;
  uint64_t stack[3];
  void* link;
  uint64_t bytes;
  registers_t* registers;
} context_t;

static void on_signal(int ours, siginfo_t* from, void* at) {
  const bool is_fault = (ours == SIGSEGV || ours == SIGBUS) && from->si_code > 0;
  int number = ours == SIGCHLD ? 20 : ours == SIGUSR1 ? 30 : ours == SIGUSR2 ? 31 : ours;
  if (ours == SIGBUS) { number = BUS; }
  if (is_fault && from->si_code != SEGV_MAPERR && !guards_are_segv) { number = BUS; }
  const action_t action = actions[number];
  registers_t registers = {0};
  registers_from(&registers, at, is_fault);
  info_t info = {.number = number, .code = from->si_code, .address = from->si_addr};
  context_t context = {.bytes = sizeof(registers), .registers = &registers};
  if (action.handler == NULL) {
    signal(ours, SIG_DFL);
    if (!is_fault) { raise(ours); } /* else the access is repeated */
  } else if ((action.flags & WITH_INFO) != 0) {
    ((void (*)(int, info_t*, context_t*))action.handler)(number, &info, &context);
  } else if (action.handler != (void*)1) {
    ((void (*)(int))action.handler)(number);
  }
}

static int s_sigaction(int number, const action_t* next, action_t* before) {
  if (number < 0 || number >= SIGNALS) { return -1; }
  if (before != NULL) { *before = actions[number]; }
  if (next == NULL) { return 0; }
  actions[number] = *next;
  const bool is_fault = number == BUS || number == SEGV;
  struct sigaction ours = {.sa_sigaction = on_signal};
  ours.sa_flags = SA_SIGINFO | SA_NODEFER | ((next->flags & ON_OWN_STACK) != 0 ? SA_ONSTACK : 0);
  if (next->handler == NULL && !(is_fault && actions[BUS + SEGV - number].handler != NULL)) {
    ours.sa_handler = SIG_DFL;
    ours.sa_flags = 0;
  }
  if (is_fault) { sigaction(number == BUS ? SIGSEGV : SIGBUS, &ours, NULL); }
  return sigaction(signal_here(number), &ours, NULL);
}

static void* s_signal(int number, void* handler) {
  action_t before, next = {.handler = handler};
  return s_sigaction(number, &next, &before) == 0 ? before.handler : (void*)-1;
}

static int s_raise(int number) { return raise(signal_here(number)); }
static int s_kill(int process, int number) { return kill(process, signal_here(number)); }

/* ---- functions with any number of arguments: on arm64 these are all on the stack ---- */

#ifdef __x86_64__
static int s_open(const char* path, int flags, int mode) { return do_open(path, flags, mode); }
static int s_fcntl(int file, int what, long argument) { return do_fcntl(file, what, argument); }
#define VARIADIC_ENTRIES ENTRY(open), ENTRY(fcntl),
#else
#include <stdarg.h>

/* The place of the arguments becomes the eighth one, of a function that takes it so. */
#define ON_STACK(name) \
  void v_##name(void); \
  __asm__("v_" #name ": mov x7, sp\n b h_" #name "\n");
#define REST        uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g
#define UNUSED_REST (void)c, (void)d, (void)e, (void)f, (void)g

static va_list list_at(void* stack) {
  va_list list;
  memset(&list, 0, sizeof(list));
  list.__stack = stack;
  return list;
}

/* Forms with an argument's list have the place of the arguments for it. */
static int s_vfprintf(FILE* file, const char* form, void* at) {
  return vfprintf(file, form, list_at(at));
}
static int s_vsnprintf(char* out, size_t most, const char* form, void* at) {
  return vsnprintf(out, most, form, list_at(at));
}
static int s_vsnprintf_chk(char* out, size_t most, int flags, size_t room, const char* form,
                           void* at) {
  (void)flags, (void)room;
  return vsnprintf(out, most, form, list_at(at));
}

__attribute__((used)) static int h_printf(const char* form, uint64_t b, REST, void* at) {
  (void)b, UNUSED_REST;
  return vprintf(form, list_at(at));
}
__attribute__((used)) static int h_fprintf(FILE* file, const char* form, REST, void* at) {
  UNUSED_REST;
  return vfprintf(file, form, list_at(at));
}
__attribute__((used)) static int h_asprintf(char** out, const char* form, REST, void* at) {
  UNUSED_REST;
  return vasprintf(out, form, list_at(at));
}
__attribute__((used)) static int h_sscanf(const char* text, const char* form, REST, void* at) {
  UNUSED_REST;
  return vsscanf(text, form, list_at(at));
}
__attribute__((used)) static int h_fscanf(FILE* file, const char* form, REST, void* at) {
  UNUSED_REST;
  return vfscanf(file, form, list_at(at));
}
__attribute__((used)) static int h_sprintf(char* out, const char* form, REST, void* at) {
  UNUSED_REST;
  return vsprintf(out, form, list_at(at));
}
__attribute__((used)) static int h_snprintf(char* out, size_t most, const char* form, uint64_t d,
                                            uint64_t e, uint64_t f, uint64_t g, void* at) {
  (void)d, (void)e, (void)f, (void)g;
  return vsnprintf(out, most, form, list_at(at));
}
__attribute__((used)) static int h_sprintf_chk(char* out, int flags, size_t room, const char* form,
                                               uint64_t e, uint64_t f, uint64_t g, void* at) {
  (void)flags, (void)room, (void)e, (void)f, (void)g;
  return vsprintf(out, form, list_at(at));
}
__attribute__((used)) static int h_snprintf_chk(char* out, size_t most, int flags, size_t room,
                                                const char* form, uint64_t f, uint64_t g,
                                                void* at) {
  (void)flags, (void)room, (void)f, (void)g;
  return vsnprintf(out, most, form, list_at(at));
}
__attribute__((used)) static int h_open(const char* path, int flags, REST, const int* at) {
  UNUSED_REST;
  return do_open(path, flags, (flags & 0x200) != 0 ? *at : 0);
}
__attribute__((used)) static int h_fcntl(int file, int what, REST, const long* at) {
  UNUSED_REST;
  return do_fcntl(file, what, *at);
}
ON_STACK(printf)
ON_STACK(fprintf)
ON_STACK(asprintf)
ON_STACK(sscanf)
ON_STACK(fscanf)
ON_STACK(sprintf)
ON_STACK(snprintf)
ON_STACK(sprintf_chk)
ON_STACK(snprintf_chk)
ON_STACK(open)
ON_STACK(fcntl)
#define AT(name)    {"_" #name, (void*)v_##name}
#define VARIADIC_ENTRIES                                                                    \
  AT(printf), AT(fprintf), AT(asprintf), AT(sscanf), AT(fscanf), AT(sprintf), AT(snprintf), \
      AT(open), AT(fcntl), ENTRY(vfprintf), ENTRY(vsnprintf),                               \
      {"___sprintf_chk", (void*)v_sprintf_chk}, {"___snprintf_chk", (void*)v_snprintf_chk}, \
      {"___vsnprintf_chk", (void*)s_vsnprintf_chk},
#endif

/* ---- the table ---- */

static uint32_t mach_task_self_ = TASK_SELF;
static FILE *standard_in, *standard_out, *standard_error;
static uint64_t page_bytes, stack_guard = UINT64_C(0x5bd1e995c6a4a700);

static int* s_error(void) { return &errno; }
static char*** s_environment(void) { return &environ; }
static void s_bzero(void* p, size_t n) { memset(p, 0, n); }
static int s_issetugid(void) { return 0; }
static const char* s_getprogname(void) { return program_invocation_short_name; }
static void s_memset_pattern16(uint8_t* p, const uint8_t* pattern, size_t n) {
  for (size_t i = 0; i < n; i++) { p[i] = pattern[i & 15]; }
}
static void* s_dlsym(void* handle, const char* name) {
  return interposed(module_symbol(handle, name), NULL);
}
static int s_dladdr(const void* address, Dl_info* out) {
  void* start = NULL;
  const char* path = module_path(address, &start);
  if (path == NULL) { return dladdr(address, out); }
  *out = (Dl_info){.dli_fname = path, .dli_fbase = start};
  return 1;
}
static int s_cxa_atexit(void (*run)(void*), void* argument, void* module) {
  extern int __cxa_atexit(void (*)(void*), void*, void*);
  (void)module;
  return __cxa_atexit(run, argument, NULL);
}
/* glibc has them since 2.38. */
static size_t s_strlcpy(char* to, const char* from, size_t room) {
  const size_t length = strlen(from);
  if (room > 0) { snprintf(to, room, "%s", from); }
  return length;
}
static size_t s_strlcat(char* to, const char* from, size_t room) {
  const size_t before = strnlen(to, room);
  return before + s_strlcpy(to + before, from, room - before);
}
/* It has two processors, whatever is asked. */
static int s_sysctlbyname(const char* name, void* out, size_t* bytes, void* in, size_t in_bytes) {
  (void)name, (void)in, (void)in_bytes;
  memcpy(out, &(int){2}, *bytes < sizeof(int) ? *bytes : sizeof(int));
  return 0;
}
static int s_atexit(void (*run)(void)) { return atexit(run); }
/* By frame pointers, which all code there has; glibc's would load a library for it. */
static int s_backtrace(void** frames, int most) {
  void** frame = __builtin_frame_address(0);
  int count = 0;
  while (count < most && frame != NULL && frame[1] != NULL) {
    frames[count++] = frame[1];
    void** const next = frame[0];
    frame = next > frame && next < frame + (1 << 17) ? next : NULL;
  }
  return count;
}
static int machorun_offered(void) { return reusable_calls; }
static int machorun_reused(void) { return reuse_calls; }
static int machorun_tag(void) { return memory_tag; }
static size_t machorun_own_blocks(void) {
  size_t count = 0;
  for (size_t i = 0; i < OWN_BLOCKS; i++) { count += own_blocks[i] != 0; }
  return count;
}

typedef struct entry {
  const char* name;
  void* value;
} entry_t;

#define ENTRY(name) {"_" #name, (void*)s_##name}
static const entry_t typed[] = {
    {"_malloc_type_malloc", s_type_malloc},
    {"_malloc_type_calloc", s_type_calloc},
    {"_malloc_type_realloc", s_type_realloc},
    {"_malloc_type_free", s_type_free},
    {"_malloc_type_valloc", s_type_valloc},
    {"_malloc_type_aligned_alloc", s_type_aligned_alloc},
    {"_malloc_type_posix_memalign", s_type_posix_memalign},
    {"_malloc_type_zone_malloc", s_type_zone_malloc},
    {"_malloc_type_zone_calloc", s_type_zone_calloc},
    {"_malloc_type_zone_realloc", s_type_zone_realloc},
    {"_malloc_type_zone_memalign", s_type_zone_memalign},
    {"_malloc_type_zone_free", s_type_zone_free},
};
static const entry_t entries[] = {ENTRY(malloc),
                                  ENTRY(calloc),
                                  ENTRY(realloc),
                                  ENTRY(reallocf),
                                  ENTRY(free),
                                  ENTRY(valloc),
                                  ENTRY(aligned_alloc),
                                  ENTRY(posix_memalign),
                                  ENTRY(malloc_size),
                                  ENTRY(malloc_good_size),
                                  ENTRY(malloc_zone_register),
                                  ENTRY(malloc_zone_unregister),
                                  ENTRY(malloc_zone_from_ptr),
                                  ENTRY(malloc_zone_malloc),
                                  ENTRY(malloc_zone_calloc),
                                  ENTRY(malloc_zone_valloc),
                                  ENTRY(malloc_zone_memalign),
                                  ENTRY(malloc_zone_realloc),
                                  ENTRY(malloc_zone_free),
                                  ENTRY(malloc_get_all_zones),
                                  ENTRY(malloc_default_zone),
                                  ENTRY(malloc_default_purgeable_zone),
                                  ENTRY(pthread_create),
                                  ENTRY(pthread_key_create),
                                  ENTRY(pthread_key_delete),
                                  ENTRY(pthread_setspecific),
                                  ENTRY(pthread_getspecific),
                                  ENTRY(pthread_is_threaded_np),
                                  ENTRY(pthread_threadid_np),
                                  ENTRY(pthread_get_stackaddr_np),
                                  ENTRY(pthread_get_stacksize_np),
                                  ENTRY(pthread_mutex_init),
                                  ENTRY(pthread_mutex_lock),
                                  ENTRY(pthread_mutex_trylock),
                                  ENTRY(pthread_mutex_unlock),
                                  ENTRY(pthread_mutex_destroy),
                                  ENTRY(pthread_rwlock_rdlock),
                                  ENTRY(pthread_rwlock_wrlock),
                                  ENTRY(pthread_rwlock_unlock),
                                  ENTRY(pthread_attr_init),
                                  ENTRY(pthread_attr_destroy),
                                  ENTRY(pthread_attr_setstack),
                                  ENTRY(pthread_attr_setstacksize),
                                  ENTRY(pthread_attr_setdetachstate),
                                  ENTRY(pthread_once),
                                  ENTRY(pthread_cond_init),
                                  ENTRY(pthread_cond_wait),
                                  ENTRY(pthread_cond_timedwait_relative_np),
                                  ENTRY(pthread_cond_broadcast),
                                  ENTRY(pthread_atfork),
                                  {"_pthread_cond_signal", (void*)s_pthread_cond_broadcast},
                                  {"_pthread_cond_destroy", (void*)s_zero},
                                  {"_pthread_setcancelstate", (void*)s_zero},
                                  {"_pthread_mutexattr_init", (void*)s_zero},
                                  {"_pthread_mutexattr_destroy", (void*)s_zero},
                                  ENTRY(os_unfair_lock_lock),
                                  ENTRY(os_unfair_lock_unlock),
                                  ENTRY(fork),
                                  ENTRY(mmap),
                                  ENTRY(madvise),
                                  ENTRY(sysconf),
                                  ENTRY(getrlimit),
                                  ENTRY(getrusage),
                                  ENTRY(task_info),
                                  ENTRY(task_for_pid),
                                  ENTRY(vm_read_overwrite),
                                  ENTRY(getentropy),
                                  ENTRY(stat),
                                  ENTRY(lstat),
                                  ENTRY(fstat),
                                  ENTRY(clock_gettime),
                                  ENTRY(sigaction),
                                  ENTRY(signal),
                                  ENTRY(raise),
                                  ENTRY(kill),
                                  ENTRY(setjmp),
                                  ENTRY(longjmp),
                                  {"__setjmp", (void*)s_setjmp},
                                  {"__longjmp", (void*)s_longjmp},
                                  {"_sigsetjmp", (void*)s_setjmp},
                                  {"_siglongjmp", (void*)s_longjmp},
                                  {"__tlv_atexit", (void*)s_tlv_atexit},
                                  ENTRY(issetugid),
                                  ENTRY(atexit),
                                  {"_srandomdev", (void*)s_zero},
                                  {"_malloc_create_zone", (void*)s_zero},
                                  {"_malloc_set_zone_name", (void*)s_zero},
                                  ENTRY(strlcpy),
                                  ENTRY(strlcat),
                                  ENTRY(sysctlbyname),
                                  ENTRY(backtrace),
                                  ENTRY(getprogname),
                                  ENTRY(memset_pattern16),
                                  ENTRY(dlsym),
                                  ENTRY(dladdr),
                                  {"_dlopen", (void*)module_open},
                                  {"_dlclose", (void*)module_close},
                                  {"___bzero", (void*)s_bzero},
                                  {"_bzero", (void*)s_bzero},
                                  {"___error", (void*)s_error},
                                  {"__NSGetEnviron", (void*)s_environment},
                                  {"___cxa_atexit", (void*)s_cxa_atexit},
                                  {"___maskrune", (void*)s_maskrune},
                                  {"___tolower", (void*)s_tolower},
                                  {"___toupper", (void*)s_toupper},
                                  {"_tolower", (void*)s_tolower},
                                  {"_toupper", (void*)s_toupper},
                                  {"__DefaultRuneLocale", &characters},
                                  {"_mach_task_self_", &mach_task_self_},
                                  {"___stdinp", &standard_in},
                                  {"___stdoutp", &standard_out},
                                  {"___stderrp", &standard_error},
                                  {"_vm_page_size", &page_bytes},
                                  {"___stack_chk_guard", &stack_guard},
                                  {"dyld_stub_binder", (void*)s_zero},
                                  {"__tlv_bootstrap", (void*)variable_get},
                                  {"_machorun_offered", (void*)machorun_offered},
                                  {"_machorun_reused", (void*)machorun_reused},
                                  {"_machorun_tag", (void*)machorun_tag},
                                  {"_machorun_own_blocks", (void*)machorun_own_blocks},
                                  VARIADIC_ENTRIES};

static void* entry_in(const entry_t* list, size_t count, const char* name, size_t length) {
  for (size_t i = 0; i < count; i++) {
    if (strncmp(list[i].name, name, length) == 0 && list[i].name[length] == 0) {
      return list[i].value;
    }
  }
  return NULL;
}

/* What follows a dollar sign is a variant of the same. */
void* system_symbol(const char* name) {
  char text[256];
  const size_t length = strcspn(name, "$");
  void* found = entry_in(entries, sizeof(entries) / sizeof(entries[0]), name, length);
  if (found == NULL && getenv("MACHORUN_UNTYPED") == NULL) { /* macOS before 14 has them not */
    found = entry_in(typed, sizeof(typed) / sizeof(typed[0]), name, length);
  }
  if (found != NULL || name[0] != '_' || strncmp(name, "_malloc_type", 12) == 0) { return found; }
  snprintf(text, sizeof(text), "%.*s", (int)length - 1, name + 1);
  return dlsym(RTLD_DEFAULT, text);
}

void system_start(void) {
  standard_in = stdin, standard_out = stdout, standard_error = stderr;
  page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
  guards_are_segv = getenv("MACHORUN_SEGV") != NULL;
  inside_is_bound = getenv("MACHORUN_INSIDE") != NULL;
  keys_apart = getenv("MACHORUN_KEYS_APART") == NULL ? 0 : APART;
  characters_start();
  s_pthread_key_create(&at_end_key, run_at_end);
  pthread_key_create(&end_key, thread_end);
  thread_begin();
}
