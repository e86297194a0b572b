// operator delete with the wrong size or alignment. Harm: the block joins another class, and blocks
// overlap.
#include <new>

#include "misuse.h"

static char* new_bytes(size_t n) { return static_cast<char*>(::operator new(n)); }

static void delete_larger(size_t n) {
  char* p = new_bytes(n);
  ::operator delete(p, 2 * n);
  expect_heap_whole(2 * n);
  expect_heap_whole(n);
}

static void delete_smaller(size_t n) {
  char* p = new_bytes(n);
  ::operator delete(p, n / 2);
  expect_heap_whole(n / 2);
  expect_heap_whole(n);
}

static void delete_twice(size_t n) {
  keep_new(n);
  keep_new(n);
  char* p = new_bytes(n);
  ::operator delete(p, n);
  ::operator delete(p, n);
  expect_heap_whole(n);
}

// The next alignment that the block does not have by chance.
static void delete_aligned(size_t n) {
  keep_new(n);
  char* p = new_bytes(n);
  const uintptr_t has = reinterpret_cast<uintptr_t>(p) & -reinterpret_cast<uintptr_t>(p);
  ::operator delete(p, n, std::align_val_t(2 * has));
  expect_heap_whole(n);
}

extern "C" const misuse_t delete_misuses[] = {
    {"delete_larger", delete_larger},
    {"delete_smaller", delete_smaller},
    {"delete_twice", delete_twice},
    {"delete_aligned", delete_aligned},
    {nullptr, nullptr},
};
