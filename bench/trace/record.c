// bench: library, records what a program allocates: LD_PRELOAD it, with MI_TRACE_FILE=FILE
// The calls go on to the next allocator: the system's, or one preloaded after this one. %p in FILE
// becomes the process id. A file that exists is left alone, so only the first process of several
// records; with %p each does, from its exec on. A forked child does not record.
//
// Each thread writes operations into a buffer of its own, mapped and not allocated, which goes to
// the file by one write when it is full, when the thread ends, and when the process does. Every
// operation has a number from one counter: taken after the block is had, and before it is given
// back, so that in the order of the numbers no address is had twice. The file is opened for each
// write and closed again: the program never sees a descriptor that it did not open.
//
// A state's lock is held across the call and its record. It is contended only when the process
// ends, or when a thread that has ended already frees something, which the first thread records.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "trace.h"

#define EXPORT __attribute__((visibility("default")))
// Not from a lazily allocated area: access must not call malloc.
#define THREAD_LOCAL static __thread __attribute__((tls_model("initial-exec")))

enum { BUFFER_BYTES = 32768, BOOTSTRAP_BYTES = 65536, PATH_BYTES = 4096, LAST_ROUND = 3 };

typedef struct state {
  atomic_flag lock;
  uint32_t thread;
  uint32_t operations;   // of the chunk, as the rest
  uint64_t first, last;  // numbers
  uint64_t address;      // last one
  size_t used;
  int round;  // of the thread's destructors
  struct state *next, *previous;
  uint8_t buffer[BUFFER_BYTES];
} state_t;

static struct {
  void* (*malloc)(size_t size);
  void* (*calloc)(size_t count, size_t size);
  void* (*realloc)(void* p, size_t size);
  void (*free)(void* p);
  int (*posix_memalign)(void** p, size_t alignment, size_t size);
  void* (*memalign)(size_t alignment, size_t size);
  void* (*aligned_alloc)(size_t alignment, size_t size);
} next;

static char path[PATH_BYTES];
static pid_t owner;
static atomic_bool recording;
static atomic_uint_fast64_t numbers;
static atomic_uint threads;
static pthread_key_t key;
static pthread_mutex_t states_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t file_mutex = PTHREAD_MUTEX_INITIALIZER;
static state_t* states;
static state_t* first_state;

THREAD_LOCAL state_t* own;
THREAD_LOCAL bool busy;   // inside this file: calls from here on are not the program's
THREAD_LOCAL bool ended;  // what follows is recorded by the first thread

static void say(const char* text) {
  if (syscall(SYS_write, STDERR_FILENO, text, strlen(text)) < 0) { return; }
}

// ---- The file -----------------------------------------------------------------------------------

// System calls by number: the functions are points where a thread may be cancelled.
static bool write_all(const uint8_t* from, size_t bytes) {
  const long fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CLOEXEC);
  bool written = fd >= 0;
  while (written && bytes > 0) {
    const long n = syscall(SYS_write, fd, from, bytes);
    if (n > 0) {
      from += n;
      bytes -= (size_t)n;
    } else if (n == 0 || errno != EINTR) {
      written = false;
    }
  }
  if (fd >= 0) { syscall(SYS_close, fd); }
  return written;
}

static void write_chunk(const uint8_t* from, size_t bytes) {
  if (getpid() != owner) {  // forked by a bare system call
    atomic_store(&recording, false);
    return;
  }
  const int error = errno;
  pthread_mutex_lock(&file_mutex);
  if (!write_all(from, bytes) && atomic_exchange(&recording, false)) {
    say("mi trace: the trace cannot be written; recording ends\n");
  }
  pthread_mutex_unlock(&file_mutex);
  errno = error;
}

static void put_chunk_header(uint8_t* at, uint32_t thread, size_t bytes, uint32_t operations,
                             uint64_t first) {
  put_fixed(at, CHUNK_MARK, 4);
  put_fixed(at + 4, thread, 4);
  put_fixed(at + 8, bytes, 4);
  put_fixed(at + 12, operations, 4);
  put_fixed(at + 16, first, 8);
  put_fixed(at + 24, 0, 8);
}

