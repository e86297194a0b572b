/* test: timeout=60 env="MIMALLOC_PURGE_DELAY=0"
   Arenas: reserved, given, with a commit callback, exclusive; what is in which; huge page
   reservations may fail. */
#include "../system.h"
#include "api.h"

static void test_limits(void) {
  const size_t alignment = mi_arena_min_alignment();
  const size_t size = mi_arena_min_size();
  CHECK(alignment != 0 && (alignment & (alignment - 1)) == 0);
  CHECK(size != 0 && size <= 64 * MIB);
  void* p = malloc(1);
  CHECK(mi_is_redirected() == mi_any_heap_contains(p));
  free(p);
}

static void use_arena(mi_arena_id_t arena) {
  size_t size = 0;
  char* start = mi_arena_area(arena, &size);
  CHECK(start != NULL && size >= 16 * MIB);
  mi_heap_t* h = mi_heap_new_in_arena(arena);
  CHECK(h != NULL);
  static const size_t sizes[] = {8, 1000, 40000, 3 * MIB};
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
    char* p = mi_heap_zalloc(h, sizes[i]);
    CHECK(p != NULL && is_zero(p, sizes[i]));
    CHECK(p != NULL && p >= start && p + sizes[i] <= start + size);
    CHECK(mi_arena_contains(arena, p) && mi_is_in_heap_region(p));
    memset(p, 0xDD, sizes[i]);
    mi_free(p);
    char* q = mi_heap_zalloc(h, sizes[i]);
    CHECK(q != NULL && is_zero(q, sizes[i]));
    memset(q, 0xDD, sizes[i]); /* stays for destroy */
  }
  int local = 0;
  CHECK(!mi_arena_contains(arena, &local) && !mi_arena_contains(arena, NULL));
  mi_heap_destroy(h);
}

static void test_reserve(void) {
  CHECK(mi_reserve_os_memory(16 * MIB, false, false) == 0);
  CHECK(mi_reserve_os_memory(16 * MIB, true, true) == 0); /* large OS pages where there are any */
  mi_arena_id_t shared = NULL;
  CHECK(mi_reserve_os_memory_ex(16 * MIB, true, false, false, &shared) == 0 && shared != NULL);
  use_arena(shared);
  mi_arena_id_t exclusive = NULL;
  CHECK(mi_reserve_os_memory_ex(16 * MIB, false, false, true, &exclusive) == 0 &&
        exclusive != shared);
  use_arena(exclusive);
  void* p = mi_malloc(100000);
  CHECK(!mi_arena_contains(exclusive, p));
  mi_free(p);
  CHECK(mi_reserve_os_memory(size_too_large(), false, false) != 0);
  mi_arena_id_t none = NULL;
  CHECK(mi_reserve_os_memory_ex(size_too_large(), false, false, true, &none) != 0);
}

static char* map_aligned(size_t size) {
  const size_t alignment = mi_arena_min_alignment();
  char* p = os_memory(size + alignment);
  CHECK(p != NULL);
  return p + (alignment - ((uintptr_t)p & (alignment - 1)));
}

static void test_manage(void) {
  char* zero = map_aligned(32 * MIB);
  mi_arena_id_t arena = NULL;
  CHECK(mi_manage_os_memory_ex(zero, 32 * MIB, true, false, true, -1, true, &arena) &&
        arena != NULL);
  use_arena(arena);
  size_t size = 0;
  char* start = mi_arena_area(arena, &size);
  CHECK(start >= zero && start + size <= zero + 32 * MIB);
  char* dirty = map_aligned(32 * MIB);
  memset(dirty, 0xA5, 32 * MIB);
  CHECK(mi_manage_os_memory_ex(dirty, 32 * MIB, true, true, false, 0, true, &arena));
  use_arena(arena); /* not zero when given, zero when asked for */
  char* shared = map_aligned(32 * MIB);
  CHECK(mi_manage_os_memory(shared, 32 * MIB, true, false, true, -1));
  CHECK(!mi_manage_os_memory(NULL, 32 * MIB, true, false, true, -1));
  CHECK(!mi_manage_os_memory(shared, 32 * MIB, true, false, true, -1)); /* it is an arena's */
  CHECK(!mi_manage_os_memory(shared + 8 * MIB, 8 * MIB, true, false, true, -1));
  static char tiny[4096];
  CHECK(!mi_manage_os_memory(tiny, sizeof(tiny), true, false, true, -1)); /* under the least size */
}

enum { GIVEN = 32 * 1024 * 1024 };

typedef struct {
  char* start;
  size_t commits, decommits, committed_bytes;
  bool refuse, outside;
} given_t;

/* Commits memory full of rubbish, and says that it is not zero. */
static bool commit_given(bool commit, void* start, size_t size, bool* is_zero_out, void* arg) {
  given_t* g = arg;
  g->outside = g->outside || (char*)start < g->start || (char*)start + size > g->start + GIVEN;
  if (!commit) {
    g->decommits++;
    return os_memory_seal(start, size, true);
  }
  if (g->refuse || !os_memory_seal(start, size, false)) { return false; }
  g->commits++;
  g->committed_bytes += size;
  memset(start, 0xA5, size);
  if (is_zero_out != NULL) { *is_zero_out = false; }
  return true;
}

