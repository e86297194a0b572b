/* test: timeout=60
   The memory resources, in the containers of std::pmr. */
#include "api.h"

#if !defined(MI_HAS_MEMORY_RESOURCE)
int main() { return 0; }
#else
#include <map>
#include <memory_resource>
#include <new>
#include <string>
#include <vector>

static void use_containers(std::pmr::memory_resource* resource, mi_heap_t* heap) {
  std::pmr::vector<int> v(resource);
  std::pmr::map<int, std::pmr::string> m(resource);
  for (int i = 0; i < 10000; i++) { v.push_back(i); }
  for (int i = 0; i < 1000; i++) { m[i] = "a text that is too long for the object itself"; }
  CHECK(v[9999] == 9999 && mi_heap_of(v.data()) == heap);
  CHECK(m.size() == 1000 && mi_heap_of(m[5].data()) == heap && mi_heap_of(&m[5]) == heap);
  std::pmr::vector<int> copy(v, resource);
  std::pmr::vector<int> moved(std::move(copy), resource);
  CHECK(moved == v);
}

/* Sizes below their alignment as well; no size at all. */
static void use_directly(std::pmr::memory_resource* resource, mi_heap_t* heap) {
  for (size_t alignment = 1; alignment <= 65536; alignment *= 2) {
    for (size_t size = 0; size < 3000; size = size * 2 + 1) {
      void* p = resource->allocate(size, alignment);
      void* q = resource->allocate(size, alignment);
      CHECK(p != q && is_aligned(p, alignment) && is_aligned(q, alignment));
      CHECK(mi_heap_of(p) == heap && mi_usable_size(p) >= size);
      resource->deallocate(p, size, alignment);
      resource->deallocate(q, size, alignment);
    }
  }
}

static int handled;
static void give_up() {
  handled++;
  std::set_new_handler(nullptr);
}

static void test_out_of_memory(std::pmr::memory_resource* resource) {
  for (size_t alignment = 8; alignment <= 4096; alignment *= 8) {
    handled = 0;
    std::set_new_handler(give_up);
    bool thrown = false;
    try {
      (void)resource->allocate(PTRDIFF_MAX, alignment); /* no block is as large */
    } catch (const std::bad_alloc&) { thrown = true; }
    CHECK(thrown && handled == 1);
  }
}

int main() {
  mi_memory_resource plain;
  mi_heap_t* heap = mi_heap_new();
  mi_memory_resource given(heap), same(heap);
  CHECK(plain.heap() == mi_heap_main() && given.heap() == heap);
  CHECK(given.is_equal(same) && given.is_equal(given) && !given.is_equal(plain));
  CHECK(!given.is_equal(*std::pmr::new_delete_resource()));
  for (mi_memory_resource* each : {&plain, &given}) {
    use_containers(each, each->heap());
    use_directly(each, each->heap());
    test_out_of_memory(each);
  }

  void* kept = nullptr;
  {
    mi_heap_memory_resource own, other;
    CHECK(own.heap() != heap && own.heap() != mi_heap_main() && !own.is_equal(other));
    use_containers(&own, own.heap());
    use_directly(&own, own.heap());
    test_out_of_memory(&own);
    kept = own.allocate(100);
    CHECK(mi_any_heap_contains(kept));
  }
  size_t before = 0;
  for (int round = 0; round < 100; round++) { /* 10 MiB each, which go with the resource */
    mi_heap_memory_resource own;
    for (int i = 0; i < 10000; i++) { (void)own.allocate(1024); }
    if (round == 5) { before = resident_bytes(); }
  }
  CHECK(UNDER_SANITIZER || resident_bytes() < before + 50 * 1024 * 1024);
  mi_heap_delete(heap);
  return check_done();
}
#endif