static void flush(state_t* s) {
  if (s->operations > 0) {
    put_chunk_header(s->buffer, s->thread, s->used - CHUNK_HEADER_BYTES, s->operations, s->first);
    write_chunk(s->buffer, s->used);
  }
  s->used = CHUNK_HEADER_BYTES;
  s->operations = 0;
  s->address = 0;
}

static bool expand_path(const char* name) {
  size_t used = 0;
  if (name[0] != '/') {
    if (getcwd(path, PATH_BYTES / 2) == NULL) { return false; }
    used = strlen(path);
    path[used++] = '/';
  }
  for (; *name != 0 && used + 24 < PATH_BYTES; name++) {
    if (name[0] == '%' && name[1] == 'p') {
      used += (size_t)snprintf(path + used, 24, "%ld", (long)getpid());
      name++;
    } else {
      path[used++] = *name;
    }
  }
  path[used] = 0;
  return *name == 0;
}

// Of this process, before it started another program: that one is meant.
static bool is_our_file(void) {
  uint8_t header[RECORDING_HEADER_BYTES];
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) { return false; }
  const bool ours = read(fd, header, sizeof header) == (ssize_t)sizeof header &&
                    memcmp(header, RECORDING_MAGIC, MAGIC_BYTES) == 0 &&
                    get_fixed(header + MAGIC_BYTES, 8) == (uint64_t)owner;
  close(fd);
  return ours;
}

static bool create_file(void) {
  int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
  if (fd < 0 && errno == EEXIST) {
    if (!is_our_file()) { return false; }
    fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
  }
  uint8_t header[RECORDING_HEADER_BYTES];
  memcpy(header, RECORDING_MAGIC, MAGIC_BYTES);
  put_fixed(header + MAGIC_BYTES, (uint64_t)owner, 8);
  if (fd < 0 || write(fd, header, sizeof header) != (ssize_t)sizeof header) {
    say("mi trace: MI_TRACE_FILE cannot be written; nothing is recorded\n");
    if (fd >= 0) { close(fd); }
    return false;
  }
  close(fd);
  return true;
}

// ---- States -------------------------------------------------------------------------------------

static void lock(state_t* s) {
  while (atomic_flag_test_and_set_explicit(&s->lock, memory_order_acquire)) { sched_yield(); }
}
static void unlock(state_t* s) { atomic_flag_clear_explicit(&s->lock, memory_order_release); }

