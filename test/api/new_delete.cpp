/* test: timeout=60 when="release|debug|secure|guarded|tsan|valgrind|asan|ubsan"
   mimalloc-new-delete.h: every operator new and delete is this library's. */
#include "api.h"

#include <mimalloc-new-delete.h>
#include <memory>
#include <new>
#include <string>
#include <vector>

struct alignas(256) wide {
  char bytes[300];
};

static void* ours(void* p, size_t alignment) {
  CHECK(p != nullptr && mi_any_heap_contains(p) && is_aligned(p, alignment));
  return p;
}

static void test_operators() {
  const std::size_t size = 100;
  const std::align_val_t alignment = std::align_val_t(512);
  ::operator delete(ours(::operator new(size), 16));
  ::operator delete(ours(::operator new(size), 16), size);
  ::operator delete[](ours(::operator new[](size), 16));
  ::operator delete[](ours(::operator new[](size), 16), size);
  ::operator delete(ours(::operator new(size, std::nothrow), 16), std::nothrow);
  ::operator delete[](ours(::operator new[](size, std::nothrow), 16), std::nothrow);
  ::operator delete(ours(::operator new(size, alignment), 512), alignment);
  ::operator delete(ours(::operator new(size, alignment), 512), size, alignment);
  ::operator delete[](ours(::operator new[](size, alignment), 512), alignment);
  ::operator delete[](ours(::operator new[](size, alignment), 512), size, alignment);
  ::operator delete(ours(::operator new(size, alignment, std::nothrow), 512), alignment,
                    std::nothrow);
  ::operator delete[](ours(::operator new[](size, alignment, std::nothrow), 512), alignment,
                      std::nothrow);
  ::operator delete(nullptr);
  ::operator delete[](nullptr);
}

static void test_expressions() {
  std::unique_ptr<int> i(new int(5));
  std::unique_ptr<wide> w(new wide);
  std::unique_ptr<wide[]> many(new wide[7]);
  ours(i.get(), 4);
  ours(w.get(), 256);
  ours(&many[0], 256);
  std::vector<std::string> v;
  for (int k = 0; k < 1000; k++) {
    v.push_back("a string that is too long to be kept inside the object itself");
  }
  ours(v.data(), 8);
  ours(&v[999][0], 8);
  ours(std::make_shared<double>(1.0).get(), 8);
}

static void test_failure() {
  bool threw = false;
  try {
    ::operator delete(::operator new(size_too_large()));
  } catch (const std::bad_alloc&) { threw = true; }
  CHECK(threw);
  CHECK(::operator new(size_too_large(), std::nothrow) == nullptr);
  CHECK(::operator new(size_too_large(), std::align_val_t(64), std::nothrow) == nullptr);
}

/* What a new-handler throws is the caller's where new may throw, and NULL where it may not. */
static void test_handler_that_throws() {
  const std::align_val_t alignment = std::align_val_t(64);
  int thrown = 0;
  std::set_new_handler([] { throw 42; });
  CHECK(::operator new(size_too_large(), std::nothrow) == nullptr);
  CHECK(::operator new[](size_too_large(), std::nothrow) == nullptr);
  CHECK(::operator new(size_too_large(), alignment, std::nothrow) == nullptr);
  CHECK(::operator new[](size_too_large(), alignment, std::nothrow) == nullptr);
  try {
    ::operator delete(::operator new(size_too_large()));
  } catch (int n) { thrown = n; }
  CHECK(thrown == 42);
  std::set_new_handler(nullptr);
}

int main() {
  test_operators();
  test_expressions();
  test_failure();
  test_handler_that_throws();
  return check_done();
}
