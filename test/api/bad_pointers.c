/* test: timeout=60 when="release|debug threads posix"
   free and realloc of what is no block: each one is reported, changes no errno, and leaves the heap
   whole. docs/decisions/011 says what is noticed where. */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <sys/mman.h>

#include "api.h"

static const size_t sizes[] = {1,     16,    32,    48,     64,      80,     128,
                               200,   256,   640,   1024,   1040,    4096,   5120,
                               20000, 32768, 40000, 200000, 1 << 20, 5 << 20};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static struct {
  int reports, last;
} seen;

static void count_error(int err, void* arg) {
  (void)arg;
  seen.reports++;
  seen.last = err;
}

static bool is_reported(void* p, int wanted) {
  seen.reports = seen.last = 0;
  errno = 4711;
  mi_free(p);
  const bool said = seen.reports == 1 && (seen.last == wanted || wanted == 0) && errno == 4711;
  if (!said) { fprintf(stderr, "free of %p: %d reports, error %d\n", p, seen.reports, seen.last); }
  return said;
}

static char output[1 << 10];
static size_t output_bytes;

static void keep_output(const char* text, void* arg) {
  const size_t bytes = strlen(text);
  (void)arg;
  if (output_bytes + bytes >= sizeof(output)) { return; }
  memcpy(output + output_bytes, text, bytes + 1);
  output_bytes += bytes;
}

static bool realloc_is_refused(void* p) {
  seen.reports = 0;
  errno = 0;
  return mi_realloc(p, 100) == NULL && seen.reports == 1 && errno == EINVAL;
}

static void* at(void* p, size_t bytes) { return (char*)p + bytes; }

static void* with_bit(void* p, unsigned bit) {
  return (void*)((uintptr_t)p | (uintptr_t)(sizeof(p) == 8) << (bit % (8 * sizeof(p))));
}

/* ---- the heap is whole: what is live keeps its contents, and what comes is apart ---- */

enum { BLOCKS = 24 };

typedef struct {
  size_t size;
  unsigned char* blocks[BLOCKS];
} set_t;

static unsigned char mark_of(const set_t* set, int i) { return (unsigned char)(i * 7 + set->size); }

static void set_fill(set_t* set, int from) {
  for (int i = from; i < BLOCKS; i++) {
    set->blocks[i] = mi_malloc(set->size);
    memset(set->blocks[i], mark_of(set, i), set->size);
  }
}

static bool set_is_whole(const set_t* set) {
  for (int i = 0; i < BLOCKS; i++) {
    for (size_t j = 0; j < set->size; j++) {
      if (set->blocks[i][j] != mark_of(set, i)) { return false; }
    }
  }
  return true;
}

static void set_free(set_t* set) {
  for (int i = 0; i < BLOCKS; i++) { mi_free(set->blocks[i]); }
}

/* ---- misuses against one block ---- */

/* Inside the block; where the class is not a power of two, a multiple of it is noticed later. */
static void free_inside(void* p, size_t size, bool exact) {
  const size_t usable = mi_usable_size(p), unit = usable & (0 - usable);
  CHECK(is_reported(at(p, 1), EINVAL));
  CHECK(is_reported(at(p, 8), EINVAL));
  if (unit > 1) { CHECK(is_reported(at(p, unit / 2), EINVAL)); }
  if (size > 16) { CHECK(realloc_is_refused(at(p, 16))); }
  if (exact && usable > unit) { CHECK(is_reported(at(p, unit), EINVAL)); }
}

static void free_beyond_addresses(void* p) {
  if (sizeof(p) != 8) { return; }
  for (unsigned bit = 48; bit < 64; bit++) { CHECK(is_reported(with_bit(p, bit), EINVAL)); }
  CHECK(realloc_is_refused(with_bit(p, 63)));
}

/* A long block is gone by then, or was set aside. */
static void free_twice(void* p, size_t size) {
  mi_free(p);
  CHECK(is_reported(p, size <= 32768 ? EAGAIN : 0));
}