static state_t* state_new(void) {
  state_t* s =
      mmap(NULL, sizeof(state_t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (s == MAP_FAILED) { return NULL; }
  s->thread = atomic_fetch_add(&threads, 1);
  s->used = CHUNK_HEADER_BYTES;
  pthread_mutex_lock(&states_mutex);
  s->next = states;
  if (states != NULL) { states->previous = s; }
  states = s;
  if (s->thread == 0) { first_state = s; }
  pthread_mutex_unlock(&states_mutex);
  return s;
}

static void state_free(state_t* s) {
  pthread_mutex_lock(&states_mutex);
  if (s->previous != NULL) {
    s->previous->next = s->next;
  } else {
    states = s->next;
  }
  if (s->next != NULL) { s->next->previous = s->previous; }
  pthread_mutex_unlock(&states_mutex);
  munmap(s, sizeof *s);
}

static state_t* thread_begin(void) {
  if (ended) { return first_state; }
  own = state_new();
  if (own != NULL && own->thread != 0) { pthread_setspecific(key, own); }
  return own;
}

// NULL: this call is not recorded.
static state_t* enter(void) {
  if (busy || !atomic_load_explicit(&recording, memory_order_relaxed)) { return NULL; }
  busy = true;
  state_t* s = own != NULL ? own : thread_begin();
  if (s != NULL) {
    lock(s);
    if (atomic_load(&recording)) { return s; }
    unlock(s);
  }
  busy = false;
  return NULL;
}

static void leave(state_t* s) {
  unlock(s);
  busy = false;
}

// ---- Operations ---------------------------------------------------------------------------------

static uint8_t* begin_operation(state_t* s, unsigned operation) {
  if (s->used + OP_BYTES_MAX > BUFFER_BYTES) { flush(s); }
  const uint64_t number = atomic_fetch_add(&numbers, 1);
  if (s->operations++ == 0) { s->first = s->last = number; }
  uint8_t* at = put_varint(s->buffer + s->used, (number - s->last) << 3 | operation);
  s->last = number;
  return at;
}

static uint8_t* put_address(state_t* s, uint8_t* at, const void* p) {
  const uint64_t address = (uintptr_t)p;
  at = put_varint(at, zigzag(address - s->address));
  s->address = address;
  return at;
}

static void end_operation(state_t* s, const uint8_t* at) { s->used = (size_t)(at - s->buffer); }

static void note_block(state_t* s, unsigned operation, const void* p, size_t size) {
  if (s == NULL) { return; }
  if (p != NULL) {
    uint8_t* at = put_varint(begin_operation(s, operation), size);
    end_operation(s, put_address(s, at, p));
  }
  leave(s);
}

static void note_aligned(state_t* s, const void* p, size_t size, size_t alignment) {
  if (s == NULL) { return; }
  if (p != NULL) {
    unsigned log2 = 0;
    while (((size_t)1 << log2) < alignment && log2 < ALIGN_LOG2_MAX) { log2++; }
    uint8_t* at = put_varint(begin_operation(s, OP_ALIGNED), size);
    at = put_varint(at, log2);
    end_operation(s, put_address(s, at, p));
  }
  leave(s);
}

static void note_address(state_t* s, unsigned operation, const void* p) {
  end_operation(s, put_address(s, begin_operation(s, operation), p));
}

// Not in the first rounds of destructors: other destructors free as well.
static void thread_end(void* value) {
  state_t* s = value;
  busy = true;
  if (s->round++ < LAST_ROUND) {
    pthread_setspecific(key, s);
  } else {
    lock(s);
    if (atomic_load(&recording)) {
      end_operation(s, begin_operation(s, OP_THREAD_END));
      flush(s);
    }
    unlock(s);
    own = NULL;
    ended = true;
    state_free(s);
  }
  busy = false;
}

// ---- Start and end ------------------------------------------------------------------------------

static void stop_in_child(void) { atomic_store(&recording, false); }

// As soon as there is an environment, which is before the first constructor but not before the
// loader's first blocks.
static void begin_once(void) {
  static bool begun;
  if (begun || environ == NULL) { return; }
  begun = true;
  busy = true;
  const char* name = getenv("MI_TRACE_FILE");
  owner = getpid();
  if (name != NULL && name[0] != 0 && expand_path(name) && create_file() &&
      pthread_key_create(&key, thread_end) == 0) {
    pthread_atfork(NULL, NULL, stop_in_child);
    atomic_store(&recording, true);
  }
  busy = false;
}

static void finish(void) {
  if (getpid() != owner || !atomic_exchange(&recording, false)) { return; }
  busy = true;
  pthread_mutex_lock(&states_mutex);
  for (state_t* s = states; s != NULL; s = s->next) {
    lock(s);
    flush(s);
    unlock(s);
  }
  pthread_mutex_unlock(&states_mutex);
  uint8_t end[CHUNK_HEADER_BYTES];
  put_chunk_header(end, END_THREAD, 0, 0, atomic_load(&numbers));
  write_chunk(end, sizeof end);
  busy = false;
}

__attribute__((constructor)) static void library_begin(void) { begin_once(); }
__attribute__((destructor)) static void library_end(void) { finish(); }

EXPORT _Noreturn void _exit(int status) {
  finish();
  for (;;) { syscall(SYS_exit_group, status); }
}
EXPORT _Noreturn void _Exit(int status) { _exit(status); }

// ---- The next allocator -------------------------------------------------------------------------

// dlsym may allocate before it has found anything.
static _Alignas(16) char bootstrap[BOOTSTRAP_BYTES];
static size_t bootstrap_used;

static bool in_bootstrap(const void* p) {
  return (uintptr_t)p - (uintptr_t)bootstrap < BOOTSTRAP_BYTES;
}

static void* bootstrap_take(size_t size) {
  if (size > BOOTSTRAP_BYTES - bootstrap_used - 16) { return NULL; }
  void* p = bootstrap + bootstrap_used;
  bootstrap_used += (size + 15) & ~(size_t)15;
  return p;
}

static void find(const char* name, void* function) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == NULL) {
    say("mi trace: the next allocator lacks a function\n");
    syscall(SYS_exit_group, 127);
  }
  memcpy(function, &found, sizeof found);
}

