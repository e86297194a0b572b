// The only place where memory orders meet the compiler's atomics. Each operation names its order;
// nothing in the library uses `=` or `++` on an _Atomic object. Every non-relaxed use carries a tag
// like [R1] that docs/memory-model.md explains.
//
// A model test defines MI_MODEL_ATOMICS and supplies a header with the same macros, so that the
// very same protocol code runs under its scheduler.
#ifndef MI_BASE_ATOMIC_H
#define MI_BASE_ATOMIC_H

#ifdef MI_MODEL_ATOMICS
#include MI_MODEL_ATOMICS
#else
#include <stdatomic.h>

#define load_relaxed(p)        atomic_load_explicit((p), memory_order_relaxed)
#define load_acquire(p)        atomic_load_explicit((p), memory_order_acquire)
#define store_relaxed(p, v)    atomic_store_explicit((p), (v), memory_order_relaxed)
#define store_release(p, v)    atomic_store_explicit((p), (v), memory_order_release)
#define exchange_relaxed(p, v) atomic_exchange_explicit((p), (v), memory_order_relaxed)
#define exchange_acquire(p, v) atomic_exchange_explicit((p), (v), memory_order_acquire)
#define exchange_release(p, v) atomic_exchange_explicit((p), (v), memory_order_release)
#define exchange_acq_rel(p, v) atomic_exchange_explicit((p), (v), memory_order_acq_rel)
#define cas_relaxed(p, old, v) \
  atomic_compare_exchange_weak_explicit((p), (old), (v), memory_order_relaxed, memory_order_relaxed)
#define cas_acquire(p, old, v) \
  atomic_compare_exchange_weak_explicit((p), (old), (v), memory_order_acquire, memory_order_relaxed)
#define cas_release(p, old, v) \
  atomic_compare_exchange_weak_explicit((p), (old), (v), memory_order_release, memory_order_relaxed)
#define cas_acq_rel(p, old, v) \
  atomic_compare_exchange_weak_explicit((p), (old), (v), memory_order_acq_rel, memory_order_relaxed)
#define add_relaxed(p, v) atomic_fetch_add_explicit((p), (v), memory_order_relaxed)
#define sub_relaxed(p, v) atomic_fetch_sub_explicit((p), (v), memory_order_relaxed)

#endif
#endif
