// Size classes: every 16 bytes to 256, then eight for each doubling, to 32 KiB. Larger blocks are
// runs of their own.
//
// A class is (m + 1) << k granules of 16 bytes with m in 8 … 15, so a size that was rounded up to a
// multiple of a power of two has a class that is a multiple of it too: with pages aligned to their
// size that makes every alignment up to a slice a matter of choosing the class.
#ifndef MI_PAGE_CLASS_H
#define MI_PAGE_CLASS_H

#include "../base/bits.h"

enum {
  GRANULE = 16,
  BIN_COUNT = 73,  // 1 … 72; 0 is not used
  BIN_LARGE = 73,  // of a page that is one block
  SMALL_MAX = 1024,
  MEDIUM_MAX = 32 << 10,
};

FAST unsigned bin_of(size_t size) {
  enum { LINEAR_MAX = 16 * GRANULE };
  if (size <= LINEAR_MAX) { return size == 0 ? 1 : (unsigned)((size + (GRANULE - 1)) / GRANULE); }
  const size_t last = size - 1;
  const unsigned b = high_bit(last);
  return (b - 8) * 8 + (unsigned)(last >> (b - 3)) + 9;
}

FAST size_t bin_bytes(unsigned bin) {
  if (bin <= 16) { return (size_t)bin * GRANULE; }
  const unsigned k = bin - 17;
  return (size_t)(9 + k % 8) << (k / 8 + 1) << 4;  // NOLINT(*-core.BitwiseShift) k is small
}

_Static_assert((9 + (BIN_COUNT - 1 - 17) % 8) << ((BIN_COUNT - 1 - 17) / 8 + 5) == MEDIUM_MAX,
               "the last class");

#endif
