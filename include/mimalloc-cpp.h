/* Allocators for the C++ standard library: for containers, in C++98 too, and, from C++17 on, memory
   resources for `std::pmr`. Included by `mimalloc.h`. */
#ifndef MIMALLOC_CPP_H
#define MIMALLOC_CPP_H
#if defined(__cplusplus)

#include "mimalloc.h"

#include <cstdlib>
#include <new>

#if __cplusplus >= 201103L || (defined(_MSVC_LANG) && _MSVC_LANG >= 201103L)
#include <memory>
#include <type_traits>
#include <utility>

/* There are the allocators with heaps below, which need C++11. */
#define MI_HAS_HEAP_STL_ALLOCATOR 1
#endif

#if (__cplusplus >= 201703L || (defined(_MSVC_LANG) && _MSVC_LANG >= 201703L)) && \
    defined(__has_include)
#if __has_include(<memory_resource>)
#include <memory_resource>

/* There are the memory resources below. */
#define MI_HAS_MEMORY_RESOURCE 1
#endif
#endif

/* For the allocators below alone. */
namespace mi_detail {

/* Types with no more than this alignment need no aligned function: see the top of this file. */
enum { plain_alignment = 16 };

template <class T>
struct behind_char {
  char c;
  T t;
};

template <class T>
struct alignment {
#if defined(MI_HAS_HEAP_STL_ALLOCATOR)
  enum { value = alignof(T) };
#else
  enum { value = sizeof(behind_char<T>) - sizeof(T) };
#endif
};

/* References to a T; also for `void`, which containers only rebind. */
template <class T>
struct references {
  typedef T& reference;
  typedef const T& const_reference;
};
template <>
struct references<void> {
  typedef references& reference;
  typedef const references& const_reference;
};

/* The members that all allocators have, those that C++98 asks for included. */
template <class T>
struct allocator_base {
  typedef T value_type;
  typedef std::size_t size_type;
  typedef std::ptrdiff_t difference_type;
  typedef T* pointer;
  typedef const T* const_pointer;
  typedef typename references<T>::reference reference;
  typedef typename references<T>::const_reference const_reference;

  size_type max_size() const mi_attr_noexcept {
    return static_cast<size_type>(PTRDIFF_MAX) / sizeof(T);
  }
  pointer address(reference x) const mi_attr_noexcept {
    return reinterpret_cast<pointer>(&reinterpret_cast<char&>(x));
  }
  const_pointer address(const_reference x) const mi_attr_noexcept {
    return reinterpret_cast<const_pointer>(&reinterpret_cast<const char&>(x));
  }
#if defined(MI_HAS_HEAP_STL_ALLOCATOR)
  typedef std::true_type propagate_on_container_copy_assignment;
  typedef std::true_type propagate_on_container_move_assignment;
  typedef std::true_type propagate_on_container_swap;

  template <class U, class... Args>
  void construct(U* p, Args&&... args) {
    ::new (static_cast<void*>(p)) U(std::forward<Args>(args)...);
  }
  template <class U>
  void destroy(U* p) mi_attr_noexcept {
    p->~U();
  }
#else
  void construct(pointer p, const_reference value) { ::new (static_cast<void*>(p)) T(value); }
  void destroy(pointer p) { p->~T(); }
#endif
};

inline void out_of_memory() {
#if defined(__cpp_exceptions) || defined(__EXCEPTIONS) || defined(_CPPUNWIND)
  throw std::bad_alloc();
#else
  std::abort();
#endif
}

}  // namespace mi_detail

/* Allocates as `new` does, in the calling thread's default heap. */
template <class T>
struct mi_stl_allocator : mi_detail::allocator_base<T> {
  template <class U>
  struct rebind {
    typedef mi_stl_allocator<U> other;
  };
#if defined(MI_HAS_HEAP_STL_ALLOCATOR)
  typedef std::true_type is_always_equal;
#endif

  mi_stl_allocator() mi_attr_noexcept {}
  mi_stl_allocator(const mi_stl_allocator&) mi_attr_noexcept : mi_detail::allocator_base<T>() {}
  template <class U>
  mi_stl_allocator(const mi_stl_allocator<U>&) mi_attr_noexcept {}
  mi_stl_allocator& operator=(const mi_stl_allocator&) mi_attr_noexcept { return *this; }
  mi_stl_allocator select_on_container_copy_construction() const { return *this; }