static void misuses(set_t* set, bool exact) {
  free_inside(set->blocks[5], set->size, exact || set->size > 32768);
  free_beyond_addresses(set->blocks[5]);
  CHECK(set_is_whole(set));
  for (int i = BLOCKS - 2; i < BLOCKS; i++) { free_twice(set->blocks[i], set->size); }
  set_fill(set, BLOCKS - 2);
  CHECK(set_is_whole(set));
}

static void test_own(size_t size) {
  set_t set = {.size = size};
  set_fill(&set, 0);
  misuses(&set, false);
  set_free(&set);
}

static void* misuses_of_thread(void* set) {
  misuses(set, true);
  return NULL;
}

/* The page belongs to a thread that waits. */
static void test_others(size_t size) {
  set_t set = {.size = size};
  pthread_t thread;
  set_fill(&set, 0);
  CHECK(pthread_create(&thread, NULL, misuses_of_thread, &set) == 0);
  pthread_join(thread, NULL);
  CHECK(set_is_whole(&set));
  set_free(&set);
}

/* Full pages are nobody's: the first free makes one its own, or sets the block aside. */
static void test_full(size_t size) {
  enum { MANY = 6000 };
  static unsigned char* many[MANY];
  if (size > 20000) { return; }
  for (int i = 0; i < MANY; i++) { many[i] = mi_malloc(size); }
  for (int i = 0; i < MANY; i += 500) {
    CHECK(is_reported(at(many[i], 1), EINVAL));
    free_twice(many[i], size);
    many[i] = mi_malloc(size);
    memset(many[i], 1, size);
  }
  for (int i = 0; i < MANY; i++) { mi_free(many[i]); }
}

/* Where a large block was, a larger one is now: an address inside it is no block that was freed. */
static void test_large_over_others(void) {
  enum { OLD = 16, BYTES = 2 << 20, NOW = 16 << 20 };
  char* old[OLD];
  for (int i = 0; i < OLD; i++) { old[i] = mi_malloc(BYTES); }
  for (int i = 0; i < OLD; i++) { mi_free(old[i]); }
  mi_collect(true);
  char* now = mi_malloc(NOW);
  for (int i = 0; i < OLD; i++) {
    if (old[i] > now && old[i] < now + NOW) { CHECK(is_reported(old[i], EINVAL)); }
  }
  mi_option_enable(mi_option_show_errors);
  mi_register_output(keep_output, NULL);
  CHECK(is_reported(now + NOW / 2, EINVAL));
  mi_register_output(NULL, NULL);
  mi_option_disable(mi_option_show_errors);
  CHECK(strstr(output, "which is inside a block of ") != NULL);
  mi_free(now);
}

/* ---- what is no memory of the allocator ---- */

static int in_data = 1;

static void test_foreign(void) {
  int on_stack = 1;
  char* none = mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char* mapped = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void* const bad[] = {&on_stack,
                       &in_data,
                       (void*)(uintptr_t)"text",
                       (void*)(uintptr_t)&test_foreign,
                       none,
                       none + 4096,
                       mapped,
                       mapped + 16,
                       (void*)(uintptr_t)1,
                       (void*)(uintptr_t)8,
                       (void*)(uintptr_t)4096,
                       (void*)UINTPTR_MAX,
                       (void*)(UINTPTR_MAX - 15),
                       (void*)(UINTPTR_MAX / 2 + 1),
                       (void*)(UINTPTR_MAX - ((uintptr_t)1 << 30))};
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
    CHECK(is_reported(bad[i], EINVAL));
    CHECK(realloc_is_refused(bad[i]));
    CHECK(mi_usable_size(bad[i]) == 0);
  }
  munmap(none, 1 << 20);
  CHECK(is_reported(none, EINVAL));
  munmap(mapped, 1 << 20);
  seen.reports = 0;
  mi_free(NULL);
  CHECK(seen.reports == 0);
}

int main(void) {
  mi_option_disable(mi_option_show_errors);
  mi_register_error(count_error, NULL);
  test_foreign();
  test_large_over_others();
  for (int i = 0; i < SIZES; i++) {
    test_own(sizes[i]);
    test_others(sizes[i]);
    test_full(sizes[i]);
  }
  return check_done();
}
