/* test: not-emulated="it would take an emulator too long" label=soak timeout=120 args="20" when="gcc glibc linux|unix"
   Everything for long: threads that come and go, blocks that change hands, heaps, sizes and the
   size of the whole drifting, forks, purges. Now and then all threads stand still, and the state
   is looked at: every content, live bytes and blocks by the statistics and by a visit, pages
   against live bytes, resident memory against pages, mappings, the slowest call.

   Arguments: seconds (20), seed. A line is printed for every minute, or quarter of a short run. */
#define _GNU_SOURCE 1
#include "../stress/stress.h"

#include <mimalloc-stats.h>
#include <sys/wait.h>
#include <time.h>

enum { SLOTS = 1 << 15, OWN = 128, WORKERS = 4, VISITORS = 3, HEAP_BLOCKS = 200 };
/* Ceilings, see check_memory, and the time that a call takes on a machine that may be doing other
   things. */
enum { CALL_MOST_MS = 10000, PAGES_SHARE = 3, PAGES_SPARE = 64 * STRESS_MIB };
enum { EMPTY_MOST = 32 * STRESS_MIB, UNUSED_MOST = 4 * STRESS_MIB, BEYOND_MOST = 16 * STRESS_MIB };

static _Atomic(parcel_t*) slots[SLOTS];
static _Atomic(bool) stop;
static _Atomic(size_t) drift_slots = SLOTS / 8; /* in use */
static _Atomic(unsigned) drift_bits = 10;       /* sizes up to 2^this mostly */
static _Atomic(size_t) calls, heaps_ended, threads_ended, forks;
static _Atomic(uint64_t) slowest_ns, slow_calls;

/* Held by whoever is at work; the one who looks takes it alone. */
static pthread_rwlock_t working = PTHREAD_RWLOCK_INITIALIZER;

/* ---- time ---- */

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void call_took(uint64_t start) {
  enum { SLOW_NS = 10000000 };
  const uint64_t took = now_ns() - start;
  uint64_t before = atomic_load(&slowest_ns);
  while (took > before && !atomic_compare_exchange_weak(&slowest_ns, &before, took)) {}
  if (took > SLOW_NS) { atomic_fetch_add(&slow_calls, 1); }
}

#define TIMED(call)                  \
  do {                               \
    const uint64_t begun = now_ns(); \
    call;                            \
    call_took(begun);                \
  } while (0)

/* ---- one step of a worker ---- */

/* Mostly about the size of the day; a few of any size up to 4 MiB. */
static size_t random_size(uint64_t* seed) {
  const size_t dice = random_below(seed, 1000);
  if (dice < 8) { return stress_size(seed, 21); }
  return stress_size(seed, dice < 900 ? atomic_load(&drift_bits) : 14);
}

static parcel_t* parcel_at(void* memory, size_t payload, size_t tag) {
  parcel_t* p = memory;
  CHECK(p != NULL);
  if (p == NULL) { exit(check_done()); }
  *p = (parcel_t){.size = payload, .tag = tag};
  stress_fill(p + 1, payload, tag);
  return p;
}

static parcel_t* random_parcel(uint64_t* seed, mi_heap_t* heap) {
  const size_t payload = random_size(seed), size = sizeof(parcel_t) + payload;
  const size_t dice = random_below(seed, 10);
  void* p = NULL;
  if (heap != NULL) {
    TIMED(p = mi_heap_malloc(heap, size));
  } else if (dice == 0) {
    TIMED(p = mi_zalloc(size));
    const unsigned char* bytes = p;
    CHECK(bytes[0] == 0 && bytes[size / 2] == 0 && bytes[size - 1] == 0);
  } else if (dice == 1) {
    TIMED(p = mi_malloc_aligned(size, (size_t)16 << random_below(seed, 9)));
  } else {
    TIMED(p = mi_malloc(size));
  }
  return parcel_at(p, payload, random_below(seed, 10000));
}

