/* The zone as libSystem and tools use it, in a program that the library is linked with. */
#include <malloc/malloc.h>
#include <mach/mach.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "barrier.h"
#include "check.h"
#include "mimalloc.h"

enum { MOST = 1 << 18, THREADS = 4, KEPT = 3000 };

typedef struct ranges {
  vm_range_t range[MOST];
  size_t count;
} ranges_t;

static malloc_zone_t* zone;
static ranges_t *by_zone, *by_visit, *by_other;

static ranges_t* new_ranges(int kind) {
  return mmap(NULL, sizeof(ranges_t), PROT_READ | PROT_WRITE, kind | MAP_ANON, -1, 0);
}

/* What it read last is gone with the next call, and lies elsewhere than in the process. */
static kern_return_t read_copy(task_t task, vm_address_t at, vm_size_t bytes, void** local) {
  static void* last;
  static size_t last_bytes;
  vm_size_t done = bytes;
  if (last != NULL) { munmap(last, last_bytes); }
  last_bytes = bytes;
  last = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
  *local = last;
  if (task != mach_task_self()) {
    return vm_read_overwrite(task, at, bytes, (vm_address_t)last, &done);
  }
  memcpy(last, (void*)at, bytes);
  return KERN_SUCCESS;
}

static void record(task_t task, void* context, unsigned type, vm_range_t* ranges, unsigned count) {
  ranges_t* out = context;
  CHECK(task != MACH_PORT_NULL && type == MALLOC_PTR_IN_USE_RANGE_TYPE);
  for (unsigned i = 0; i < count && out->count < MOST; i++) {
    out->range[out->count++] = ranges[i];
  }
}

static bool visit(const mi_heap_t* heap, const mi_heap_area_t* area, void* block, size_t size,
                  void* arg) {
  ranges_t* out = arg;
  (void)heap, (void)size; /* of debug builds, what was asked for */
  if (block != NULL) {
    out->range[out->count++] = (vm_range_t){(vm_address_t)block, area->block_size};
  }
  return true;
}

static bool visit_heap(mi_heap_t* heap, void* arg) {
  return mi_heap_visit_blocks(heap, true, visit, arg);
}

static int by_address(const void* a, const void* b) {
  const vm_range_t *x = a, *y = b;
  return x->address < y->address ? -1 : x->address > y->address;
}

static void enumerate(task_t task, memory_reader_t* reader) {
  by_zone->count = 0;
  CHECK(zone->introspect->enumerator(task, by_zone, MALLOC_PTR_IN_USE_RANGE_TYPE,
                                     (vm_address_t)zone, reader, record) == KERN_SUCCESS);
}

static void visit_all(ranges_t* out) {
  out->count = 0;
  (void)mi_subproc_visit_heaps(mi_subproc_current(), visit_heap, out);
}

static void equals(const char* what, ranges_t* visited) {
  qsort(by_zone->range, by_zone->count, sizeof(vm_range_t), by_address);
  qsort(visited->range, visited->count, sizeof(vm_range_t), by_address);
  fprintf(stderr, "%s: %zu blocks, the visitor finds %zu\n", what, by_zone->count, visited->count);
  CHECK(by_zone->count == visited->count && by_zone->count > KEPT / 4);
  CHECK(memcmp(by_zone->range, visited->range, visited->count * sizeof(vm_range_t)) == 0);
}

static void compare(const char* what, memory_reader_t* reader) {
  enumerate(mach_task_self(), reader);
  visit_all(by_visit);
  equals(what, by_visit);
}

static void* kept[THREADS + 1][KEPT];

static void fill(void** blocks, unsigned seed) {
  for (int round = 0; round < 4; round++) {
    for (int i = 0; i < KEPT; i++) {
      seed = seed * 1103515245 + 12345;
      if (seed >> 16 & 1) { continue; }
      mi_free(blocks[i]);
      const size_t size = seed >> 17 & 63 ? seed % 3000 : seed % 400000;
      blocks[i] = seed & 0x1000 ? mi_malloc(size) : NULL;
    }
  }
}

