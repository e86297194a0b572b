// Size classes: every 16 bytes to 256, then eight for each doubling, to 16 KiB, then four, to 64
// KiB. Larger blocks are runs of their own. Where pages give back no memory of free blocks, and in
// checked builds, which notice more of blocks that lie alone, it is eight to 32 KiB instead.
//
// A class is (m + 1) << k granules of 16 bytes with m in 8 … 15, or 4 … 7, so a size that was
// rounded up to a multiple of a power of two has a class that is a multiple of it too: with pages
// aligned to their size that makes every alignment up to a slice a matter of choosing the class.
#ifndef MI_PAGE_CLASS_H
#define MI_PAGE_CLASS_H

#include "../base/bits.h"
#include "../base/modes.h"
#include "../port/port.h"

// Pages give back what of their free blocks no block in use touches, see holes.c.
enum { MAKES_HOLES = HOLES && PORT_CAN_RELEASE };

enum {
  GRANULE = 16,
  BIN_COUNT = 73,                             // 1 … 72; 0 is not used
  BIN_LARGE = 73,                             // of a page that is one block
  COARSE_BIN = MAKES_HOLES ? 65 : BIN_COUNT,  // from here on there are four for each doubling
  FINE_MAX = MAKES_HOLES ? 16 << 10 : 32 << 10,
  SMALL_MAX = 1024,
  MEDIUM_MAX = MAKES_HOLES ? 64 << 10 : FINE_MAX,
};

FAST unsigned bin_of(size_t size) {
  enum { LINEAR_MAX = 16 * GRANULE };
  if (size <= LINEAR_MAX) { return size == 0 ? 1 : (unsigned)((size + (GRANULE - 1)) / GRANULE); }
  const size_t last = size - 1;
  const unsigned b = high_bit(last);
  if (size <= FINE_MAX) { return (b - 8) * 8 + (unsigned)(last >> (b - 3)) + 9; }
  return (b - 14) * 4 + (unsigned)(last >> (b - 2)) + 61;
}

FAST size_t bin_bytes(unsigned bin) {
  if (bin <= 16) { return (size_t)bin * GRANULE; }
  if (MAKES_HOLES && bin >= COARSE_BIN) {
    const unsigned k = bin - COARSE_BIN;
    return (size_t)(5 + k % 4) << (k / 4) << 12;  // NOLINT(*-core.BitwiseShift) k is small
  }
  const unsigned k = bin - 17;
  return (size_t)(9 + k % 8) << (k / 8 + 1) << 4;  // NOLINT(*-core.BitwiseShift) k is small
}

_Static_assert((9 + (COARSE_BIN - 1 - 17) % 8) << ((COARSE_BIN - 1 - 17) / 8 + 5) == FINE_MAX,
               "the last of eight");
_Static_assert(!MAKES_HOLES || 8 << ((BIN_COUNT - COARSE_BIN) / 4 + 11) == MEDIUM_MAX,
               "the last of four");

#endif