static bool ready(void) {
  static atomic_int phase;  // 0; 1: finding the functions; 2
  if (atomic_load_explicit(&phase, memory_order_acquire) == 2) { return true; }
  if (atomic_exchange(&phase, 1) != 0) { return false; }
  find("malloc", &next.malloc);
  find("calloc", &next.calloc);
  find("realloc", &next.realloc);
  find("free", &next.free);
  find("posix_memalign", &next.posix_memalign);
  find("memalign", &next.memalign);
  find("aligned_alloc", &next.aligned_alloc);
  atomic_store(&phase, 2);
  begin_once();
  return true;
}

// ---- What is replaced ---------------------------------------------------------------------------

EXPORT void* malloc(size_t size) {
  if (!ready()) { return bootstrap_take(size); }
  state_t* s = enter();
  void* p = next.malloc(size);
  note_block(s, OP_MALLOC, p, size);
  return p;
}

EXPORT void* calloc(size_t count, size_t size) {
  if (!ready()) { return bootstrap_take(count * size); }
  state_t* s = enter();
  void* p = next.calloc(count, size);
  note_block(s, OP_CALLOC, p, count * size);  // a block was had: this does not overflow
  return p;
}

EXPORT void free(void* p) {
  if (p == NULL || in_bootstrap(p) || !ready()) { return; }
  state_t* s = enter();
  if (s != NULL) { note_address(s, OP_FREE, p); }
  next.free(p);
  if (s != NULL) { leave(s); }
}

static void* move_from_bootstrap(const void* p, size_t size) {
  void* moved = malloc(size);
  const size_t rest = BOOTSTRAP_BYTES - (size_t)((const char*)p - bootstrap);
  if (moved != NULL) { memcpy(moved, p, size < rest ? size : rest); }
  return moved;
}

EXPORT void* realloc(void* p, size_t size) {
  if (p == NULL) { return malloc(size); }
  if (in_bootstrap(p)) { return move_from_bootstrap(p, size); }
  if (!ready()) { return NULL; }
  state_t* s = enter();
  if (s != NULL) { note_address(s, OP_REALLOC_BEGIN, p); }
  void* moved = next.realloc(p, size);
  if (s != NULL) {
    uint8_t* at = put_varint(begin_operation(s, OP_REALLOC_END), size);
    end_operation(s, put_address(s, at, moved));
    leave(s);
  }
  return moved;
}

EXPORT void* reallocarray(void* p, size_t count, size_t size) {
  size_t total;
  if (__builtin_mul_overflow(count, size, &total)) {
    errno = ENOMEM;
    return NULL;
  }
  return realloc(p, total);
}

EXPORT int posix_memalign(void** p, size_t alignment, size_t size) {
  if (!ready()) { return ENOMEM; }
  state_t* s = enter();
  const int error = next.posix_memalign(p, alignment, size);
  note_aligned(s, error == 0 ? *p : NULL, size, alignment);
  return error;
}

EXPORT void* memalign(size_t alignment, size_t size) {
  if (!ready()) { return NULL; }
  state_t* s = enter();
  void* p = next.memalign(alignment, size);
  note_aligned(s, p, size, alignment);
  return p;
}

EXPORT void* aligned_alloc(size_t alignment, size_t size) {
  if (!ready()) { return NULL; }
  state_t* s = enter();
  void* p = next.aligned_alloc(alignment, size);
  note_aligned(s, p, size, alignment);
  return p;
}

static size_t page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

EXPORT void* valloc(size_t size) { return memalign(page_bytes(), size); }

EXPORT void* pvalloc(size_t size) {
  const size_t page = page_bytes();
  return size > SIZE_MAX - page ? NULL : memalign(page, (size + page - 1) & ~(page - 1));
}