  mi_decl_nodiscard T* allocate(std::size_t count, const void* = 0) {
    const std::size_t alignment = mi_detail::alignment<T>::value;
    if (alignment <= mi_detail::plain_alignment) {
      return static_cast<T*>(mi_new_n(count, sizeof(T)));
    }
    if (count > this->max_size()) { mi_detail::out_of_memory(); }
    return static_cast<T*>(mi_new_aligned(count * sizeof(T), alignment));
  }
  void deallocate(T* p, std::size_t = 0) mi_attr_noexcept { mi_free(p); }
};

/* Any of them frees what another has allocated. */
template <class T, class U>
bool operator==(const mi_stl_allocator<T>&, const mi_stl_allocator<U>&) mi_attr_noexcept {
  return true;
}
template <class T, class U>
bool operator!=(const mi_stl_allocator<T>&, const mi_stl_allocator<U>&) mi_attr_noexcept {
  return false;
}

#if defined(MI_HAS_HEAP_STL_ALLOCATOR)
/* For the allocators below alone. */
namespace mi_detail {

/* `mi_heap_alloc_new_n` for types that ask for a large alignment. */
inline void* heap_new_n_aligned(mi_heap_t* heap, std::size_t count, std::size_t size,
                                std::size_t alignment) {
  if (count > static_cast<std::size_t>(PTRDIFF_MAX) / size) { out_of_memory(); }
  for (;;) {
    void* p = mi_heap_malloc_aligned(heap, count * size, alignment);
    if (p != nullptr) { return p; }
    std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) { out_of_memory(); }
    handler();
  }
}

/* A heap that is shared by the copies of an allocator. It has a copy constructor but no move: an
   allocator that was moved from must go on being equal to the new one. */
template <class T>
class heap_allocator : public allocator_base<T> {
 public:
  typedef std::false_type is_always_equal;

  heap_allocator(const heap_allocator&) = default;
  heap_allocator& operator=(const heap_allocator&) = default;

  mi_decl_nodiscard T* allocate(std::size_t count, const void* = nullptr) {
    if (alignof(T) <= plain_alignment) {
      return static_cast<T*>(mi_heap_alloc_new_n(heap_.get(), count, sizeof(T)));
    }
    return static_cast<T*>(heap_new_n_aligned(heap_.get(), count, sizeof(T), alignof(T)));
  }

  /* As `mi_heap_collect` for its heap. */
  void collect(bool force) { mi_heap_collect(heap_.get(), force); }

  /* Whether the other one has the same heap. */
  template <class U>
  bool is_equal(const heap_allocator<U>& other) const noexcept {
    return heap_ == other.heap_;
  }

 protected:
  typedef void end_fun(mi_heap_t*);

  ~heap_allocator() = default;

  /* a given heap outlives the allocator: an empty owner, with the heap as its address */
  explicit heap_allocator(mi_heap_t* heap) noexcept : heap_(std::shared_ptr<void>(), heap) {}

  /* a new heap, ended with the last copy */
  explicit heap_allocator(end_fun* end) : heap_(mi_heap_new(), end) {
    if (heap_.get() == nullptr) { out_of_memory(); }
  }

  template <class U>
  heap_allocator(const heap_allocator<U>& other) noexcept : heap_(other.heap_) {}

 private:
  template <class U>
  friend class heap_allocator;

  std::shared_ptr<mi_heap_t> heap_;
};

}  // namespace mi_detail

/* Allocates in a heap of its own, which is deleted with the last copy of the allocator, or in a
   given heap, which is left alone. Allocators are equal when they have the same heap. */
template <class T>
struct mi_heap_stl_allocator : mi_detail::heap_allocator<T> {
  template <class U>
  struct rebind {
    typedef mi_heap_stl_allocator<U> other;
  };

  mi_heap_stl_allocator() : mi_detail::heap_allocator<T>(&mi_heap_delete) {}
  mi_heap_stl_allocator(mi_heap_t* heap) noexcept : mi_detail::heap_allocator<T>(heap) {}
  template <class U>
  mi_heap_stl_allocator(const mi_heap_stl_allocator<U>& other) noexcept
      : mi_detail::heap_allocator<T>(other) {}

