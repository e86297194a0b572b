/* test: when=override timeout=20 */
// A program that replaces new and delete with an alignment alone, by a pool: see new_replaced.h.
#include "new_replaced.h"

void* operator new(size_t size, std::align_val_t alignment) {
  return pool_take(size, static_cast<size_t>(alignment));
}
void operator delete(void* p, std::align_val_t) noexcept { pool_give(p); }

int main() {
  void* p[MOST];
  for (int way = 0; way < FORMS; way++) {
    const int n = take_aligned(p, std::align_val_t(256));
    for (int i = 0; i < n; i++) {
      CHECK(is_in_pool(p[i]));
      give_aligned(p[i], way, std::align_val_t(256));
    }
    const int m = take_plain(p);
    for (int i = 0; i < m; i++) {
      CHECK(!is_in_pool(p[i]));
      give_plain(p[i], way);
    }
  }
  struct alignas(128) wide {
    char bytes[200];
    ~wide() { bytes[0] = 0; }
  };
  delete new wide;
  delete[] new wide[3];
  CHECK(taken == given && taken > 0 && strangers == 0);
  pool_is_empty = true;
  CHECK(::operator new(SIZE, std::align_val_t(64), std::nothrow) == nullptr);
  CHECK(::operator new[](SIZE, std::align_val_t(64), std::nothrow) == nullptr);
  return check_done();
}