/* Another process, with the blocks of this one as they are now, but for its own changes; and what
   its visitor finds. */
static pid_t start_other(void) {
  enum { MORE = 1000, BYTES = 40000 };
  int ends[2];
  char byte = 0;
  CHECK(pipe(ends) == 0);
  const pid_t other = fork();
  if (other == 0) {
    fill(kept[THREADS], 11);
    for (int i = 0; i < MORE; i++) { (void)mi_malloc(BYTES); }
    visit_all(by_other);
    CHECK(write(ends[1], &byte, 1) == 1);
    for (;;) { pause(); }
  }
  CHECK(other > 0 && read(ends[0], &byte, 1) == 1);
  close(ends[0]);
  close(ends[1]);
  return other;
}

/* Here the memory has other blocks by now: who reads it in place of the other's finds these. The
   system may refuse us the other's memory. */
static void compare_other(pid_t other) {
  mach_port_t task = MACH_PORT_NULL;
  if (task_for_pid(mach_task_self(), other, &task) == KERN_SUCCESS) {
    enumerate(task, read_copy);
    equals("of another process", by_other);
  } else {
    fprintf(stderr, "of another process: the system does not let us\n");
  }
  kill(other, SIGKILL);
  CHECK(waitpid(other, NULL, 0) == other);
}

static pthread_barrier_t all;

static void* run(void* arg) {
  fill(arg, 7);
  pthread_barrier_wait(&all);
  pthread_barrier_wait(&all);
  return NULL;
}

enum { SPECIAL = 50 };
static void* special[SPECIAL];

static void allocate_special(void) {
  void** blocks = special;
  int count = 0;
  blocks[count++] = mi_malloc(40 << 20);
  blocks[count++] = mi_calloc(3, 10 << 20);
  blocks[count++] = mi_malloc_aligned(10, 8 << 20);
  blocks[count++] = mi_malloc_aligned(100, 4096);
  blocks[count++] = mi_malloc_aligned_at(5000, 1024, 8);
  mi_option_set(mi_option_guarded_sample_rate, 1);
  while (count < SPECIAL) { blocks[count++] = mi_malloc((size_t)count * 40); }
  mi_option_set(mi_option_guarded_sample_rate, 0);
  for (int i = 0; i < count; i++) { CHECK(malloc_zone_from_ptr(blocks[i]) == zone); }
}

/* All that there was goes, and other blocks come. */
static void exchange(void) {
  for (int i = 0; i < SPECIAL; i++) { mi_free(special[i]); }
  for (int t = 0; t <= THREADS; t++) {
    for (int i = 0; i < KEPT; i++) { mi_free(kept[t][i]); }
  }
  mi_collect(true);
  for (int i = 0; i < KEPT; i++) { kept[0][i] = memset(mi_malloc(700), 0x77, 700); }
}

static void test_enumerator(void) {
  pthread_t threads[THREADS];
  fill(kept[THREADS], 3);
  compare("one thread", read_copy);
  allocate_special();
  compare("huge, aligned and guarded blocks too", read_copy);
  pthread_barrier_init(&all, NULL, THREADS + 1);
  for (int i = 0; i < THREADS; i++) { pthread_create(&threads[i], NULL, run, kept[i]); }
  pthread_barrier_wait(&all);
  compare("others wait", read_copy);
  const pid_t other = start_other();
  pthread_barrier_wait(&all);
  for (int i = 0; i < THREADS; i++) { pthread_join(threads[i], NULL); }
  compare("others have ended", read_copy);
  mi_heap_t* heap = mi_heap_new();
  for (int i = 0; i < KEPT; i += 2) {
    mi_free(kept[1][i]); /* of threads that are gone */
    kept[1][i] = mi_heap_malloc(heap, (size_t)i);
  }
  compare("of another heap too", read_copy);
  mi_heap_delete(heap);
  compare("which is gone", NULL);
  exchange();
  compare_other(other);
  compare("after collecting", read_copy);
}

