/* test: when=override timeout=20 */
// A program that replaces plain new and delete alone, by a pool: see new_replaced.h.
#include "new_replaced.h"

void* operator new(size_t size) { return pool_take(size, 16); }
void operator delete(void* p) noexcept { pool_give(p); }

int main() {
  void* p[MOST];
  for (int way = 0; way < FORMS; way++) {
    const size_t before = given;
    const int n = take_plain(p);
    for (int i = 0; i < n; i++) {
      CHECK(is_in_pool(p[i]));
      give_plain(p[i], way);
    }
    CHECK(given == before + static_cast<size_t>(n));
  }
  struct large {
    char bytes[100];
    ~large() { bytes[0] = 0; }  // makes delete[] a sized one
  };
  delete new large;
  delete[] new large[3];
  CHECK(taken == given && strangers == 0);
  pool_is_empty = true;
  CHECK(::operator new(SIZE, std::nothrow) == nullptr);
  CHECK(::operator new[](SIZE, std::nothrow) == nullptr);
  bool threw = false;
  try {
    p[0] = ::operator new[](SIZE);
  } catch (const std::bad_alloc&) { threw = true; }
  CHECK(threw);
  // Those with an alignment are not the program's.
  for (int way = 0; way < FORMS; way++) {
    const int n = take_aligned(p, std::align_val_t(256));
    for (int i = 0; i < n; i++) {
      CHECK(p[i] != nullptr && !is_in_pool(p[i]));
      give_aligned(p[i], way, std::align_val_t(256));
    }
  }
  CHECK(taken == given && strangers == 0);
  return check_done();
}
