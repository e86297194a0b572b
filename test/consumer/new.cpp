// C++: operator new by mimalloc-new-delete.h, the STL allocators, and an exception through mi_new.
#include <mimalloc-new-delete.h>
#include <mimalloc.h>

#include <new>
#include <vector>

#ifdef __cpp_aligned_new
enum { WIDE = 256 };
#else
enum { WIDE = 16 };
#endif
struct alignas(WIDE) wide_t {
  char c[WIDE];
};

static bool throws_bad_alloc() {
  try {
    mi_free(mi_new(PTRDIFF_MAX));
  } catch (const std::bad_alloc&) { return true; }
  return false;
}

int main() {
  int* volatile one = new int(1);
  wide_t* volatile wide = new wide_t[3];
  bool ok = mi_is_in_heap_region(one) && mi_is_in_heap_region(wide) &&
            reinterpret_cast<uintptr_t>(wide) % WIDE == 0;
  delete one;
  delete[] wide;
  std::vector<int, mi_stl_allocator<int>> numbers(1000, 7);
  ok = ok && mi_is_in_heap_region(numbers.data());
  return ok && throws_bad_alloc() ? 0 : 1;
}
