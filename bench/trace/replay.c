// bench: trace, replays a trace that `resolve prepare` made, with the allocator it runs on
//   replay [--touch none|first|pages] FILE
// --touch: what is written to each block: nothing, its first bytes, or (default) those and a byte
// of each page. Except with none, the first bytes are compared when the block is given back.
//
// Each recorded thread is a thread; the first is the process's own. Their order is kept loosely, by
// the times of the operations (see resolve.c), called numbers here: a thread may be up to `window`
// ahead of the slowest, and waits for a block that another thread has yet to allocate. The thread
// with the lowest next number never waits, so no circle of waiting threads can come about. A thread
// starts when the others come to its first operation.
//
// Memory of its own, the same with every allocator: 16 bytes per slot, and stacks.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "trace.h"

enum { READ_BYTES = 16384, PUBLISH_EVERY = 64, PAGE_BYTES = 4096 };
#define NEVER UINT64_MAX

typedef struct {
  void* _Atomic block;
  uint64_t size;
} slot_t;

typedef struct {
  uint64_t offset, bytes, first;
  _Atomic uint64_t next;  // number of its next operation, or a lower one; NEVER: it has ended
  uint64_t wanted;        // waits until the lowest number is this one; NEVER: does not
  pthread_cond_t reached;
} thread_t;

typedef struct {
  thread_t* thread;
  uint64_t number;  // of the operation
  uint64_t limit;   // this far without looking at the others
  uint64_t offset;  // of what is to be read
  uint64_t left;
  unsigned unpublished;
  const uint8_t *at, *end;
  uint8_t buffer[READ_BYTES];
} replay_t;

static const char* file_name;
static int file;
static uint64_t window, operations, slot_count, live_peak;
static slot_t* slots;
static thread_t* threads;
static uint64_t thread_count;
static enum { TOUCH_NONE, TOUCH_FIRST, TOUCH_PAGES } touch = TOUCH_PAGES;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_done = PTHREAD_COND_INITIALIZER;
static _Atomic uint64_t lowest_wanted = NEVER;  // of all threads
static uint64_t started;                        // under the mutex, as the rest
static uint64_t running;                        // how many are in:
static thread_t** running_list;                 // any order
static _Atomic uint64_t next_start = NEVER;     // first operation of the next thread to start

_Noreturn static void fail(const char* format, ...) {
  va_list arguments;
  fprintf(stderr, "trace: %s: ", file_name);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  _exit(1);
}

_Noreturn static void fail_bad(void) { fail("damaged"); }

// Mapped: nothing of ours comes from the allocator that is measured.
static void* take_memory(uint64_t count, size_t each) {
  if (count > SIZE_MAX / 2 / each) { fail_bad(); }
  const size_t bytes = (size_t)count * each;
  void* p = mmap(NULL, bytes > 0 ? bytes : 1, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) { fail("no memory for its tables: %s", strerror(errno)); }
  return p;
}

// ---- Reading ------------------------------------------------------------------------------------

static void read_exactly(uint8_t* to, uint64_t bytes, uint64_t offset) {
  while (bytes > 0) {
    const ssize_t n = pread(file, to, (size_t)bytes, (off_t)offset);
    if (n == 0) { fail("cut off"); }
    if (n < 0) { fail("%s", strerror(errno)); }
    to += n;
    bytes -= (uint64_t)n;
    offset += (uint64_t)n;
  }
}

