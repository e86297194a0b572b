/* test: timeout=60 cflags="-std=c++98"
   The header in C++98, and the allocator in a container of that time. */
#include <mimalloc.h>
#include <mimalloc-stats.h>

#include <cstdio>
#include <list>
#include <vector>

#ifdef MI_HAS_HEAP_STL_ALLOCATOR
#error "the allocators with heaps need C++11"
#endif

static int failures;
#define EXPECT(cond) ((cond) ? (void)0 : (void)(failures++, std::printf("failed: %s\n", #cond)))

int main() {
  std::vector<int, mi_stl_allocator<int> > v;
  std::list<double, mi_stl_allocator<double> > l;
  for (int i = 0; i < 1000; i++) {
    v.push_back(i);
    l.push_front(i);
  }
  EXPECT(v[999] == 999 && mi_any_heap_contains(&v[0]) && l.back() == 0);
  mi_stl_allocator<int> a;
  int* p = a.allocate(2, &v);
  a.construct(p, 5);
  EXPECT(*p == 5 && a.address(*p) == p && a.max_size() > 1000);
  a.destroy(p);
  a.deallocate(p, 2);
  mi_stl_allocator<void> none;
  EXPECT(mi_stl_allocator<int>(none) == a);
  return failures;
}
