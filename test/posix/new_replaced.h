// What C++ promises a program that replaces some of the operators new and delete: the others come
// to those, so no block ends where it was not taken. [new.delete.single], [new.delete.array]: new[]
// calls new, the nothrow forms call those that throw, and delete[], the sized and the nothrow forms
// of delete call the plain one; the same for those with an alignment.
//
// A program defines what it replaces, by way of the pool, and then calls each form.
#ifndef TEST_POSIX_NEW_REPLACED_H
#define TEST_POSIX_NEW_REPLACED_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "../check.h"

enum { POOL_BYTES = 1 << 20 };

alignas(4096) static unsigned char pool[POOL_BYTES];
static size_t pool_used, taken, given, strangers;
static bool pool_is_empty;

static inline bool is_in_pool(const void* p) {
  return static_cast<const unsigned char*>(p) >= pool &&
         static_cast<const unsigned char*>(p) < pool + POOL_BYTES;
}

static inline void* pool_take(size_t size, size_t alignment) {
  if (pool_is_empty) { throw std::bad_alloc(); }
  pool_used = (pool_used + alignment - 1) / alignment * alignment;
  void* p = pool + pool_used;
  pool_used += size;
  taken++;
  return p;
}

static inline void pool_give(void* p) {
  if (p == nullptr) { return; }
  given++;
  strangers += !is_in_pool(p);
}

enum { SIZE = 40, MOST = 8 };

// The blocks of all forms that allocate, so that none is optimised away.
static inline int take_plain(void* p[MOST]) {
  int n = 0;
  p[n++] = ::operator new(SIZE);
  p[n++] = ::operator new[](SIZE);
  p[n++] = ::operator new(SIZE, std::nothrow);
  p[n++] = ::operator new[](SIZE, std::nothrow);
  return n;
}

static inline int take_aligned(void* p[MOST], std::align_val_t a) {
  int n = 0;
  p[n++] = ::operator new(SIZE, a);
  p[n++] = ::operator new[](SIZE, a);
  p[n++] = ::operator new(SIZE, a, std::nothrow);
  p[n++] = ::operator new[](SIZE, a, std::nothrow);
  return n;
}

enum { FORMS = 6 };

// By the form `way` of delete.
static inline void give_plain(void* p, int way) {
  switch (way) {
    case 0: ::operator delete(p); break;
    case 1: ::operator delete[](p); break;
    case 2: ::operator delete(p, static_cast<size_t>(SIZE)); break;
    case 3: ::operator delete[](p, static_cast<size_t>(SIZE)); break;
    case 4: ::operator delete(p, std::nothrow); break;
    default: ::operator delete[](p, std::nothrow); break;
  }
}

static inline void give_aligned(void* p, int way, std::align_val_t a) {
  switch (way) {
    case 0: ::operator delete(p, a); break;
    case 1: ::operator delete[](p, a); break;
    case 2: ::operator delete(p, static_cast<size_t>(SIZE), a); break;
    case 3: ::operator delete[](p, static_cast<size_t>(SIZE), a); break;
    case 4: ::operator delete(p, a, std::nothrow); break;
    default: ::operator delete[](p, a, std::nothrow); break;
  }
}

#endif
