// Imports the library as a C++20 module: types, functions, options, allocators.
#include <map>
#include <memory_resource>
#include <utility>
#include <vector>

import mimalloc;

int main() {
  std::vector<int, mi_stl_allocator<int>> v(10, 1), copy(v);
  v.swap(copy);
  mi_heap_stl_allocator<int> one, another;
  std::map<int, int, std::less<int>, mi_heap_stl_allocator<std::pair<const int, int>>> m(one);
  m[5] = 6;
  mi_heap_memory_resource resource;
  std::pmr::vector<int> w(&resource);
  w.push_back(2);
  mi_option_set(mi_option_purge_delay, 5);
  void* p = mi_malloc(10);
  const bool ok = mi_is_in_heap_region(p) && mi_heap_of(w.data()) == resource.heap() &&
                  one != another && mi_option_get(mi_option_purge_delay) == 5 &&
                  mi_heap_of(&m[5]) != mi_heap_main() && v[9] + w[0] == 3;
  mi_free(p);
  return ok ? 0 : 1;
}