static void open_file(void) {
  struct stat info;
  uint8_t header[PREPARED_HEADER_BYTES];
  file = open(file_name, O_RDONLY | O_CLOEXEC);
  if (file < 0 || fstat(file, &info) != 0) { fail("%s", strerror(errno)); }
  if (info.st_size < PREPARED_HEADER_BYTES) { fail("not a prepared trace: too short"); }
  read_exactly(header, sizeof header, 0);
  if (memcmp(header, RECORDING_MAGIC, MAGIC_BYTES) == 0) { fail("not prepared yet"); }
  if (memcmp(header, PREPARED_MAGIC, MAGIC_BYTES) != 0) { fail("not a prepared trace"); }
  window = get_fixed(header + 8, 8);
  operations = get_fixed(header + 16, 8);
  slot_count = get_fixed(header + 24, 8);
  thread_count = get_fixed(header + 32, 8);
  live_peak = get_fixed(header + 40, 8);
  const uint64_t bytes = (uint64_t)info.st_size;
  if (thread_count > bytes / THREAD_ENTRY_BYTES || slot_count > bytes) { fail("cut off"); }
  slots = take_memory(slot_count, sizeof *slots);
  threads = take_memory(thread_count, sizeof *threads);
  running_list = take_memory(thread_count, sizeof(thread_t*));
  for (uint64_t i = 0; i < thread_count; i++) {
    uint8_t entry[THREAD_ENTRY_BYTES];
    read_exactly(entry, sizeof entry, PREPARED_HEADER_BYTES + i * THREAD_ENTRY_BYTES);
    thread_t* t = &threads[i];
    t->offset = get_fixed(entry, 8);
    t->bytes = get_fixed(entry + 8, 8);
    t->first = get_fixed(entry + 16, 8);
    t->next = t->first;
    t->wanted = NEVER;
    pthread_cond_init(&t->reached, NULL);
    if (t->offset > bytes || t->bytes > bytes - t->offset) { fail("cut off"); }
  }
}

// False: no operation is left. An operation lies in the buffer as a whole.
static bool refill(replay_t* r) {
  const size_t rest = (size_t)(r->end - r->at);
  if (rest >= OP_BYTES_MAX || r->left == 0) { return rest > 0; }
  if (rest > 0) { memmove(r->buffer, r->at, rest); }
  const uint64_t more = r->left < READ_BYTES - rest ? r->left : READ_BYTES - rest;
  read_exactly(r->buffer + rest, more, r->offset);
  r->offset += more;
  r->left -= more;
  r->at = r->buffer;
  r->end = r->buffer + rest + more;
  return true;
}

static uint64_t take_number(replay_t* r) {
  uint64_t value;
  r->at = get_varint(r->at, r->end, &value);
  if (r->at == NULL) { fail_bad(); }
  return value;
}

static slot_t* take_slot(replay_t* r) {
  const uint64_t slot = take_number(r);
  if (slot >= slot_count) { fail_bad(); }
  return &slots[slot];
}

// ---- Order --------------------------------------------------------------------------------------

static uint64_t lowest_number(void) {  // mutex held
  uint64_t lowest = atomic_load(&next_start);
  for (uint64_t i = 0; i < running; i++) {
    const uint64_t number = atomic_load(&running_list[i]->next);
    if (number < lowest) { lowest = number; }
  }
  return lowest;
}

static void wake_if_reached(void) {  // mutex held
  const uint64_t lowest = lowest_number();
  for (uint64_t i = 0; lowest >= atomic_load(&lowest_wanted) && i < running; i++) {
    if (running_list[i]->wanted <= lowest) { pthread_cond_signal(&running_list[i]->reached); }
  }
}

// A number is stored before lowest_wanted is read, and the other way round in wait_until: one of
// the two sees the other. Only who passes the number that is waited for looks further.
static void publish(replay_t* r) {
  const uint64_t before = atomic_exchange(&r->thread->next, r->number);
  const uint64_t wanted = atomic_load(&lowest_wanted);
  r->unpublished = 0;
  if (before < wanted && wanted <= r->number) {
    pthread_mutex_lock(&mutex);
    wake_if_reached();
    pthread_mutex_unlock(&mutex);
  }
}

static void set_wanted(thread_t* t, uint64_t number) {  // mutex held
  uint64_t lowest = t->wanted = number;
  for (uint64_t i = 0; i < running; i++) {
    if (running_list[i]->wanted < lowest) { lowest = running_list[i]->wanted; }
  }
  atomic_store(&lowest_wanted, lowest);
}

// Until the lowest number is that one: all that come before it are done.
static void wait_until(replay_t* r, uint64_t number) {  // mutex held
  set_wanted(r->thread, number);
  while (lowest_number() < number) { pthread_cond_wait(&r->thread->reached, &mutex); }
  set_wanted(r->thread, NEVER);
  wake_if_reached();  // others may have passed the next number while this one hid it
}

