/* test: timeout=120 when="release|debug|secure|guarded|tsan|ubsan threads"
   Statistics against a shadow count: threads of the main heap, of another heap and of a sub-process
   take, resize and free blocks, also each other's. Whenever all rest, the statistics say what the
   threads counted: blocks taken and freed of each class, for each heap and sub-process. Peaks are
   never below what there was, and near it. A thread that reads all the time meets no figure that
   is negative or out of order. */
#define _GNU_SOURCE
#include "stress.h"

#include <mimalloc-stats.h>

enum { BINS = MI_BIN_HUGE + 1, OWN = 400, SHARED = 500, ROUNDS = 8, READ_EVERY_US = 2000 };

typedef enum { IN_MAIN, IN_HEAP, IN_SUBPROC, PLACES } place_t;

typedef struct {
  uint32_t bin, place;
  size_t size;
} label_t; /* what a block begins with */

static stress_args_t args;
static mi_heap_t* heaps[PLACES]; /* of a sub-process: the main heap of its threads */
static mi_subproc_id_t subproc;
static _Atomic(label_t*) shared[PLACES][SHARED];
static _Atomic(int64_t) taken[PLACES][BINS], freed[PLACES][BINS], live[PLACES][BINS],
    peak[PLACES][BINS];
static pthread_barrier_t barrier;
static _Atomic(bool) ended;

static size_t padding; /* that the build adds to a request */

static uint32_t bin_of(size_t size) {
  uint32_t bin = 1;
  while (bin < MI_BIN_HUGE && mi_stats_get_bin_size(bin) < size + padding) { bin++; }
  return bin;
}

/* What there is: up after a block is there and down before it goes, so never more than there is. */
static void live_up(const label_t* label) {
  const int64_t now = atomic_fetch_add(&live[label->place][label->bin], 1) + 1;
  int64_t most = atomic_load(&peak[label->place][label->bin]);
  while (now > most && !atomic_compare_exchange_weak(&peak[label->place][label->bin], &most, now)) {
  }
}

static void live_down(const label_t* label) {
  atomic_fetch_sub(&live[label->place][label->bin], 1);
}

static void shadow_take(const label_t* label) {
  atomic_fetch_add(&taken[label->place][label->bin], 1);
  live_up(label);
}

static void shadow_free(const label_t* label) {
  atomic_fetch_add(&freed[label->place][label->bin], 1);
}

static label_t* take(uint64_t* seed, place_t place) {
  const size_t size = sizeof(label_t) + stress_size(seed, random_below(seed, 64) == 0 ? 18 : 13);
  label_t* label =
      (label_t*)(place == IN_SUBPROC ? mi_malloc(size) : mi_heap_malloc(heaps[place], size));
  CHECK(label != NULL);
  if (label == NULL) { exit(check_done()); }
  *label = (label_t){bin_of(size), (uint32_t)place, size};
  shadow_take(label);
  return label;
}

static void give(label_t* label) {
  if (label == NULL) { return; }
  shadow_free(label);
  live_down(label);
  mi_free(label);
}

/* A block that moves is freed, and another one is taken; there is none that moves as it is. */
static label_t* resize(uint64_t* seed, label_t* label) {
  const size_t size = sizeof(label_t) + stress_size(seed, 14);
  if (label->size > 60000 || label->place == IN_HEAP) { return label; }
  const label_t old = *label;
  live_down(&old);
  label_t* moved = (label_t*)mi_realloc(label, size);
  CHECK(moved != NULL);
  moved->size = size;
  if (moved == label) {
    live_up(moved);
  } else {
    moved->bin = bin_of(size);
    shadow_free(&old);
    shadow_take(moved);
  }
  return moved;
}

static void step(uint64_t* seed, place_t place, label_t** own) {
  label_t** slot = &own[random_below(seed, OWN)];
  switch (random_below(seed, 8)) {
    case 0:
      if (*slot != NULL) { *slot = resize(seed, *slot); }
      break;
    case 1: { /* may be another thread's, and of the other heap */
      const place_t other = place == IN_SUBPROC ? place : (place_t)random_below(seed, 2);
      give(atomic_exchange(&shared[other][random_below(seed, SHARED)], take(seed, place)));
      break;
    }
    case 2:
    case 3:
      give(*slot);
      *slot = NULL;
      break;
    default: give(*slot); *slot = take(seed, place);
  }
}

static void* work(void* arg) {
  const size_t number = (size_t)(uintptr_t)arg;
  const place_t place = (place_t)(number % PLACES);
  uint64_t seed = stress_seed(args.seed, number);
  label_t* own[OWN] = {NULL};
  if (place == IN_SUBPROC) { mi_subproc_add_current_thread(subproc); }
  mi_free(mi_malloc(1)); /* the thread has begun */
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  for (int round = 0; round < ROUNDS; round++) {
    for (size_t i = 0; i < args.iterations; i++) { step(&seed, place, own); }
    if (round % 3 == 2) { mi_collect(round % 2 == 0); }
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
  }
  for (size_t i = 0; i < OWN; i++) { give(own[i]); }
  return NULL;
}

