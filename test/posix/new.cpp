/* test: timeout=20 */
/* operator new and delete: every replaceable form hands out a usable block and its partner takes it
   back. */
#include "../check.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

extern "C" size_t malloc_usable_size(void*) noexcept;

static bool aligned_to(void* p, size_t alignment) {
  return (reinterpret_cast<uintptr_t>(p) & (alignment - 1)) == 0;
}

static void* use(void* p, size_t size) {
  CHECK(p != nullptr);
  std::memset(p, 0x3c, size);
  CHECK(malloc_usable_size(p) >= size);
  return p;
}

static void plain_forms() {
  for (size_t n = 0; n < 3000000; n = n * 3 + 1) {
    ::operator delete(use(::operator new(n), n));
    ::operator delete(use(::operator new(n), n), n);
    ::operator delete(use(::operator new(n), n), std::nothrow);
    ::operator delete(use(::operator new(n, std::nothrow), n));
    ::operator delete(use(::operator new(n, std::nothrow), n), std::nothrow);
    ::operator delete[](use(::operator new[](n), n));
    ::operator delete[](use(::operator new[](n), n), n);
    ::operator delete[](use(::operator new[](n), n), std::nothrow);
    ::operator delete[](use(::operator new[](n, std::nothrow), n));
    ::operator delete[](use(::operator new[](n, std::nothrow), n), std::nothrow);
  }
}

static void* use_aligned(void* p, size_t size, size_t alignment) {
  CHECK(aligned_to(p, alignment));
  return use(p, size);
}

static void aligned_forms() {
  for (size_t a = 1; a <= (1u << 20); a *= 2) {
    const std::align_val_t al{a};
    for (size_t n = 0; n < 100000; n = n * 9 + 2) {
      ::operator delete(use_aligned(::operator new(n, al), n, a), al);
      ::operator delete(use_aligned(::operator new(n, al), n, a), n, al);
      ::operator delete(use_aligned(::operator new(n, al), n, a), al, std::nothrow);
      ::operator delete(use_aligned(::operator new(n, al, std::nothrow), n, a), al);
      ::operator delete(use_aligned(::operator new(n, al, std::nothrow), n, a), al, std::nothrow);
      ::operator delete[](use_aligned(::operator new[](n, al), n, a), al);
      ::operator delete[](use_aligned(::operator new[](n, al), n, a), n, al);
      ::operator delete[](use_aligned(::operator new[](n, al), n, a), al, std::nothrow);
      ::operator delete[](use_aligned(::operator new[](n, al, std::nothrow), n, a), al);
      ::operator delete[](use_aligned(::operator new[](n, al, std::nothrow), n, a), al,
                          std::nothrow);
    }
  }
}

static void null_is_nothing() {
  void* volatile none = nullptr;
  ::operator delete(none);
  ::operator delete(none, size_t{8});
  ::operator delete(none, std::nothrow);
  ::operator delete(none, std::align_val_t{64});
  ::operator delete(none, size_t{64}, std::align_val_t{64});
  ::operator delete(none, std::align_val_t{64}, std::nothrow);
  ::operator delete[](none);
  ::operator delete[](none, size_t{8});
  ::operator delete[](none, std::nothrow);
  ::operator delete[](none, std::align_val_t{64});
  ::operator delete[](none, size_t{64}, std::align_val_t{64});
  ::operator delete[](none, std::align_val_t{64}, std::nothrow);
}

static void zero_size_is_unique() {
  void* a = ::operator new(0);
  void* b = ::operator new(0);
  CHECK(a != nullptr && b != nullptr && a != b);
  ::operator delete(a);
  ::operator delete(b);
}

struct alignas(256) Wide {
  char byte[300];
};

struct Throws {
  Throws() { throw 1; }
  char byte[100];
};

/* What real code does with them: containers, smart pointers, over-aligned types, constructors that
   throw. */
static void in_use() {
  std::vector<std::string> words;
  std::map<std::string, size_t> index;
  for (int i = 0; i < 20000; i++) {
    words.push_back("a word that is too long to be stored in place " + std::to_string(i));
    index[words.back()] = words.size();
  }
  CHECK(index.size() == 20000 && index[words[777]] == 778);
  for (int i = 0; i < 100; i++) {
    std::unique_ptr<Wide> one(new Wide);
    std::unique_ptr<Wide[]> some(new Wide[7]);
    CHECK(aligned_to(one.get(), 256) && aligned_to(some.get(), 256));
    bool caught = false;
    try {
      new Throws;
    } catch (int) { caught = true; }
    CHECK(caught);
  }
  std::shared_ptr<std::string> crossing = std::make_shared<std::string>(1000, 'x');
  std::thread([p = std::move(crossing)] { CHECK(p->size() == 1000); }).join();
}

int main() {
  plain_forms();
  aligned_forms();
  null_is_nothing();
  zero_size_is_unique();
  in_use();
  return check_done();
}