static void* run_thread(void* thread);

static void start_next(void) {  // mutex held
  pthread_t id;
  pthread_attr_t attributes;
  thread_t* t = &threads[started++];
  running_list[running++] = t;
  atomic_store(&next_start, started < thread_count ? threads[started].first : NEVER);
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  const int error = pthread_create(&id, &attributes, run_thread, t);
  if (error != 0) { fail("a thread cannot be created: %s", strerror(error)); }
  pthread_attr_destroy(&attributes);
}

// Returns when no thread is more than the window behind. Who has to wait does so until the others
// have made up half of it, not to wait again at once.
static void keep_pace(replay_t* r) {
  publish(r);
  pthread_mutex_lock(&mutex);
  while (r->number >= atomic_load(&next_start)) { start_next(); }
  if (r->number - lowest_number() > window) { wait_until(r, r->number - window / 2); }
  const uint64_t lowest = lowest_number();
  r->limit = lowest > NEVER - window ? NEVER : lowest + window;
  pthread_mutex_unlock(&mutex);
}

// Until all that comes before is done, not just that block: it has then been overtaken by the
// others, and what it needs next is there.
static void* wait_for_block(replay_t* r, slot_t* slot) {
  publish(r);
  pthread_mutex_lock(&mutex);
  wait_until(r, r->number);
  pthread_mutex_unlock(&mutex);
  void* p = atomic_load(&slot->block);
  if (p == NULL) { fail_bad(); }  // nobody is left who could allocate it
  return p;
}

static void thread_done(thread_t* t) {
  pthread_mutex_lock(&mutex);
  atomic_store(&t->next, NEVER);
  for (uint64_t i = 0; i < running; i++) {
    if (running_list[i] == t) { running_list[i] = running_list[--running]; }
  }
  if (running == 0 && started < thread_count) { start_next(); }
  wake_if_reached();
  if (running == 0) { pthread_cond_signal(&all_done); }
  pthread_mutex_unlock(&mutex);
}

// ---- Blocks -------------------------------------------------------------------------------------

static uint64_t mark_of(const slot_t* slot) {
  return (uint64_t)(slot - slots) * 0x9E3779B97F4A7C15u;
}

static void mark(slot_t* slot, void* p) {
  const uint64_t value = mark_of(slot);
  memcpy(p, &value, slot->size < sizeof value ? (size_t)slot->size : sizeof value);
}

static void check_mark(const slot_t* slot, const void* p, uint64_t size) {
  const uint64_t value = mark_of(slot);
  if (touch != TOUCH_NONE && memcmp(p, &value, size < sizeof value ? (size_t)size : sizeof value)) {
    fail("the contents of a block of %llu bytes have changed", (unsigned long long)slot->size);
  }
}

static void put_block(slot_t* slot, void* p, uint64_t size, uint64_t touched) {
  if (p == NULL) { fail("the allocator has no block of %llu bytes", (unsigned long long)size); }
  slot->size = size;
  if (touch == TOUCH_PAGES) {
    for (uint64_t i = touched; i < size; i += PAGE_BYTES) { ((volatile char*)p)[i] = 1; }
  }
  if (touch != TOUCH_NONE) { mark(slot, p); }
  atomic_store_explicit(&slot->block, p, memory_order_release);
}

static void* take_block(replay_t* r, slot_t* slot) {
  void* p = atomic_load_explicit(&slot->block, memory_order_acquire);
  if (p == NULL) { p = wait_for_block(r, slot); }
  atomic_store_explicit(&slot->block, NULL, memory_order_relaxed);
  check_mark(slot, p, slot->size);
  return p;
}

static void replay_aligned(slot_t* slot, uint64_t size, uint64_t log2) {
  void* p = NULL;
  if (log2 > ALIGN_LOG2_MAX) { fail_bad(); }
  size_t alignment = (size_t)1 << log2;
  if (alignment < sizeof(void*)) { alignment = sizeof(void*); }
  if (posix_memalign(&p, alignment, (size_t)size) != 0) { p = NULL; }
  put_block(slot, p, size, 0);
}

