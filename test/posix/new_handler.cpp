/* test: timeout=20 */
/* operator new without memory: the new-handler is called again and again until it helps, throws, or
   is gone; then bad_alloc is thrown. The nothrow forms return NULL where the others throw. */
#include "../check.h"

#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include <sys/resource.h>

static volatile size_t impossible = SIZE_MAX / 2 + 100;
static volatile size_t alignment = 64;
static int calls;

static void gives_up_after_five() {
  if (++calls == 5) { std::set_new_handler(nullptr); }
}
static void throws_at_once() {
  calls++;
  throw std::bad_alloc();
}
struct Own {};
static void throws_its_own() {
  calls++;
  throw Own();
}

template <class F>
static bool throws_bad_alloc(F f) {
  try {
    f();
  } catch (const std::bad_alloc&) { return true; }
  return false;
}

static void throwing_forms() {
  const std::align_val_t al{alignment};
  for (int with_handler = 0; with_handler < 2; with_handler++) {
    void (*handler)() = with_handler ? gives_up_after_five : nullptr;
    const int expected = with_handler ? 5 : 0;
    std::set_new_handler(handler), calls = 0;
    CHECK(throws_bad_alloc([] { return ::operator new(impossible); }) && calls == expected);
    std::set_new_handler(handler), calls = 0;
    CHECK(throws_bad_alloc([] { return ::operator new[](impossible); }) && calls == expected);
    std::set_new_handler(handler), calls = 0;
    CHECK(throws_bad_alloc([al] { return ::operator new(impossible, al); }) && calls == expected);
    std::set_new_handler(handler), calls = 0;
    CHECK(throws_bad_alloc([al] { return ::operator new[](impossible, al); }) && calls == expected);
  }
}

/* The nothrow forms call the handler too, and turn its bad_alloc into NULL. */
static void nothrow_forms() {
  const std::align_val_t al{alignment};
  void (*const handlers[])() = {nullptr, gives_up_after_five, throws_at_once};
  const int expected[] = {0, 5, 1};
  for (int i = 0; i < 3; i++) {
    std::set_new_handler(handlers[i]), calls = 0;
    CHECK(::operator new(impossible, std::nothrow) == nullptr&& calls == expected[i]);
    std::set_new_handler(handlers[i]), calls = 0;
    CHECK(::operator new[](impossible, std::nothrow) == nullptr&& calls == expected[i]);
    std::set_new_handler(handlers[i]), calls = 0;
    CHECK(::operator new(impossible, al, std::nothrow) == nullptr&& calls == expected[i]);
    std::set_new_handler(handlers[i]), calls = 0;
    CHECK(::operator new[](impossible, al, std::nothrow) == nullptr&& calls == expected[i]);
  }
}

static void other_exceptions_pass() {
  std::set_new_handler(throws_its_own), calls = 0;
  bool caught = false;
  try {
    ::operator delete(::operator new(impossible));
  } catch (const Own&) { caught = true; }
  CHECK(caught && calls == 1);
  std::set_new_handler(nullptr);
}

/* A handler that gives memory back makes the request succeed. */
static void* reserve;
static void releases_reserve() {
  calls++;
  if (reserve == nullptr) { std::set_new_handler(nullptr); }
  std::free(reserve);
  reserve = nullptr;
}
static void handler_that_helps() {
  struct rlimit old, tight;
  getrlimit(RLIMIT_AS, &old);
  const size_t big = size_t{400} << 20;
  reserve = std::malloc(big);
  CHECK(reserve != nullptr);
  FILE* f = std::fopen("/proc/self/statm", "r");
  long pages = 0;
  const bool known = f != nullptr && std::fscanf(f, "%ld", &pages) == 1;
  if (f != nullptr) { std::fclose(f); }
  if (!known) {
    std::free(reserve);
    return;
  }
  tight = old;
  tight.rlim_cur = static_cast<rlim_t>(pages) * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
  tight.rlim_cur += rlim_t{100} << 20;
  struct rlimit now = old; /* an emulator may take it and do nothing */
  if (setrlimit(RLIMIT_AS, &tight) != 0 || getrlimit(RLIMIT_AS, &now) != 0 ||
      now.rlim_cur != tight.rlim_cur) {
    std::free(reserve);
    return;
  }
  std::set_new_handler(releases_reserve), calls = 0;
  void* p = nullptr;
  const bool failed = throws_bad_alloc([&p] { return p = ::operator new(size_t{300} << 20); });
  setrlimit(RLIMIT_AS, &old);
  std::set_new_handler(nullptr);
  CHECK(!failed && p != nullptr && calls == 1);
  ::operator delete(p);
}

/* Array lengths that overflow never reach the allocator as a small number. */
static void array_overflow() {
  volatile size_t count = SIZE_MAX / sizeof(double) + 2;
  CHECK(throws_bad_alloc([&count] { return new double[count]; }));
}

int main() {
  throwing_forms();
  nothrow_forms();
  other_exceptions_pass();
  handler_that_helps();
  array_overflow();
  std::vector<std::string> after(1000, std::string(100, 'a')); /* all is well afterwards */
  CHECK(after[999].size() == 100);
  return check_done();
}