static void end_parcel(parcel_t* p) {
  if (p == NULL) { return; }
  parcel_check(p);
  TIMED(mi_free(p));
}

static parcel_t* resized(uint64_t* seed, parcel_t* p) {
  const size_t payload = random_size(seed), tag = p->tag;
  void* q = NULL;
  parcel_check(p);
  TIMED(q = mi_realloc(p, sizeof(parcel_t) + payload));
  CHECK(q != NULL && ((unsigned char*)q)[sizeof(parcel_t)] == stress_byte(0, tag));
  return parcel_at(q, payload, tag);
}

static size_t random_slot(uint64_t* seed) { return random_below(seed, atomic_load(&drift_slots)); }

/* What is left beyond the slots in use goes away, one at a time. */
static void forget_one(uint64_t* seed) {
  const size_t used = atomic_load(&drift_slots);
  if (used < SLOTS) {
    end_parcel(atomic_exchange(&slots[used + random_below(seed, SLOTS - used)], NULL));
  }
}

/* A heap of one's own: half of its blocks are given to all, or it takes them all with it. */
static void heap_life(uint64_t* seed) {
  mi_heap_t* heap = mi_heap_new();
  const bool destroy = random_below(seed, 2) == 0;
  CHECK(heap != NULL);
  if (heap == NULL) { return; }
  for (size_t i = 0; i < HEAP_BLOCKS; i++) {
    parcel_t* p = random_parcel(seed, heap);
    if (!destroy) { end_parcel(atomic_exchange(&slots[random_slot(seed)], p)); }
  }
  TIMED(destroy ? mi_heap_destroy(heap) : mi_heap_delete(heap));
  atomic_fetch_add(&heaps_ended, 1);
}

static void step(uint64_t* seed, parcel_t* own[OWN]) {
  const size_t k = random_below(seed, OWN), dice = random_below(seed, 10000);
  if (dice < 4000) {
    end_parcel(own[k]);
    own[k] = random_parcel(seed, NULL);
  } else if (dice < 7500) {
    own[k] = atomic_exchange(&slots[random_slot(seed)], own[k]);
  } else if (dice < 8200) {
    own[k] = own[k] == NULL ? random_parcel(seed, NULL) : resized(seed, own[k]);
  } else if (dice < 9990) {
    end_parcel(own[k]);
    own[k] = NULL;
    forget_one(seed);
  } else if (dice < 9994) {
    heap_life(seed);
  } else {
    TIMED(mi_collect(dice == 9999 && random_below(seed, 50) == 0));
  }
}

static void steps(uint64_t* seed, parcel_t* own[OWN], size_t count) {
  pthread_rwlock_rdlock(&working);
  for (size_t i = 0; i < count; i++) { step(seed, own); }
  pthread_rwlock_unlock(&working);
  atomic_fetch_add(&calls, count);
}

/* ---- threads ---- */

static void leave_all(uint64_t* seed, parcel_t* own[OWN]) {
  pthread_rwlock_rdlock(&working);
  for (size_t k = 0; k < OWN; k++) {
    end_parcel(atomic_exchange(&slots[random_slot(seed)], own[k]));
  }
  pthread_rwlock_unlock(&working);
}

static void* worker(void* arg) {
  uint64_t seed = (uint64_t)(uintptr_t)arg;
  parcel_t* own[OWN] = {NULL};
  while (!atomic_load(&stop)) { steps(&seed, own, 500); }
  leave_all(&seed, own);
  return NULL;
}

static void* short_worker(void* arg) {
  uint64_t seed = (uint64_t)(uintptr_t)arg;
  parcel_t* own[OWN] = {NULL};
  steps(&seed, own, 1 + random_below(&seed, 3000));
  leave_all(&seed, own);
  return NULL;
}

/* Starts short threads, one after the other. */
static void* visitors(void* arg) {
  uint64_t seed = (uint64_t)(uintptr_t)arg;
  while (!atomic_load(&stop)) {
    pthread_t thread = stress_start(short_worker, (void*)(uintptr_t)random_next(&seed));
    pthread_join(thread, NULL);
    atomic_fetch_add(&threads_ended, 1);
  }
  return NULL;
}

