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
#ifdef __cplusplus
#include <atomic>  // LLVM's uses C's _Atomic
// C++ has other types for them. There these are plain objects, which nothing reads or writes but by
// these operations.
#define _Atomic(type)            type
#define ORDER(order)             __ATOMIC_##order
#define ATOMIC_LOAD(p, o)        __atomic_load_n((p), (o))
#define ATOMIC_STORE(p, v, o)    __atomic_store_n((p), (v), (o))
#define ATOMIC_EXCHANGE(p, v, o) __atomic_exchange_n((p), (v), (o))
#define ATOMIC_ADD(p, v, o)      __atomic_fetch_add((p), (v), (o))
#define ATOMIC_SUB(p, v, o)      __atomic_fetch_sub((p), (v), (o))
#define ATOMIC_CAS(p, old, v, o) \
  __atomic_compare_exchange_n((p), (old), (v), true, (o), ORDER(RELAXED))
#else
#include <stdatomic.h>
#define ORDER_RELAXED            memory_order_relaxed
#define ORDER_ACQUIRE            memory_order_acquire
#define ORDER_RELEASE            memory_order_release
#define ORDER_ACQ_REL            memory_order_acq_rel
#define ORDER(order)             ORDER_##order
#define ATOMIC_LOAD(p, o)        atomic_load_explicit((p), (o))
#define ATOMIC_STORE(p, v, o)    atomic_store_explicit((p), (v), (o))
#define ATOMIC_EXCHANGE(p, v, o) atomic_exchange_explicit((p), (v), (o))
#define ATOMIC_ADD(p, v, o)      atomic_fetch_add_explicit((p), (v), (o))
#define ATOMIC_SUB(p, v, o)      atomic_fetch_sub_explicit((p), (v), (o))
#define ATOMIC_CAS(p, old, v, o) \
  atomic_compare_exchange_weak_explicit((p), (old), (v), (o), ORDER(RELAXED))
#endif

#define load_relaxed(p)        ATOMIC_LOAD(p, ORDER(RELAXED))
#define load_acquire(p)        ATOMIC_LOAD(p, ORDER(ACQUIRE))
#define store_relaxed(p, v)    ATOMIC_STORE(p, v, ORDER(RELAXED))
#define store_release(p, v)    ATOMIC_STORE(p, v, ORDER(RELEASE))
#define exchange_relaxed(p, v) ATOMIC_EXCHANGE(p, v, ORDER(RELAXED))
#define exchange_acquire(p, v) ATOMIC_EXCHANGE(p, v, ORDER(ACQUIRE))
#define exchange_release(p, v) ATOMIC_EXCHANGE(p, v, ORDER(RELEASE))
#define exchange_acq_rel(p, v) ATOMIC_EXCHANGE(p, v, ORDER(ACQ_REL))
#define cas_relaxed(p, old, v) ATOMIC_CAS(p, old, v, ORDER(RELAXED))
#define cas_acquire(p, old, v) ATOMIC_CAS(p, old, v, ORDER(ACQUIRE))
#define cas_release(p, old, v) ATOMIC_CAS(p, old, v, ORDER(RELEASE))
#define cas_acq_rel(p, old, v) ATOMIC_CAS(p, old, v, ORDER(ACQ_REL))
#define add_relaxed(p, v)      ATOMIC_ADD(p, v, ORDER(RELAXED))
#define sub_relaxed(p, v)      ATOMIC_SUB(p, v, ORDER(RELAXED))

#endif
#endif
