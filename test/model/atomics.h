// The macros of src/base/atomic.h for model tests: each operation is a step of the scheduler.
#ifndef TEST_MODEL_ATOMICS_H
#define TEST_MODEL_ATOMICS_H

#include "scheduler.h"

#define MODEL_VALUE(p) __typeof__((void)0, *(p))
#define MODEL_SITE(p) \
  (site_t) { #p, __FILE__, __LINE__ }

#define MODEL_LOAD(p, order)                                                        \
  __extension__({                                                                   \
    MODEL_VALUE(p) model_value;                                                     \
    model_load((const volatile void*)(p), &model_value, sizeof(model_value), order, \
               MODEL_SITE(p));                                                      \
    model_value;                                                                    \
  })
#define MODEL_STORE(p, v, order)                                                               \
  __extension__({                                                                              \
    MODEL_VALUE(p) model_value = (v);                                                          \
    model_store((volatile void*)(p), &model_value, sizeof(model_value), order, MODEL_SITE(p)); \
  })
#define MODEL_EXCHANGE(p, v, order)                                                              \
  __extension__({                                                                                \
    MODEL_VALUE(p) model_value = (v);                                                            \
    MODEL_VALUE(p) model_before;                                                                 \
    model_exchange((volatile void*)(p), &model_value, &model_before, sizeof(model_value), order, \
                   MODEL_SITE(p));                                                               \
    model_before;                                                                                \
  })
#define MODEL_ADD(p, v, sign)                                                                  \
  __extension__({                                                                              \
    MODEL_VALUE(p) model_before;                                                               \
    model_add((volatile void*)(p), (int64_t)(v) * (sign), &model_before, sizeof(model_before), \
              MODEL_SITE(p));                                                                  \
    model_before;                                                                              \
  })
#define MODEL_CAS(p, old, v, order)                                                 \
  __extension__({                                                                   \
    MODEL_VALUE(p) model_value = (v);                                               \
    model_cas((volatile void*)(p), (old), &model_value, sizeof(model_value), order, \
              MODEL_SITE(p));                                                       \
  })

#define load_relaxed(p)        MODEL_LOAD(p, ORDER_RELAXED)
#define load_acquire(p)        MODEL_LOAD(p, ORDER_ACQUIRE)
#define store_relaxed(p, v)    MODEL_STORE(p, v, ORDER_RELAXED)
#define store_release(p, v)    MODEL_STORE(p, v, ORDER_RELEASE)
#define exchange_relaxed(p, v) MODEL_EXCHANGE(p, v, ORDER_RELAXED)
#define exchange_acquire(p, v) MODEL_EXCHANGE(p, v, ORDER_ACQUIRE)
#define exchange_release(p, v) MODEL_EXCHANGE(p, v, ORDER_RELEASE)
#define exchange_acq_rel(p, v) MODEL_EXCHANGE(p, v, ORDER_ACQ_REL)
#define cas_relaxed(p, old, v) MODEL_CAS(p, old, v, ORDER_RELAXED)
#define cas_acquire(p, old, v) MODEL_CAS(p, old, v, ORDER_ACQUIRE)
#define cas_release(p, old, v) MODEL_CAS(p, old, v, ORDER_RELEASE)
#define cas_acq_rel(p, old, v) MODEL_CAS(p, old, v, ORDER_ACQ_REL)
#define add_relaxed(p, v)      MODEL_ADD(p, v, 1)
#define sub_relaxed(p, v)      MODEL_ADD(p, v, -1)

#endif
