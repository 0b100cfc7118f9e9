/*
 * atomic.c -- atomic operations and fences of code compiled with -fsanitize=thread.
 *
 * Each entry point has two forms: that of a simulated thread (sim/atomic/access.h), and the plain
 * one of the processor for all other callers (sim/atomic/alone.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/atomic/access.h"

#if !SIM_ATOMIC_SANITIZED
#include "sim/atomic/alone.h"
#include "sim/atomic/entry.h"

#define LOAD_AND_STORE(bits) \
    sim_tsan_##bits __tsan_atomic##bits##_load(const volatile sim_tsan_##bits *object, int order) \
    { \
        if (!sim_atomic_simulated()) { \
            return sim_alone_load_##bits(object); \
        } \
        sim_atomic_begin(order); \
        sim_atomic_reads(object); \
        sim_tsan_##bits value = *object; \
        sim_atomic_read(object, (uint64_t)value, SIM_ATOMIC_CALLER); \
        return value; \
    } \
    void __tsan_atomic##bits##_store( \
            volatile sim_tsan_##bits *object, sim_tsan_##bits value, int order) \
    { \
        if (!sim_atomic_simulated()) { \
            (void)__tsan_atomic##bits##_exchange(object, value, order); \
            return; \
        } \
        sim_atomic_begin(order); \
        *object = value; \
        sim_atomic_wrote(object, (uint64_t)value, SIM_ATOMIC_CALLER); \
    }

#define CHANGE(bits, name, after) \
    sim_tsan_##bits __tsan_atomic##bits##_##name( \
            volatile sim_tsan_##bits *object, sim_tsan_##bits operand, int order) \
    { \
        if (sim_atomic_simulated()) { \
            sim_atomic_begin(order); \
            sim_atomic_reads(object); \
            sim_tsan_##bits before = *object; \
            *object = (sim_tsan_##bits)(after); \
            sim_atomic_changed(object, (uint64_t)before, (uint64_t)*object, SIM_ATOMIC_CALLER); \
            return before; \
        } \
        sim_tsan_##bits seen = sim_alone_load_##bits(object); \
        for (;;) { \
            sim_tsan_##bits before = seen; \
            seen = sim_alone_compare_exchange_##bits(object, before, (sim_tsan_##bits)(after)); \
            if (seen == before) { \
                return before; \
            } \
        } \
    }

/* Where it fails, *expected is what it holds. */
#define COMPARE_EXCHANGE(bits) \
    static inline bool compare_exchange_##bits(volatile sim_tsan_##bits *object, \
            sim_tsan_##bits *expected, sim_tsan_##bits desired, int order, const void *caller) \
    { \
        sim_tsan_##bits wanted = *expected; \
        if (!sim_atomic_simulated()) { \
            *expected = sim_alone_compare_exchange_##bits(object, wanted, desired); \
            return *expected == wanted; \
        } \
        sim_atomic_begin(order); \
        sim_atomic_reads(object); \
        sim_tsan_##bits before = *object; \
        *expected = before; \
        if (before != wanted) { \
            sim_atomic_failed(object, (uint64_t)before, caller); \
            return false; \
        } \
        *object = desired; \
        sim_atomic_changed(object, (uint64_t)before, (uint64_t)desired, caller); \
        return true; \
    } \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile sim_tsan_##bits *object, \
            sim_tsan_##bits *expected, sim_tsan_##bits desired, int order, int order_failed) \
    { \
        (void)order_failed; \
        return compare_exchange_##bits(object, expected, desired, order, SIM_ATOMIC_CALLER); \
    } \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile sim_tsan_##bits *object, \
            sim_tsan_##bits *expected, sim_tsan_##bits desired, int order, int order_failed) \
    { \
        (void)order_failed; \
        return compare_exchange_##bits(object, expected, desired, order, SIM_ATOMIC_CALLER); \
    } \
    sim_tsan_##bits __tsan_atomic##bits##_compare_exchange_val(volatile sim_tsan_##bits *object, \
            sim_tsan_##bits expected, sim_tsan_##bits desired, int order, int order_failed) \
    { \
        (void)order_failed; \
        (void)compare_exchange_##bits(object, &expected, desired, order, SIM_ATOMIC_CALLER); \
        return expected; \
    }

#define WIDTH(bits) \
    SIM_TSAN_CHANGES(CHANGE, bits) \
    LOAD_AND_STORE(bits) \
    COMPARE_EXCHANGE(bits)
SIM_TSAN_WIDTHS(WIDTH)

/* Sequential consistency has nothing to order; it remains a point at which others may run. */
void
__tsan_atomic_thread_fence(int order)
{
    if (sim_atomic_simulated()) {
        sim_atomic_begin(order);
    } else {
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    }
}

/* Between a thread and its own signal handlers, which run at points only. */
void
__tsan_atomic_signal_fence(int order)
{
    (void)order;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
#endif
