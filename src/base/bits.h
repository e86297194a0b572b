// Bit tricks and overflow-safe arithmetic.
#ifndef MI_BASE_BITS_H
#define MI_BASE_BITS_H

#include "atomic.h"
#include "attributes.h"

#define KiB ((size_t)1024)
#define MiB (KiB * KiB)
#define GiB (KiB * MiB)

enum { WORD_BITS = (int)sizeof(size_t) * 8 };

FAST bool is_power_of_two(size_t x) { return x != 0 && (x & (x - 1)) == 0; }
FAST size_t align_up(size_t x, size_t a) {
  return (x + (a - 1)) & ~(a - 1);
}  // a is a power of two
FAST size_t align_down(size_t x, size_t a) { return x & ~(a - 1); }
FAST bool is_aligned(const void* p, size_t a) { return ((uintptr_t)p & (a - 1)) == 0; }
FAST size_t size_min(size_t a, size_t b) { return a < b ? a : b; }
FAST size_t size_max(size_t a, size_t b) { return a > b ? a : b; }
FAST int64_t int64_max(int64_t a, int64_t b) { return a > b ? a : b; }
FAST size_t divide_up(size_t x, size_t d) { return (x + d - 1) / d; }

// Index of the highest set bit; x is not 0.
FAST unsigned high_bit(size_t x) {
  return (unsigned)((8 * (int)sizeof(unsigned long long) - 1) ^
                    __builtin_clzll((unsigned long long)x));
}
// Index of the lowest set bit; x is not 0.
FAST unsigned low_bit(uint64_t x) { return (unsigned)__builtin_ctzll(x); }

// Rounded up to one of four sizes for each doubling; x > 8.
FAST size_t quarter_up(size_t x) { return align_up(x, (size_t)1 << (high_bit(x - 1) - 2)); }

// True if count * size does not fit; *total is the product otherwise.
FAST bool size_mul_overflows(size_t count, size_t size, size_t* total) {
  return __builtin_mul_overflow(count, size, total);
}

// Is one of `bits` set in the word? As one instruction with its operand in memory, which gcc does
// not find by itself.
FAST bool has_any_bit(const _Atomic(uintptr_t)* word, uintptr_t bits) {
#if defined(__x86_64__) && defined(__GCC_ASM_FLAG_OUTPUTS__) && !defined(__clang__)
  bool any;
  __asm__("test %2, %1" : "=@ccnz"(any) : "m"(*(const uintptr_t*)(uintptr_t)word), "r"(bits));
  return any;
#else
  return (load_relaxed(word) & bits) != 0;
#endif
}

#endif