/* The system takes a block for ours if it has a size. */
static void test_no_bytes(void) {
  for (int guarded = 0; guarded < 2; guarded++) {
    mi_option_set(mi_option_guarded_sample_rate, guarded);
    mi_option_set(mi_option_guarded_precise, guarded);
    char* p = malloc(0);
    CHECK(malloc_zone_from_ptr(p) == zone && malloc_size(p) >= 1);
    free(realloc(p, 10));
    free(calloc(0, 8));
  }
  mi_option_set(mi_option_guarded_sample_rate, 0);
}

static size_t committed(void) {
  size_t bytes = 0;
  mi_process_info(NULL, NULL, NULL, NULL, NULL, &bytes, NULL, NULL);
  return bytes;
}

/* What is free, and would be kept for long, goes back to the system. The blocks are short, since
   debug builds keep no memory of a longer one that was freed. */
static void test_pressure(void) {
  enum { BLOCKS = 10000, BYTES = 1000 };
  static void* blocks[BLOCKS];
  mi_option_set(mi_option_purge_delay, 1000000);
  mi_collect(true); /* what waits for a shorter time would take the rest along */
  const size_t before = committed();
  for (int i = 0; i < BLOCKS; i++) { blocks[i] = memset(mi_malloc(BYTES), 1, BYTES); }
  for (int i = 0; i < BLOCKS; i++) { mi_free(blocks[i]); }
  CHECK(committed() > before);
  const size_t kept = committed() - before;
  CHECK(zone->pressure_relief(zone, 0) >= kept && committed() <= before);
}

#ifdef __MAC_15_0
static void test_newer(void) {
  char* p = zone->malloc_with_options(zone, 64, 1000, 1);
  CHECK(zone->version >= 16 && (size_t)p % 64 == 0 && p[0] == 0 && p[999] == 0);
  zone->free_definite_size(zone, p, 1000);
  p = zone->malloc_type_memalign(zone, 4096, 10, 3);
  CHECK((size_t)p % 4096 == 0);
  free(p);
}
#else /* headers that do not know it */
static void test_newer(void) {}
#endif

static void test_functions(void) {
  malloc_statistics_t sum;
  void* batch[10];
  zone->introspect->statistics(zone, &sum);
  CHECK(sum.blocks_in_use == by_zone->count && sum.size_in_use <= sum.size_allocated);
  CHECK(zone->introspect->check(zone));
  CHECK(zone->version >= 12 && zone->introspect->good_size(zone, 100) >= 100);
  CHECK(malloc_zone_from_ptr(kept[THREADS]) == NULL);
  CHECK(zone->batch_malloc(zone, 48, batch, 10) == 10);
  CHECK(zone->claimed_address(zone, batch[3]) && zone->size(zone, batch[3]) >= 48);
  CHECK(!zone->claimed_address(zone, &sum));
  zone->batch_free(zone, batch, 10);
  char* p = zone->memalign(zone, 4096, 10);
  CHECK((size_t)p % 4096 == 0);
  p = zone->realloc(zone, p, 20000);
  CHECK(malloc_zone_from_ptr(p) == zone);
  free(p);
  test_newer();
  test_no_bytes();
  test_pressure();
  CHECK(!zone->introspect->zone_locked(zone));
  zone->introspect->force_lock(zone);
  CHECK(zone->introspect->zone_locked(zone));
  enumerate(mach_task_self(), NULL); /* a tool may do so in its own process */
  zone->introspect->force_unlock(zone);
  CHECK(!zone->introspect->zone_locked(zone));
}

int main(void) {
  vm_address_t* zones = NULL;
  unsigned count = 0;
  by_zone = new_ranges(MAP_PRIVATE), by_visit = new_ranges(MAP_PRIVATE);
  by_other = new_ranges(MAP_SHARED);
  CHECK(malloc_get_all_zones(mach_task_self(), NULL, &zones, &count) == KERN_SUCCESS);
  zone = (malloc_zone_t*)zones[0];
  CHECK(count > 1 && strcmp(zone->zone_name, "mimalloc") == 0);
  CHECK(mi_is_redirected());
  void* p = malloc(10);
  CHECK(mi_is_in_heap_region(p));
  mi_free(p);
  test_enumerator();
  test_functions();
  return check_done();
}
