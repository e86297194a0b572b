/* All forms of new and delete in a program that the library is linked into: each block is ours, new
   without memory throws bad_alloc, the one without exceptions gives NULL, and the new-handler is
   asked. Where no package brings the compiler's C++ headers, what is needed of them is here.
   operators [handlers]        handlers: with those of the C runtime, which wine's does not ask */
#include <stdio.h>
#include <stdlib.h>

#ifdef __MINGW32__
#include <mimalloc.h>

#include <new>
#else
extern "C" bool mi_is_in_heap_region(const void* p);
extern "C" void* mi_new(size_t size);
extern "C" void* mi_new_n(size_t count, size_t size);
namespace std {
struct nothrow_t {};
extern const nothrow_t nothrow = {};
enum class align_val_t : size_t {};
class exception {
 public:
  virtual ~exception() {}
  virtual const char* what() const { return text; }

 private:
  const char* text = nullptr;
  bool owns = false;
};
class bad_alloc : public exception {};
}  // namespace std
void* operator new(size_t, const std::nothrow_t&) noexcept;
void* operator new[](size_t, const std::nothrow_t&) noexcept;
void operator delete(void*, const std::nothrow_t&) noexcept;
void operator delete[](void*, const std::nothrow_t&) noexcept;
void* operator new(size_t, std::align_val_t, const std::nothrow_t&) noexcept;
void* operator new[](size_t, std::align_val_t, const std::nothrow_t&) noexcept;
void operator delete(void*, std::align_val_t, const std::nothrow_t&) noexcept;
void operator delete[](void*, std::align_val_t, const std::nothrow_t&) noexcept;
#endif

static int failures;

static void expect(const char* what, bool condition) {
  if (condition) { return; }
  printf("failed: %s\n", what);
  failures++;
}

static void* ours(void* p, size_t alignment = 16) {
  expect("a block is ours", p != nullptr && mi_is_in_heap_region(p));
  expect("a block is aligned", reinterpret_cast<size_t>(p) % alignment == 0);
  return p;
}

static void test_forms() {
  const std::align_val_t wide{256};
  operator delete(ours(operator new(10)));
  operator delete(ours(operator new(10)), size_t{10});
  operator delete(ours(operator new(10, std::nothrow)), std::nothrow);
  operator delete[](ours(operator new[](10)));
  operator delete[](ours(operator new[](10)), size_t{10});
  operator delete[](ours(operator new[](10, std::nothrow)), std::nothrow);
  operator delete(ours(operator new(10, wide), 256), wide);
  operator delete(ours(operator new(10, wide), 256), size_t{10}, wide);
  operator delete(ours(operator new(10, wide, std::nothrow), 256), wide, std::nothrow);
  operator delete[](ours(operator new[](10, wide), 256), wide);
  operator delete[](ours(operator new[](10, wide), 256), size_t{10}, wide);
  operator delete[](ours(operator new[](10, wide, std::nothrow), 256), wide, std::nothrow);
  free(ours(malloc(10)));
}

static int destroyed;

struct Counts {
  ~Counts() { destroyed++; }
};

template <typename Allocate>
static void throws(const char* what, Allocate allocate) {
  int caught = 0;
  destroyed = 0;
  try {
    Counts counts;
    allocate();
  } catch (const std::bad_alloc& error) { caught = error.what() != nullptr ? 1 : 2; }
  expect(what, caught == 1 && destroyed == 1);
  caught = 0;
  try {
    allocate();
  } catch (const std::exception&) { caught = 1; }
  expect(what, caught == 1);
  caught = 0;
  try {
    allocate();
  } catch (...) { caught = 1; }
  expect(what, caught == 1);
}

static void test_no_memory() {
  static volatile size_t too_much = SIZE_MAX / 2 + 1;
  throws("new", [] { return operator new(too_much); });
  throws("new[]", [] { return operator new[](too_much); });
  throws("aligned new", [] { return operator new(too_much, std::align_val_t{64}); });
  throws("mi_new", [] { return mi_new(too_much); });
  throws("mi_new_n", [] { return mi_new_n(too_much, 4); });
  expect("nothrow", operator new(too_much, std::nothrow) == nullptr);
  expect("nothrow[]", operator new[](too_much, std::nothrow) == nullptr);
  expect("aligned nothrow", operator new(too_much, std::align_val_t{64}, std::nothrow) == nullptr);
}

static int asked;

#ifdef __MINGW32__
static void handler() {
  if (++asked == 3) { std::set_new_handler(nullptr); }
}
static void set_handler() { std::set_new_handler(handler); }
static void set_handler_that_throws() {
  std::set_new_handler([] {
    const Counts counts;
    throw 42;
  });
}
#else
typedef int handler_t(size_t size);
extern "C" handler_t* _set_new_handler(handler_t* handler);
extern "C" int _set_new_mode(int mode);
static int handler(size_t) {
  if (++asked == 3) { _set_new_handler(nullptr); }
  return 1;
}
static void set_handler() { _set_new_handler(handler); }
static void set_handler_that_throws() {
  _set_new_handler([](size_t) -> int {
    const Counts counts;
    throw 42;
  });
}
#endif

static void test_handler() {
  static volatile size_t too_much = SIZE_MAX / 2 + 1;
  asked = 0;
  set_handler();
  int caught = 0;
  try {
    operator new(too_much);
  } catch (const std::bad_alloc&) { caught = 1; }
  expect("the new-handler is asked until there is none", asked == 3 && caught == 1);
  asked = 0;
  set_handler();
  expect("nothrow asks it", operator new(too_much, std::nothrow) == nullptr&& asked == 3);
#ifndef __MINGW32__
  asked = 0;
  set_handler();
  expect("malloc does not ask it", malloc(too_much) == nullptr && asked == 0);
  _set_new_mode(1);
  expect("malloc asks it if it is told so", malloc(too_much) == nullptr && asked == 3);
  _set_new_mode(0);
#endif
  destroyed = 0;
  set_handler_that_throws();
  for (int i = 1; i <= 3; i++) {
    const bool is_null = operator new(too_much, std::nothrow) == nullptr;
    expect("what a new-handler throws ends in nothrow", is_null && destroyed == i);
  }
  caught = 0;
  try {
    operator new(too_much);
  } catch (int) { caught = 1; }
  expect("what a new-handler throws goes through new", caught == 1 && destroyed == 4);
}

int main(int argc, char**) {
  test_forms();
  test_no_memory();
  if (argc > 1) { test_handler(); }
  return failures != 0;
}