static void test_commit_callback(void) {
  given_t g = {.start = map_aligned(GIVEN)};
  CHECK(os_memory_seal(g.start, GIVEN, true));
  mi_arena_id_t arena = NULL;
  CHECK(mi_manage_memory(g.start, GIVEN, false, false, false, -1, true, commit_given, &g, &arena));
  use_arena(arena);
  CHECK(g.commits > 0 && g.committed_bytes < GIVEN); /* as needed, not whole */
  mi_collect(true);
  CHECK(g.decommits > 0 || TEST_SMALL); /* where memory only grows that does not decommit */
  mi_heap_t* h = mi_heap_new_in_arena(arena);
  for (int i = 0; i < 20; i++) {
    const size_t size = 1 + (size_t)i * 60000;
    char* p = mi_heap_zalloc(h, size);
    CHECK(p != NULL && is_zero(p, size));
    memset(p, 0xDD, size);
    mi_free(p);
    mi_heap_collect(h, true);
  }
  mi_heap_destroy(h);
  CHECK(!g.outside);
}

/* Addresses beyond the map's 48 bits, as with five levels of page tables: refused, not touched. */
static void test_high_addresses(void) {
  if (sizeof(void*) < 8) { return; }
  for (unsigned bits = 48; bits < 57; bits++) {
    void* high = (void*)(uintptr_t)((uint64_t)1 << bits);
    void* end = (char*)high - 16 * MIB; /* half of it within reach */
    mi_arena_id_t arena = NULL;
    CHECK(!mi_manage_os_memory_ex(high, 32 * MIB, true, false, true, -1, true, &arena));
    CHECK(arena == NULL);
    if (bits == 48) { CHECK(!mi_manage_os_memory(end, 32 * MIB, true, false, true, -1)); }
  }
}

/* A function that does nothing, and so says nothing of zero. */
static bool commit_nothing(bool commit, void* start, size_t size, bool* is_zero, void* arg) {
  (void)commit, (void)start, (void)size, (void)is_zero, (void)arg;
  return true;
}

static void test_commit_is_not_zero(void) {
  char* mine = map_aligned(GIVEN);
  mi_arena_id_t arena = NULL;
  memset(mine, 0xA5, GIVEN);
  CHECK(mi_manage_memory(mine, GIVEN, false, false, false, -1, true, commit_nothing, NULL, &arena));
  mi_heap_t* h = mi_heap_new_in_arena(arena);
  for (int i = 0; i < 10; i++) {
    const size_t size = i % 2 == 0 ? 3 * MIB : 5000;
    char* p = mi_heap_zalloc(h, size);
    CHECK(p != NULL && is_zero(p, size));
    memset(p, 0xDD, size);
    mi_free(p);
    mi_heap_collect(h, true);
  }
  mi_heap_destroy(h);
}

/* Reserved by the program and committed by the library: zero or not as the program says. */
static void test_commit_by_os(void) {
  for (int zero = 0; zero < 2; zero++) {
    char* mine = map_aligned(GIVEN);
    mi_arena_id_t arena = NULL;
    if (zero == 0) { memset(mine, 0xA5, GIVEN); }
    CHECK(os_memory_seal(mine, GIVEN, true));
    CHECK(mi_manage_os_memory_ex(mine, GIVEN, false, false, zero == 1, -1, true, &arena));
    use_arena(arena);
    mi_heap_t* h = mi_heap_new_in_arena(arena);
    char* p = mi_heap_zalloc(h, 20 * MIB);
    CHECK(p != NULL && is_zero(p, 20 * MIB));
    mi_heap_destroy(h);
  }
}

static void test_commit_refused(void) {
  given_t g = {.start = map_aligned(GIVEN)};
  CHECK(os_memory_seal(g.start, GIVEN, true));
  mi_arena_id_t arena = NULL;
  CHECK(mi_manage_memory(g.start, GIVEN, false, false, true, -1, true, commit_given, &g, &arena));
  mi_heap_t* h = mi_heap_new_in_arena(arena);
  CHECK(h != NULL);
  g.refuse = true;
  CHECK_ERRNO(mi_heap_malloc(h, 10 * MIB) == NULL, ENOMEM);
  g.refuse = false;
  void* p = mi_heap_malloc(h, 10 * MIB);
  CHECK(p != NULL && mi_arena_contains(arena, p));
  mi_heap_destroy(h);
}

/* The machine may or may not have 1 GiB pages: an error number or memory, and the program goes on.
 */
static void test_huge_pages(void) {
  CHECK(mi_reserve_huge_os_pages_interleave(0, 0, 100) == 0);
  CHECK(mi_reserve_huge_os_pages_at(0, -1, 100) == 0);
  CHECK(mi_reserve_huge_os_pages_interleave(1, 1, 200) >= 0);
  CHECK(mi_reserve_huge_os_pages_at(1, 0, 200) >= 0);
  mi_arena_id_t arena = NULL;
  const int error = mi_reserve_huge_os_pages_at_ex(1, 0, 200, true, &arena);
  CHECK(error != 0 || arena != NULL);
  size_t reserved = 99;
  const int legacy = mi_reserve_huge_os_pages(1, 0.2, &reserved);
  CHECK(legacy == 0 ? reserved == 1 : reserved == 0);
  void* p = mi_malloc(1000);
  CHECK(p != NULL);
  mi_free(p);
}

static void count_text(const char* message, void* arg) { *(size_t*)arg += strlen(message); }

static void test_prints(void) {
  size_t length = 0;
  mi_register_output(count_text, &length);
  length = 0;
  mi_arenas_print();
  CHECK(length > 0);
  length = 0;
  mi_debug_show_arenas();
  CHECK(length > 0);
  mi_register_output(NULL, NULL);
}

int main(void) {
  test_limits();
  test_reserve();
  test_manage();
  test_commit_callback();
  test_high_addresses();
  test_commit_is_not_zero();
  test_commit_by_os();
  test_commit_refused();
  test_huge_pages();
  test_prints();
  return check_done();
}
