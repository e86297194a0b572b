/* test: timeout=60
   C++ new semantics: the new-handler is called, then bad_alloc; the nothrow forms return NULL. */
#include "api.h"

#include <new>

static int handler_calls;

static void give_up() { /* as a handler does that has nothing left to free */
  if (++handler_calls == 3) { std::set_new_handler(nullptr); }
}

static int destroyed;

struct counted {
  ~counted() { destroyed++; }
};

static void throw_own() {
  const counted local;
  throw 42;
}

template <class F>
static bool throws_bad_alloc(F allocate) {
  try {
    void* p = allocate();
    mi_free(p);
  } catch (const std::bad_alloc&) { return true; }
  return false;
}

/* Three calls of the handler, then bad_alloc, as it took itself away. */
template <class F>
static bool calls_handler(F allocate) {
  handler_calls = 0;
  std::set_new_handler(give_up);
  const bool threw = throws_bad_alloc(allocate);
  std::set_new_handler(nullptr);
  return threw && handler_calls == 3;
}

/* What the handler throws ends there, and what lay on its stack is destroyed. */
template <class F>
static bool ends_exception(F allocate) {
  destroyed = 0;
  std::set_new_handler(throw_own);
  const bool is_null = allocate() == nullptr;
  std::set_new_handler(nullptr);
  return is_null && destroyed == 1;
}

static void test_success() {
  void* p = mi_new(100);
  CHECK(p != nullptr && mi_usable_size(p) >= 100);
  mi_free(p);
  p = mi_new(0);
  CHECK(p != nullptr);
  mi_free(p);
  p = mi_new_aligned(100, 512);
  CHECK(is_aligned(p, 512));
  mi_free(p);
  p = mi_new_nothrow(100);
  CHECK(p != nullptr);
  mi_free(p);
  p = mi_new_aligned_nothrow(100, 512);
  CHECK(p != nullptr && is_aligned(p, 512));
  mi_free(p);
  p = mi_new_n(10, 20);
  CHECK(mi_usable_size(p) >= 200);
  fill(p, 200, 1);
  p = mi_new_realloc(p, 5000);
  CHECK(mi_usable_size(p) >= 5000 && is_filled(p, 200, 1));
  p = mi_new_reallocn(p, 100, 100);
  CHECK(mi_usable_size(p) >= 10000 && is_filled(p, 200, 1));
  mi_free(p);
  mi_heap_t* heap = mi_heap_new();
  p = mi_heap_alloc_new(heap, 100);
  CHECK(mi_heap_of(p) == heap);
  p = mi_heap_alloc_new_n(heap, 100, 10);
  CHECK(mi_heap_of(p) == heap && mi_usable_size(p) >= 1000);
  mi_heap_destroy(heap);
}

static void test_throws() {
  mi_heap_t* heap = mi_heap_new();
  CHECK(throws_bad_alloc([] { return mi_new(size_too_large()); }));
  CHECK(throws_bad_alloc([] { return mi_new_aligned(size_too_large(), 64); }));
  CHECK(throws_bad_alloc([] { return mi_new_n(count_overflowing(), 16); }));
  CHECK(throws_bad_alloc([] { return mi_new_realloc(nullptr, size_too_large()); }));
  CHECK(throws_bad_alloc([] { return mi_new_reallocn(nullptr, count_overflowing(), 16); }));
  CHECK(throws_bad_alloc([heap] { return mi_heap_alloc_new(heap, size_too_large()); }));
  CHECK(throws_bad_alloc([heap] { return mi_heap_alloc_new_n(heap, count_overflowing(), 16); }));
  mi_heap_delete(heap);
}

static void test_nothrow() {
  CHECK(mi_new_nothrow(size_too_large()) == nullptr);
  CHECK(mi_new_aligned_nothrow(size_too_large(), 64) == nullptr);
  handler_calls = 0;
  std::set_new_handler(give_up); /* is called by these too */
  CHECK(mi_new_nothrow(size_too_large()) == nullptr && handler_calls == 3);
  handler_calls = 0;
  std::set_new_handler(give_up);
  CHECK(mi_new_aligned_nothrow(size_too_large(), 64) == nullptr && handler_calls == 3);
  std::set_new_handler(nullptr);
  for (int i = 0; i < 3; i++) {
    CHECK(ends_exception([] { return mi_new_nothrow(size_too_large()); }));
    CHECK(ends_exception([] { return mi_new_aligned_nothrow(size_too_large(), 64); }));
  }
}

static void test_handler() {
  CHECK(calls_handler([] { return mi_new(size_too_large()); }));
  CHECK(calls_handler([] { return mi_new_aligned(size_too_large(), 64); }));
  CHECK(calls_handler([] { return mi_new_realloc(nullptr, size_too_large()); }));
  std::set_new_handler(throw_own);
  int thrown = 0;
  try {
    void* p = mi_new(size_too_large());
    mi_free(p);
  } catch (int n) { thrown = n; }
  CHECK(thrown == 42);
  std::set_new_handler(nullptr);
}

/* A failed reallocation leaves the block alone. */
static void test_failed_realloc() {
  void* p = mi_new(100);
  fill(p, 100, 1);
  CHECK(throws_bad_alloc([p] { return mi_new_realloc(p, size_too_large()); }));
  CHECK(throws_bad_alloc([p] { return mi_new_reallocn(p, count_overflowing(), 16); }));
  CHECK(is_filled(p, 100, 1));
  mi_free(p);
}

int main() {
  test_success();
  test_throws();
  test_nothrow();
  test_handler();
  test_failed_realloc();
  return check_done();
}
