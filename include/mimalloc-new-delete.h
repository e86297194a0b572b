/* Defines all replaceable C++ operators `new` and `delete`, so that they use this library.
   Include it in exactly one source file of a program. */
#ifndef MIMALLOC_NEW_DELETE_H
#define MIMALLOC_NEW_DELETE_H
#if defined(__cplusplus)

#include <new>

#include "mimalloc.h"

/* Microsoft's headers annotate these operators; a definition without the same annotations gets a
   warning. */
#if defined(_MSC_VER) && defined(_Ret_notnull_) && defined(_Post_writable_byte_size_)
#define mi_decl_new(n) _Ret_notnull_ _Post_writable_byte_size_(n)
#define mi_decl_new_nothrow(n) \
  _Ret_maybenull_ _Success_(return != NULL) _Post_writable_byte_size_(n)
#else
#define mi_decl_new(n)
#define mi_decl_new_nothrow(n)
#endif

/* Before C++11 they say what they throw. */
#if __cplusplus < 201103L && !defined(_MSC_VER)
#define mi_attr_new_throws throw(std::bad_alloc)
#else
#define mi_attr_new_throws
#endif

/* plain, and without exceptions */
mi_decl_new(n) void* operator new(std::size_t n) mi_attr_new_throws { return mi_new(n); }
mi_decl_new(n) void* operator new[](std::size_t n) mi_attr_new_throws { return mi_new(n); }
mi_decl_new_nothrow(n) void* operator new(std::size_t n, const std::nothrow_t&) mi_attr_noexcept {
  return mi_new_nothrow(n);
}
mi_decl_new_nothrow(n) void* operator new[](std::size_t n, const std::nothrow_t&) mi_attr_noexcept {
  return mi_new_nothrow(n);
}

/* as many for giving back */
void operator delete(void* p) mi_attr_noexcept { mi_free(p); }
void operator delete[](void* p) mi_attr_noexcept { mi_free(p); }
void operator delete(void* p, const std::nothrow_t&) mi_attr_noexcept { mi_free(p); }
void operator delete[](void* p, const std::nothrow_t&) mi_attr_noexcept { mi_free(p); }

/* with the size, since C++14 */
#if __cplusplus >= 201402L || (defined(_MSVC_LANG) && _MSVC_LANG >= 201402L)
void operator delete(void* p, std::size_t n) mi_attr_noexcept { mi_free_size(p, n); }
void operator delete[](void* p, std::size_t n) mi_attr_noexcept { mi_free_size(p, n); }
#endif

/* with the alignment, since C++17 */
#if defined(__cpp_aligned_new)
void* operator new(std::size_t n, std::align_val_t a) {
  return mi_new_aligned(n, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t n, std::align_val_t a) {
  return mi_new_aligned(n, static_cast<std::size_t>(a));
}
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) mi_attr_noexcept {
  return mi_new_aligned_nothrow(n, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) mi_attr_noexcept {
  return mi_new_aligned_nothrow(n, static_cast<std::size_t>(a));
}

/* Of blocks with an alignment. */
void operator delete(void* p, std::align_val_t a) mi_attr_noexcept {
  mi_free_aligned(p, static_cast<std::size_t>(a));
}
void operator delete[](void* p, std::align_val_t a) mi_attr_noexcept {
  mi_free_aligned(p, static_cast<std::size_t>(a));
}
void operator delete(void* p, std::align_val_t a, const std::nothrow_t&) mi_attr_noexcept {
  mi_free_aligned(p, static_cast<std::size_t>(a));
}
void operator delete[](void* p, std::align_val_t a, const std::nothrow_t&) mi_attr_noexcept {
  mi_free_aligned(p, static_cast<std::size_t>(a));
}
void operator delete(void* p, std::size_t n, std::align_val_t a) mi_attr_noexcept {
  mi_free_size_aligned(p, n, static_cast<std::size_t>(a));
}
void operator delete[](void* p, std::size_t n, std::align_val_t a) mi_attr_noexcept {
  mi_free_size_aligned(p, n, static_cast<std::size_t>(a));
}
#endif

#undef mi_decl_new
#undef mi_decl_new_nothrow

#endif /* __cplusplus */
#endif /* MIMALLOC_NEW_DELETE_H */
