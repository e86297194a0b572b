/* test: timeout=60
   The three STL allocators, in the containers. */
#include "api.h"

#include <list>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

template <template <class> class Allocator>
static void use_containers(const Allocator<int>& allocator) {
  std::vector<int, Allocator<int>> v(allocator);
  for (int i = 0; i < 10000; i++) { v.push_back(i); }
  CHECK(v.size() == 10000 && v[9999] == 9999 && mi_any_heap_contains(v.data()));
  std::vector<int, Allocator<int>> copy(v);
  std::vector<int, Allocator<int>> moved(std::move(copy));
  CHECK(moved == v);
  copy = moved;
  CHECK(copy == v);
  copy.swap(moved);
  copy.clear();
  copy.shrink_to_fit();

  typedef std::pair<const int, double> entry;
  std::map<int, double, std::less<int>, Allocator<entry>> m{std::less<int>(),
                                                            Allocator<entry>(allocator)};
  std::unordered_map<int, double, std::hash<int>, std::equal_to<int>, Allocator<entry>> u(
      10, std::hash<int>(), std::equal_to<int>(), Allocator<entry>(allocator));
  std::list<int, Allocator<int>> l(allocator);
  for (int i = 0; i < 2000; i++) {
    m[i * 7 % 2000] = i;
    u[i * 7 % 2000] = i;
    l.push_front(i);
  }
  CHECK(m.size() == 2000 && u.size() == 2000 && l.size() == 2000);
  for (int i = 0; i < 2000; i += 2) {
    m.erase(i);
    u.erase(i);
    l.pop_back();
  }
  CHECK(m.size() == 1000 && m.begin()->first == 1 && u.size() == 1000 && l.front() == 1999);
  l.sort();
  CHECK(l.front() == 1000);
  std::basic_string<char, std::char_traits<char>, Allocator<char>> s{Allocator<char>(allocator)};
  for (int i = 0; i < 1000; i++) { s += "text "; }
  CHECK(s.size() == 5000 && mi_any_heap_contains(s.data()));
}

struct alignas(128) wide {
  char bytes[128];
};

template <template <class> class Allocator>
static void use_aligned() {
  std::vector<wide, Allocator<wide>> v;
  for (int i = 0; i < 100; i++) {
    v.emplace_back();
    CHECK(is_aligned(v.data(), 128));
  }
}

static void test_plain() {
  use_containers<mi_stl_allocator>(mi_stl_allocator<int>());
  use_aligned<mi_stl_allocator>();
  CHECK(mi_stl_allocator<int>() == mi_stl_allocator<double>());
  CHECK(!(mi_stl_allocator<int>() != mi_stl_allocator<double>()));
}

/* A heap of its own is deleted with the last copy; a given one stays. */
template <template <class> class Allocator>
static void test_heap() {
  Allocator<int> own;
  use_containers<Allocator>(own);
  use_aligned<Allocator>();
  Allocator<int> other;
  Allocator<double> rebound(own);
  CHECK(own == rebound && !(own != rebound) && own != other);
  int* p = own.allocate(10);
  int* q = other.allocate(10);
  CHECK(mi_heap_of(p) != mi_heap_main() && mi_heap_of(p) != mi_heap_of(q));
  own.deallocate(p, 10);
  other.deallocate(q, 10);

  mi_heap_t* given = mi_heap_new();
  {
    Allocator<int> in_given(given);
    use_containers<Allocator>(in_given);
    p = in_given.allocate(10);
    CHECK(mi_heap_of(p) == given);
    *p = 5;
  }
  CHECK(mi_heap_of(p) == given && *p == 5); /* the heap outlived its allocators */
  mi_free(p);
  mi_heap_destroy(given);
}

/* What C++98 asks of an allocator, and what mimalloc's have besides. */
template <template <class> class Allocator>
static void test_members() {
  Allocator<long> a;
  const Allocator<long> b = a.select_on_container_copy_construction();
  CHECK(a == b);
  long* p = a.allocate(3, nullptr);
  const long value = 7;
  a.construct(p, value);
  CHECK(*p == 7 && a.address(*p) == p && a.address(value) == &value);
  a.destroy(p);
  a.deallocate(p);
  typename Allocator<long>::template rebind<char>::other rebound(a);
  char* q = rebound.allocate(1);
  rebound.deallocate(q, 1);
  typedef Allocator<long> allocator;
  CHECK((std::is_same<typename allocator::reference, long&>::value));
  CHECK((std::is_same<typename allocator::const_pointer, const long*>::value));
  typedef std::allocator_traits<Allocator<void>> of_void;
  CHECK((std::is_same<typename of_void::value_type, void>::value));
}

template <template <class> class Allocator>
static void test_heap_members() {
  Allocator<int> a, b;
  Allocator<char> c(a);
  CHECK(a.is_equal(c) && !a.is_equal(b));
  a.deallocate(a.allocate(100), 100);
  a.collect(true);
}

static void test_delete_keeps_blocks() {
  int* p = nullptr;
  {
    mi_heap_stl_allocator<int> a;
    p = a.allocate(100);
    p[99] = 77;
  }
  CHECK(mi_heap_of(p) == mi_heap_main() && p[99] == 77);
  mi_free(p);
}

/* deallocate does nothing, and all goes with the heap: rounds of 10 MiB leave nothing behind. */
static void test_destroy_frees() {
  size_t before = 0;
  for (int round = 0; round < 100; round++) {
    std::list<int, mi_heap_destroy_stl_allocator<int>> l;
    for (int i = 0; i < 200000; i++) {
      l.push_back(i);
      if (i % 2 == 1) { l.pop_front(); }
    }
    if (round == 5) { before = resident_bytes(); }
  }
  CHECK(resident_bytes() < before + 64 * MIB);
}

static void test_too_many() {
  bool threw = false;
  try {
    mi_stl_allocator<long double> a;
    a.deallocate(a.allocate(count_overflowing()), 1);
  } catch (const std::bad_alloc&) { threw = true; }
  CHECK(threw);
  CHECK(mi_stl_allocator<int>().max_size() <= size_too_large() / sizeof(int));
}

#ifndef MI_HAS_HEAP_STL_ALLOCATOR
#error "the allocators with heaps are there from C++11 on"
#endif

int main() {
  test_plain();
  test_heap<mi_heap_stl_allocator>();
  test_heap<mi_heap_destroy_stl_allocator>();
  test_members<mi_stl_allocator>();
  test_members<mi_heap_stl_allocator>();
  test_members<mi_heap_destroy_stl_allocator>();
  test_heap_members<mi_heap_stl_allocator>();
  test_heap_members<mi_heap_destroy_stl_allocator>();
  test_delete_keeps_blocks();
  test_destroy_frees();
  test_too_many();
  return check_done();
}