  mi_heap_stl_allocator select_on_container_copy_construction() const { return *this; }
  void deallocate(T* p, std::size_t = 0) noexcept { mi_free(p); }

  template <class U>
  bool operator==(const mi_heap_stl_allocator<U>& other) const noexcept {
    return this->is_equal(other);
  }
  template <class U>
  bool operator!=(const mi_heap_stl_allocator<U>& other) const noexcept {
    return !this->is_equal(other);
  }
};

/* The same, but blocks are freed only all together, as the heap is destroyed with the last copy:
   `deallocate` does nothing. Destructors of elements still run. */
template <class T>
struct mi_heap_destroy_stl_allocator : mi_detail::heap_allocator<T> {
  template <class U>
  struct rebind {
    typedef mi_heap_destroy_stl_allocator<U> other;
  };

  mi_heap_destroy_stl_allocator() : mi_detail::heap_allocator<T>(&mi_heap_destroy) {}
  mi_heap_destroy_stl_allocator(mi_heap_t* heap) noexcept : mi_detail::heap_allocator<T>(heap) {}
  template <class U>
  mi_heap_destroy_stl_allocator(const mi_heap_destroy_stl_allocator<U>& other) noexcept
      : mi_detail::heap_allocator<T>(other) {}

  mi_heap_destroy_stl_allocator select_on_container_copy_construction() const { return *this; }
  void deallocate(T*, std::size_t = 0) noexcept {}

  template <class U>
  bool operator==(const mi_heap_destroy_stl_allocator<U>& other) const noexcept {
    return this->is_equal(other);
  }
  template <class U>
  bool operator!=(const mi_heap_destroy_stl_allocator<U>& other) const noexcept {
    return !this->is_equal(other);
  }
};

#endif /* MI_HAS_HEAP_STL_ALLOCATOR */

/* ---- Memory resources, from C++17 on ---- */

#if defined(MI_HAS_MEMORY_RESOURCE)

/* Serves containers of `std::pmr` in a given heap, which is left alone and has to outlive it; by
   default as `new` does. From any thread, as far as the heap may be used. When there is no memory
   it does as `new`: it calls the new-handler, and throws `std::bad_alloc` where there is none. */
class mi_memory_resource : public std::pmr::memory_resource {
 public:
  explicit mi_memory_resource(mi_heap_t* heap = nullptr) noexcept : heap_(heap) {}

  /* The heap that it was given; the main heap where it was given none. */
  mi_heap_t* heap() const noexcept { return heap_ == nullptr ? mi_heap_main() : heap_; }

 protected:
  void* do_allocate(std::size_t size, std::size_t alignment) override {
    const bool is_plain = alignment <= sizeof(void*) ||
                          (alignment <= mi_detail::plain_alignment && alignment <= size);
    if (heap_ == nullptr) { return is_plain ? mi_new(size) : mi_new_aligned(size, alignment); }
    return is_plain ? mi_heap_alloc_new(heap_, size)
                    : mi_detail::heap_new_n_aligned(heap_, size, 1, alignment);
  }
  void do_deallocate(void* p, std::size_t, std::size_t) override { mi_free(p); }

  /* Resources are equal when they allocate in the same heap. */
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
#if defined(__cpp_rtti) || defined(__GXX_RTTI) || defined(_CPPRTTI)
    const mi_memory_resource* same = dynamic_cast<const mi_memory_resource*>(&other);
    return same != nullptr && same->heap_ == heap_;
#else
    return this == &other;
#endif
  }

  mi_heap_t* heap_;
};

/* The same in a heap of its own, which is destroyed with it, and with that each block that is still
   in use. The constructor throws `std::bad_alloc` when there is no memory for a heap. */
class mi_heap_memory_resource : public mi_memory_resource {
 public:
  mi_heap_memory_resource() : mi_memory_resource(mi_heap_new()) {
    if (heap_ == nullptr) { mi_detail::out_of_memory(); }
  }
  mi_heap_memory_resource(const mi_heap_memory_resource&) = delete;
  mi_heap_memory_resource& operator=(const mi_heap_memory_resource&) = delete;
  ~mi_heap_memory_resource() override { mi_heap_destroy(heap_); }
};

#endif /* MI_HAS_MEMORY_RESOURCE */
#endif /* __cplusplus */
#endif /* MIMALLOC_CPP_H */