static mi_stats_t base[PLACES];

static mi_stats_t read_place(place_t place) {
  mi_stats_t_decl(stats);
  CHECK(place == IN_SUBPROC ? mi_subproc_stats_get(subproc, &stats)
                            : mi_heap_stats_get(heaps[place], &stats));
  return stats;
}

static void check_class(place_t place, const mi_stats_t* now, int bin) {
  const int64_t got = now->malloc_bins[bin].total - base[place].malloc_bins[bin].total;
  const int64_t live = now->malloc_bins[bin].current - base[place].malloc_bins[bin].current;
  const int64_t request = atomic_load(&taken[place][bin]);
  const int64_t want_live = request - atomic_load(&freed[place][bin]);
  CHECK(got == request && live == want_live);
  if (got != request || live != want_live) {
    fprintf(stderr, "place %d, class %d: %lld taken, %lld live; want %lld, %lld\n", (int)place, bin,
            (long long)got, (long long)live, (long long)request, (long long)want_live);
  }
  CHECK(now->malloc_bins[bin].peak >= atomic_load(&peak[place][bin]));
}

/* While all others rest. */
static void check_all(void) {
  for (int place = 0; place < PLACES; place++) {
    const mi_stats_t now = read_place((place_t)place);
    int64_t all = 0, all_freed = 0;
    for (int bin = 1; bin < BINS; bin++) {
      check_class((place_t)place, &now, bin);
      all += atomic_load(&taken[place][bin]);
      all_freed += atomic_load(&freed[place][bin]);
    }
    CHECK(now.malloc_count.total - base[place].malloc_count.total == all);
    CHECK(now.free_count.total - base[place].free_count.total == all_freed);
  }
}

/* Peaks are off by what threads keep in pages with free blocks. */
static void check_peaks(void) {
  for (int place = 0; place < PLACES; place++) {
    const mi_stats_t now = read_place((place_t)place);
    int64_t bytes = 0, shadow_bytes = 0;
    for (unsigned bin = 1; bin < MI_BIN_HUGE; bin++) {
      const int64_t size = (int64_t)mi_stats_get_bin_size(bin);
      bytes += now.malloc_bins[bin].peak * size;
      shadow_bytes += (atomic_load(&peak[place][bin]) + base[place].malloc_bins[bin].peak) * size;
    }
    printf("place %d: peaks of all classes %lld KiB, shadow %lld KiB\n", place,
           (long long)bytes / STRESS_KIB, (long long)shadow_bytes / STRESS_KIB);
    const int64_t off = now.requested_is_exact.total == 1 ? 0 : shadow_bytes;
    CHECK(bytes <= shadow_bytes + off + (int64_t)args.threads * BINS * 16 * STRESS_KIB);
  }
}

static bool is_in_order(mi_stat_count_t count) {
  return 0 <= count.current && count.current <= count.peak && count.peak <= count.total;
}

static void* read_all_the_time(void* unused) {
  while (!atomic_load(&ended)) {
    mi_stats_t_decl(stats);
    CHECK(mi_stats_get(&stats));
    CHECK(is_in_order(stats.allocated) && is_in_order(stats.requested));
    CHECK(stats.free_count.total >= 0 && stats.freed.total >= 0);
    for (int bin = 1; bin < BINS; bin++) { CHECK(is_in_order(stats.malloc_bins[bin])); }
    usleep(READ_EVERY_US);
  }
  return unused;
}

int main(int argc, char** argv) {
  args = stress_args(argc, argv, 6, 40000);
  pthread_t threads[STRESS_MAX_THREADS], reader;
  mi_option_set(mi_option_guarded_sample_rate, 0);
  padding = mi_good_size(1) == 1 || mi_good_size(16) != 16 ? 8 : 0;
  heaps[IN_MAIN] = mi_heap_main();
  heaps[IN_HEAP] = mi_heap_new();
  subproc = mi_subproc_new();
  CHECK(pthread_barrier_init(&barrier, NULL, (unsigned)args.threads + 1) == 0);
  CHECK(pthread_create(&reader, NULL, read_all_the_time, NULL) == 0);
  for (size_t i = 0; i < args.threads; i++) {
    CHECK(pthread_create(&threads[i], NULL, work, (void*)(uintptr_t)i) == 0);
  }
  pthread_barrier_wait(&barrier);
  for (int place = 0; place < PLACES; place++) { base[place] = read_place((place_t)place); }
  pthread_barrier_wait(&barrier);
  for (int round = 0; round < ROUNDS; round++) {
    pthread_barrier_wait(&barrier);
    check_all();
    pthread_barrier_wait(&barrier);
  }
  for (size_t i = 0; i < args.threads; i++) { pthread_join(threads[i], NULL); }
  check_peaks();
  for (int place = 0; place < PLACES; place++) {
    for (int i = 0; i < SHARED; i++) { give(atomic_exchange(&shared[place][i], NULL)); }
  }
  atomic_store(&ended, true);
  pthread_join(reader, NULL);
  return check_done();
}