/* ---- forks ---- */

static void* child_thread(void* arg) {
  uint64_t seed = (uint64_t)(uintptr_t)arg;
  for (size_t i = 0; i < 300; i++) { end_parcel(random_parcel(&seed, NULL)); }
  return NULL;
}

/* A child has the parent's blocks, and works, with a thread of its own, too. */
static int child(uint64_t seed, const parcel_t* known) {
  alarm(60);
  check_failures = 0;
  parcel_check(known);
  for (size_t i = 0; i < 300; i++) { end_parcel(random_parcel(&seed, NULL)); }
  pthread_join(stress_start(child_thread, (void*)(uintptr_t)seed), NULL);
  mi_collect(true);
  return check_failures;
}

static void fork_once(uint64_t* seed) {
  parcel_t* known = random_parcel(seed, NULL);
  const pid_t pid = fork();
  if (pid == 0) { _exit(child(random_next(seed), known) == 0 ? 0 : 1); }
  int status = -1;
  CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
  end_parcel(known);
  atomic_fetch_add(&forks, 1);
}

/* ---- looking ---- */

static size_t mapping_count(void) {
  size_t lines = 0;
  char text[4096];
  FILE* file = fopen("/proc/self/maps", "r");
  while (file != NULL && fgets(text, sizeof(text), file) != NULL) {
    lines += strchr(text, '\n') != NULL;
  }
  if (file != NULL) { fclose(file); }
  return lines;
}

/* What a visit saw. */
typedef struct {
  size_t blocks, bytes, empty_bytes;
} total_t;

static bool count_block(const mi_heap_t* heap, const mi_heap_area_t* area, void* block, size_t size,
                        void* arg) {
  total_t* total = arg;
  (void)heap;
  if (block == NULL) {
    total->empty_bytes += area->used == 0 ? area->reserved : 0;
    return true;
  }
  total->blocks++;
  total->bytes += size;
  return true;
}

/* Of those in the slots; the workers' own ones are in the statistics only. */
static size_t slots_check(void) {
  size_t bytes = 0;
  for (size_t i = 0; i < SLOTS; i++) {
    const parcel_t* p = atomic_load(&slots[i]);
    if (p == NULL) { continue; }
    parcel_check(p);
    bytes += mi_usable_size(p);
  }
  return bytes;
}

static size_t mappings_at_start, resident_at_start, recent_live;

/* Bytes: in live blocks, in pages, in pages without a live block, in unused memory that has not
   gone back to the OS, resident. */
typedef struct {
  size_t live, pages, empty, unused, resident, mappings;
} memory_t;

/* Mappings beyond those at the start: two for each stack, of up to ten threads and five that the C
   library keeps, and four for each arena. Secure builds place arenas at random, where each may need
   two parts of the page map, two mappings each: 96 were seen with six arenas. Debug builds know the
   size that was asked for; what they know of blocks is in mappings. */
static size_t mappings_spare(void) {
  void* p = mi_malloc(1);
  const bool notes = mi_usable_size(p) == 1;
  mi_free(p);
  return notes ? 256 : 128;
}

static size_t unused_of(const mi_stats_t* stats) {
  const int64_t bytes = stats->committed.current - stats->page_committed.current;
  return bytes < 0 ? 0 : (size_t)bytes;
}

/* Threads that were about to end do so now, and what they give back counts, too. */
static void collect(mi_stats_t* stats) {
  *stats = (mi_stats_t){.size = sizeof(*stats), .version = MI_STAT_VERSION};
  for (int tries = 0; tries < 100; tries++) {
    mi_collect(true);
    CHECK(mi_stats_get(stats));
    if (unused_of(stats) == 0) { return; }
    usleep(1000);
  }
}

