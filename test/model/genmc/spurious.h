// GenMC takes a weak compare-and-swap for a strong one. Here each thread may have one that fails
// for no reason, at any place: which, another thread chooses.
static _Atomic(int) spurious_flip[5];
static _Thread_local int spurious_done;
#undef cas_relaxed
#undef cas_acquire
#undef cas_release
#undef cas_acq_rel
#define SPURIOUS_CAS(p, old, v, order)                                                             \
  __extension__({                                                                                  \
    bool did;                                                                                      \
    if (!spurious_done && load_relaxed(&spurious_flip[m.self]) != 0) {                             \
      spurious_done = 1;                                                                           \
      const __typeof__((void)0, *(old)) seen = load_relaxed(p);                                    \
      did = false;                                                                                 \
      *(old) = seen;                                                                               \
    } else {                                                                                       \
      did = atomic_compare_exchange_strong_explicit((p), (old), (v), order, memory_order_relaxed); \
    }                                                                                              \
    did;                                                                                           \
  })
#define cas_relaxed(p, old, v) SPURIOUS_CAS(p, old, v, memory_order_relaxed)
#define cas_acquire(p, old, v) SPURIOUS_CAS(p, old, v, memory_order_acquire)
#define cas_release(p, old, v) SPURIOUS_CAS(p, old, v, memory_order_release)
#define cas_acq_rel(p, old, v) SPURIOUS_CAS(p, old, v, memory_order_acq_rel)
#define SPURIOUS_CHOOSE(threads) \
  for (int i = 0; i < (threads); i++) { store_relaxed(&spurious_flip[i], 1); }
