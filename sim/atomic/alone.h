/*
 * alone.h -- the operation of the processor, for calls that are not of a simulated thread.
 *
 * All orders are sequentially consistent, which every weaker one permits. The other operations are
 * made of these two: load, and compare_exchange, which returns what was there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/atomic/entry_list.h"

#define SIM_ATOMIC_ALONE_WIDTH(bits) \
    static inline sim_tsan_##bits sim_alone_load_##bits(const volatile sim_tsan_##bits *object) \
    { \
        return __atomic_load_n(object, __ATOMIC_SEQ_CST); \
    } \
    static inline sim_tsan_##bits sim_alone_compare_exchange_##bits( \
            volatile sim_tsan_##bits *object, sim_tsan_##bits expected, sim_tsan_##bits desired) \
    { \
        (void)__atomic_compare_exchange_n( \
                object, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
        return expected; \
    }
SIM_ATOMIC_ALONE_WIDTH(8)
SIM_ATOMIC_ALONE_WIDTH(16)
SIM_ATOMIC_ALONE_WIDTH(32)
SIM_ATOMIC_ALONE_WIDTH(64)

/* __atomic would call libatomic for 16 bytes, which every program would then need; clang calls a
 * function for __sync, too. */
static inline sim_tsan_128
sim_alone_compare_exchange_128(
        volatile sim_tsan_128 *object, sim_tsan_128 expected, sim_tsan_128 desired)
{
#ifdef __x86_64__
    uint64_t low = (uint64_t)expected;
    uint64_t high = (uint64_t)(expected >> 64);
    __asm__ volatile("lock cmpxchg16b %0"
                     : "+m"(*object), "+a"(low), "+d"(high)
                     : "b"((uint64_t)desired), "c"((uint64_t)(desired >> 64))
                     : "cc", "memory");
    return (sim_tsan_128)high << 64 | low;
#else
    return __sync_val_compare_and_swap(object, expected, desired);
#endif
}

/* The exchange of 0 for 0: the memory of a 16-byte atomic must be writable. */
static inline sim_tsan_128
sim_alone_load_128(const volatile sim_tsan_128 *object)
{
    return sim_alone_compare_exchange_128((volatile sim_tsan_128 *)(uintptr_t)object, 0, 0);
}
