/*
 * entry.h -- the functions that code compiled with -fsanitize=thread calls.
 *
 * Their names and parameters are the compilers'. An order is that of C11 (0 relaxed, 1 consume,
 * 2 acquire, 3 release, 4 acquire and release, 5 sequentially consistent), to which gcc adds bits
 * from 15 on. Objects are borrowed for the call; they are aligned as the compiler aligns atomics.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stddef.h>

#include "sim/atomic/entry_list.h"

#define SIM_TSAN_DECLARE_CHANGE(bits, name, after) \
    sim_tsan_##bits __tsan_atomic##bits##_##name( \
            volatile sim_tsan_##bits *object, sim_tsan_##bits operand, int order);
#define SIM_TSAN_DECLARE_ATOMIC(bits) \
    sim_tsan_##bits __tsan_atomic##bits##_load(const volatile sim_tsan_##bits *object, int order); \
    void __tsan_atomic##bits##_store( \
            volatile sim_tsan_##bits *object, sim_tsan_##bits value, int order); \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile sim_tsan_##bits *object, \
            sim_tsan_##bits *expected, sim_tsan_##bits desired, int order, int order_failed); \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile sim_tsan_##bits *object, \
            sim_tsan_##bits *expected, sim_tsan_##bits desired, int order, int order_failed); \
    sim_tsan_##bits __tsan_atomic##bits##_compare_exchange_val(volatile sim_tsan_##bits *object, \
            sim_tsan_##bits expected, sim_tsan_##bits desired, int order, int order_failed); \
    SIM_TSAN_CHANGES(SIM_TSAN_DECLARE_CHANGE, bits)
SIM_TSAN_WIDTHS(SIM_TSAN_DECLARE_ATOMIC)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_signal_fence(int order);

#define SIM_TSAN_DECLARE_PLAIN(word, size, writes) void __tsan_##word##size(void *address);
SIM_TSAN_PLAIN(SIM_TSAN_DECLARE_PLAIN)
void __tsan_read_range(void *address, size_t size);
void __tsan_write_range(void *address, size_t size);
void *__tsan_memcpy(void *to, const void *from, size_t size);
void *__tsan_memmove(void *to, const void *from, size_t size);
void *__tsan_memset(void *to, int byte, size_t size);

#define SIM_TSAN_DECLARE_NOTE(name, parameters) void __tsan_##name parameters;
SIM_TSAN_NOTES(SIM_TSAN_DECLARE_NOTE)
int __tsan_mutex_pre_unlock(void *mutex, unsigned flags);
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
