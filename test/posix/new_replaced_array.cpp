/* test: when=override timeout=20 */
// A program that replaces new[] and delete[] alone, by a pool: see new_replaced.h.
#include "new_replaced.h"

void* operator new[](size_t size) { return pool_take(size, 16); }
void operator delete[](void* p) noexcept { pool_give(p); }

int main() {
  for (int way = 1; way < FORMS; way += 2) { /* those of delete[] */
    void* p = ::operator new[](SIZE);
    void* q = ::operator new[](SIZE, std::nothrow);
    CHECK(is_in_pool(p) && is_in_pool(q));
    give_plain(p, way);
    give_plain(q, way);
    void* r = ::operator new(SIZE);
    void* s = ::operator new(SIZE, std::nothrow);
    CHECK(!is_in_pool(r) && !is_in_pool(s));
    give_plain(r, way - 1);
    give_plain(s, way - 1);
  }
  CHECK(taken == given && taken == 6 && strangers == 0);
  pool_is_empty = true;
  CHECK(::operator new[](SIZE, std::nothrow) == nullptr);
  return check_done();
}