static memory_t memory_of(const mi_stats_t* stats, const total_t* seen) {
  return (memory_t){
      .live = (size_t)(stats->malloc_normal.current + stats->malloc_huge.current),
      .pages = (size_t)stats->page_committed.current,
      .empty = seen->empty_bytes,
      .unused = unused_of(stats),
      .resident = stress_resident(),
      .mappings = mapping_count(),
  };
}

/* All threads stand still. Visit and statistics agree on what is live; it holds what we know of;
   after a collection mappings are within the ceiling. */
static memory_t look(void) {
  mi_stats_t stats;
  total_t seen = {0};
  const size_t known = slots_check();
  collect(&stats);
  CHECK(mi_heap_visit_blocks(mi_heap_main(), true, count_block, &seen));
  const memory_t memory = memory_of(&stats, &seen);
  int64_t blocks = 0;
  for (size_t i = 0; i < MI_BIN_COUNT; i++) { blocks += stats.malloc_bins[i].current; }
  /* Padding is not the program's. */
  CHECK(seen.bytes <= memory.live && (int64_t)seen.blocks == blocks);
  CHECK(memory.live >= known);
  CHECK(memory.mappings <= mappings_at_start + mappings_spare() + memory.live / ((size_t)1 << 30));
  return memory;
}

typedef struct {
  const char* what;
  size_t nearest_percent; /* at any time so far */
} ceiling_t;

static ceiling_t on_pages = {.what = "pages"}, on_empty = {.what = "pages without a live block"},
                 on_unused = {.what = "unused, but not given back"},
                 on_beyond = {.what = "resident beyond pages"};

static bool is_within(ceiling_t* ceiling, size_t bytes, size_t most) {
  const size_t percent = bytes / (most / 100);
  if (percent > ceiling->nearest_percent) { ceiling->nearest_percent = percent; }
  if (bytes > most) {
    printf("%s: %zu KiB, at most %zu\n", ceiling->what, bytes / STRESS_KIB, most / STRESS_KIB);
  }
  return bytes <= most;
}

/* Pages are what live blocks need (or needed a while ago), but there is chance in how much that is:
   heaps that are deleted leave pages with a few blocks each, of the sizes of the day, which only
   the last one's end gives back. Up to 2.7 times the live bytes were seen; with heaps destroyed
   instead 1.3 times. The rest hangs on no dice: pages without a live block are those that
   each thread keeps for its classes; after a collection no unused run stays resident (guarded and
   FULL builds count what they keep inaccessible); and what is resident beyond pages are records,
   stacks and what is the C library's. */
static void check_memory(const memory_t* m) {
  const size_t expected = resident_at_start + m->pages;
  const size_t beyond = m->resident < expected ? 0 : m->resident - expected;
  const int before = check_failures;
  recent_live -= recent_live / 8;
  if (m->live > recent_live) { recent_live = m->live; }
  CHECK(is_within(&on_pages, m->pages, PAGES_SHARE * recent_live + PAGES_SPARE));
  CHECK(is_within(&on_empty, m->empty, EMPTY_MOST));
  CHECK(is_within(&on_unused, m->unused < beyond ? m->unused : beyond, UNUSED_MOST));
  CHECK(is_within(&on_beyond, beyond, BEYOND_MOST));
  if (check_failures == before) { return; }
  printf(
      "KiB: live %zu, not long ago %zu; pages %zu, those without a live block %zu; unused %zu; "
      "resident %zu, at the start %zu\n",
      m->live / STRESS_KIB, recent_live / STRESS_KIB, m->pages / STRESS_KIB, m->empty / STRESS_KIB,
      m->unused / STRESS_KIB, m->resident / STRESS_KIB, resident_at_start / STRESS_KIB);
}

static void print_nearest(void) {
  const ceiling_t* const all[] = {&on_pages, &on_empty, &on_unused, &on_beyond};
  printf("nearest to the ceilings:");
  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
    printf("%s %s %zu %%", i == 0 ? "" : ",", all[i]->what, all[i]->nearest_percent);
  }
  printf("\n");
}

