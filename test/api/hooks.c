/* test: timeout=60
   Hooks: deferred free with its heartbeat, the output function, the error function. */
#define _GNU_SOURCE 1
#include "../system.h"
#include "api.h"

typedef struct {
  size_t calls, forced;
  unsigned long long heartbeat;
  bool went_back, inside, recursive;
  void* to_free;
} deferred_t;

static void deferred(bool force, unsigned long long heartbeat, void* arg) {
  deferred_t* d = arg;
  d->recursive = d->recursive || d->inside;
  d->inside = true;
  d->calls++;
  d->forced += force ? 1 : 0;
  d->went_back = d->went_back || heartbeat < d->heartbeat;
  d->heartbeat = heartbeat;
  mi_free(d->to_free); /* what it is for: freeing, and allocating, from inside */
  d->to_free = mi_malloc(100);
  d->inside = false;
}

enum { AT_LATEST = 1000000 }; /* mallocs between two calls */

static size_t mallocs_until_call(const deferred_t* d, size_t size) {
  const size_t calls = d->calls;
  size_t n = 0;
  while (d->calls == calls && n <= AT_LATEST) {
    mi_free(mi_malloc(size));
    n++;
  }
  return n;
}

static void test_deferred_free(void) {
  deferred_t d = {.calls = 0};
  mi_register_deferred_free(deferred, &d);
  enum { LIVE = 200000 };
  static void* blocks[LIVE];
  for (size_t i = 0; i < LIVE; i++) { blocks[i] = mi_malloc(64); }
  CHECK(d.calls > 0);
  for (size_t i = 0; i < LIVE; i++) { mi_free(blocks[i]); }
  static const size_t sizes[] = {8, 64, 1000, 20000, 200000};
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
    CHECK(mallocs_until_call(&d, sizes[i]) <=
          AT_LATEST); /* also when one block goes round and round */
    CHECK(mallocs_until_call(&d, sizes[i]) <= AT_LATEST);
  }
  const size_t forced = d.forced;
  mi_collect(true);
  CHECK(d.forced > forced);
  CHECK(!d.went_back && !d.recursive);
  mi_register_deferred_free(NULL, NULL);
  const size_t calls = d.calls;
  mi_collect(true);
  CHECK(d.calls == calls);
  mi_free(d.to_free);
}

typedef struct {
  size_t messages, length;
} output_t;

static void output(const char* message, void* arg) {
  output_t* o = arg;
  o->messages++;
  o->length += strlen(message);
}

static void test_output(void) {
  output_t o = {.messages = 0};
  mi_register_output(output, &o);
  o = (output_t){.messages = 0}; /* what was held back until now may have come at once */
  mi_stats_print(NULL);
  CHECK(o.messages > 0 && o.length > 200);
  o = (output_t){.messages = 0};
  mi_options_print();
  CHECK(o.length > 200);
  o = (output_t){.messages = 0};
  mi_process_info_print();
  CHECK(o.length > 20);
  mi_register_output(NULL, NULL);
  o = (output_t){.messages = 0};
  output_t given = {.messages = 0};
  mi_process_info_print_out(output, &given);
  CHECK(o.messages == 0 && given.length > 20);
}

static test_barrier_t in_output;
static bool stays_inside;
static size_t taken_in_child;

static void output_first_stays(const char* message, void* arg) {
  (void)message, (void)arg;
  if (__atomic_exchange_n(&stays_inside, false, __ATOMIC_ACQ_REL)) {
    barrier_wait(&in_output); /* it is inside */
    barrier_wait(&in_output); /* it may leave */
  }
  taken_in_child++;
}

static void* print_in_thread(void* unused) {
  mi_process_info_print();
  return unused;
}

static int print_in_child(void) {
  taken_in_child = 0;
  mi_process_info_print();
  return taken_in_child > 0 ? 0 : 1;
}

/* In the child the thread that was in the output function is no more. */
static void test_fork_from_output(void) {
  test_thread_t thread;
  barrier_init(&in_output, 2);
  stays_inside = true;
  mi_register_output(output_first_stays, NULL);
  CHECK(thread_start(&thread, print_in_thread, NULL));
  barrier_wait(&in_output);
  CHECK(os_run_child(print_in_child, NULL, 0) == 0);
  barrier_wait(&in_output);
  thread_join(thread);
  mi_register_output(NULL, NULL);
}

typedef struct {
  size_t calls;
  int last;
} errors_t;

static void on_error(int error, void* arg) {
  errors_t* e = arg;
  e->calls++;
  e->last = error;
}

/* Not too large to be asked for, but more than there is. */
static size_t size_of_all(void) {
  static volatile size_t size = sizeof(void*) == 8 ? SIZE_MAX >> 4 : PTRDIFF_MAX - 256 * KIB;
  return size;
}

static void test_error_of_large(errors_t* e) {
  void* first = sizeof(void*) == 8 ? NULL : mi_malloc(size_of_all()); /* fits, or not */
  void* p = mi_malloc(MIB);
  const size_t calls = e->calls;
  CHECK_ERRNO(mi_malloc(size_of_all()) == NULL, ENOMEM);
  CHECK(e->calls == calls + 1 && e->last == ENOMEM);
  CHECK_ERRNO(mi_malloc_aligned(size_of_all(), 64 * KIB) == NULL, ENOMEM);
  CHECK(e->calls == calls + 2 && e->last == ENOMEM);
  CHECK_ERRNO(mi_malloc_aligned_at(size_of_all(), 32, 8) == NULL, ENOMEM);
  CHECK(e->calls == calls + 3 && e->last == ENOMEM);
  CHECK_ERRNO(mi_realloc(p, size_of_all()) == NULL, ENOMEM);
  CHECK(e->calls == calls + 4 && e->last == ENOMEM);
  mi_free(p);
  mi_free(first);
}

static void test_error(void) {
  errors_t e = {.calls = 0};
  mi_register_error(on_error, &e);
  CHECK_ERRNO(mi_malloc(size_too_large()) == NULL, ENOMEM);
  CHECK(e.calls == 1 && e.last == EOVERFLOW);
  CHECK_ERRNO(mi_calloc(count_overflowing(), 16) == NULL, ENOMEM);
  CHECK(e.calls == 2 && e.last == EOVERFLOW);
  void* volatile foreign = BLOCKS_TRACKED ? NULL : &e; /* the tool would report it too */
  mi_free(foreign);                                    /* not ours: reported, and nothing breaks */
  CHECK(BLOCKS_TRACKED || (e.calls == 3 && e.last == EINVAL));
  test_error_of_large(&e);
  const size_t calls = e.calls;
  mi_register_error(NULL, NULL);
  CHECK(mi_malloc(size_too_large()) == NULL && e.calls == calls);
}

int main(void) {
  test_deferred_free();
  test_output();
  if (HAS_THREADS && HAS_PROCESSES) { test_fork_from_output(); }
  test_error();
  return check_done();
}