static void replay_realloc(replay_t* r, slot_t* old, slot_t* slot, uint64_t size) {
  void* p = take_block(r, old);
  const uint64_t kept = old->size < size ? old->size : size;
  p = realloc(p, (size_t)size);
  if (p != NULL) { check_mark(old, p, kept); }
  put_block(slot, p, size, (kept + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1));
}

static void replay_operation(replay_t* r, unsigned op) {
  if (op == OP_THREAD_END) { return; }
  slot_t* slot = take_slot(r);
  if (op == OP_FREE) {
    free(take_block(r, slot));
    return;
  }
  slot_t* target = op == OP_REALLOC_END ? take_slot(r) : slot;
  const uint64_t size = take_number(r);
  if (size > PTRDIFF_MAX || atomic_load_explicit(&target->block, memory_order_relaxed) != NULL) {
    fail_bad();
  }
  switch (op) {
    case OP_MALLOC: put_block(slot, malloc((size_t)size), size, 0); break;
    case OP_CALLOC: put_block(slot, calloc(1, (size_t)size), size, 0); break;
    case OP_ALIGNED: replay_aligned(slot, size, take_number(r)); break;
    case OP_REALLOC_END: replay_realloc(r, slot, target, size); break;
    default: fail_bad();
  }
}

// ---- Threads ------------------------------------------------------------------------------------

static void* run_thread(void* thread) {
  replay_t r;
  r.thread = thread;
  r.number = r.thread->first;
  r.limit = 0;
  r.offset = r.thread->offset;
  r.left = r.thread->bytes;
  r.unpublished = 0;
  r.at = r.end = r.buffer;
  while (refill(&r)) {
    const uint64_t head = take_number(&r);
    r.number += head >> 3;
    if (r.number >= r.limit || r.number >= next_start) { keep_pace(&r); }
    if (++r.unpublished == PUBLISH_EVERY) { publish(&r); }
    replay_operation(&r, head & 7);
  }
  thread_done(r.thread);
  return NULL;
}

static void wait_for_all(void) {
  pthread_mutex_lock(&mutex);
  while (running > 0) { pthread_cond_wait(&all_done, &mutex); }
  pthread_mutex_unlock(&mutex);
}

static double seconds(const struct timespec* t) {
  return (double)t->tv_sec + 1e-9 * (double)t->tv_nsec;
}

static void print_metrics(const struct timespec* begin) {
  struct timespec end, cpu;
  struct rusage use;
  clock_gettime(CLOCK_MONOTONIC, &end);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
  getrusage(RUSAGE_SELF, &use);
  printf("metric operations %llu\n", (unsigned long long)operations);
  printf("metric threads %llu\n", (unsigned long long)thread_count);
  printf("metric wall_s %.3f\n", seconds(&end) - seconds(begin));
  printf("metric cpu_s %.3f\n", seconds(&cpu));
  printf("metric rss_peak_kib %ld\n", use.ru_maxrss);
  printf("metric live_peak_kib %llu\n", (unsigned long long)(live_peak >> 10));
}

static int usage(void) {
  fprintf(stderr, "usage: replay [--touch none|first|pages] FILE\n");
  return 2;
}

int main(int argc, char** argv) {
  static const char* const TOUCH[] = {"none", "first", "pages"};
  if (argc == 4 && strcmp(argv[1], "--touch") == 0) {
    int i = 0;
    while (i < 3 && strcmp(argv[2], TOUCH[i]) != 0) { i++; }
    if (i == 3) { return usage(); }
    touch = i == 0 ? TOUCH_NONE : i == 1 ? TOUCH_FIRST : TOUCH_PAGES;
  } else if (argc != 2 || argv[1][0] == '-') {
    return usage();
  }
  file_name = argv[argc - 1];
  open_file();
  struct timespec begin;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  if (thread_count > 0) {
    started = running = 1;
    running_list[0] = &threads[0];
    atomic_store(&next_start, thread_count > 1 ? threads[1].first : NEVER);
    run_thread(&threads[0]);
    wait_for_all();
  }
  print_metrics(&begin);
  return 0;
}