static memory_t look_alone(void) {
  pthread_rwlock_wrlock(&working);
  const memory_t memory = look();
  pthread_rwlock_unlock(&working);
  check_memory(&memory);
  return memory;
}

static void report(time_t second) {
  const memory_t m = look_alone();
  printf(
      "%5ld s: %zu K steps, %zu threads, %zu heaps, %zu forks; live %zu MiB, pages %zu, resident "
      "%zu, %zu mappings; slowest call %.1f ms, %llu above 10 ms\n",
      (long)second, atomic_load(&calls) / 1000, atomic_load(&threads_ended),
      atomic_load(&heaps_ended), atomic_load(&forks), m.live / STRESS_MIB, m.pages / STRESS_MIB,
      m.resident / STRESS_MIB, m.mappings, (double)atomic_load(&slowest_ns) / 1e6,
      (unsigned long long)atomic_load(&slow_calls));
  fflush(stdout);
}

/* ---- the director ---- */

/* How much there is, and how large it is, changes slowly: an hour sees many combinations. */
static void drift(uint64_t* seed) {
  size_t used = atomic_load(&drift_slots);
  const size_t dice = random_below(seed, 8);
  used = dice < 3 ? used / 2 : dice < 6 ? used * 2 : used;
  if (used < SLOTS / 64) { used = SLOTS / 64; }
  atomic_store(&drift_slots, used < SLOTS ? used : SLOTS);
  atomic_store(&drift_bits, (unsigned)(5 + random_below(seed, 12)));
  if (dice == 7) { mi_option_set(mi_option_purge_delay, (long)random_below(seed, 3) * 500); }
}

static void direct(uint64_t seed, time_t seconds) {
  enum { LOOK_EVERY = 5, DRIFT_EVERY = 3, LINE_SECONDS = 60 };
  const time_t start = time(NULL);
  const time_t line_every = seconds < 4 * LINE_SECONDS ? seconds / 4 + 1 : LINE_SECONDS;
  time_t done = 0;
  for (time_t second = 0; second < seconds; second = time(NULL) - start) {
    fork_once(&seed);
    usleep(200000);
    if (second == done) { continue; }
    done = second;
    if (second % DRIFT_EVERY == 0) { drift(&seed); }
    if (second % line_every == 0) {
      report(second);
    } else if (second % LOOK_EVERY == 0) {
      look_alone();
    }
  }
}

static void end_all(void) {
  enum { LIBRARY_MOST = 64 * STRESS_KIB }; /* the C library's own blocks */
  for (size_t i = 0; i < SLOTS; i++) { end_parcel(atomic_exchange(&slots[i], NULL)); }
  CHECK(look().live <= LIBRARY_MOST);
  stress_check_resident(resident_at_start + 16 * STRESS_MIB, "nothing is live");
}

int main(int argc, char** argv) {
  const time_t seconds = argc > 1 ? (time_t)strtoul(argv[1], NULL, 10) : 20;
  uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 20261107;
  pthread_t threads[WORKERS + VISITORS];
  printf("%ld s, seed %llu\n", (long)seconds, (unsigned long long)seed);
  pthread_rwlockattr_t attributes; /* else readers that come and go keep the writer out */
  pthread_rwlockattr_init(&attributes);
  pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
  pthread_rwlock_init(&working, &attributes);
  mi_free(mi_malloc(1));
  mappings_at_start = mapping_count();
  resident_at_start = stress_resident();
  for (size_t i = 0; i < WORKERS + VISITORS; i++) {
    threads[i] =
        stress_start(i < WORKERS ? worker : visitors, (void*)(uintptr_t)stress_seed(seed, i));
  }
  direct(stress_seed(seed, WORKERS + VISITORS), seconds);
  atomic_store(&stop, true);
  for (size_t i = 0; i < WORKERS + VISITORS; i++) { pthread_join(threads[i], NULL); }
  report(seconds);
  end_all();
  CHECK(atomic_load(&slowest_ns) / 1000000 <= CALL_MOST_MS);
  print_nearest();
  return check_done();
}
