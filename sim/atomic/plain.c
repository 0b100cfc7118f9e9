/*
 * plain.c -- plain accesses and announcements of code compiled with -fsanitize=thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/atomic/access.h"

#if !SIM_ATOMIC_SANITIZED
#include <string.h>

#include "sim/atomic/entry.h"

#define ACCESS(word, size, writes) \
    void __tsan_##word##size(void *address) \
    { \
        sim_atomic_plain(address, size, writes, SIM_ATOMIC_CALLER); \
    }
SIM_TSAN_PLAIN(ACCESS)

void
__tsan_read_range(void *address, size_t size)
{
    sim_atomic_plain(address, size, false, SIM_ATOMIC_CALLER);
}

void
__tsan_write_range(void *address, size_t size)
{
    sim_atomic_plain(address, size, true, SIM_ATOMIC_CALLER);
}

void *
__tsan_memcpy(void *to, const void *from, size_t size)
{
    sim_atomic_plain(from, size, false, SIM_ATOMIC_CALLER);
    sim_atomic_plain(to, size, true, SIM_ATOMIC_CALLER);
    return memcpy(to, from, size);
}

void *
__tsan_memmove(void *to, const void *from, size_t size)
{
    sim_atomic_plain(from, size, false, SIM_ATOMIC_CALLER);
    sim_atomic_plain(to, size, true, SIM_ATOMIC_CALLER);
    return memmove(to, from, size);
}

void *
__tsan_memset(void *to, int byte, size_t size)
{
    sim_atomic_plain(to, size, true, SIM_ATOMIC_CALLER);
    return memset(to, byte, size);
}

/* Orders and races are not followed yet: sim/atomic/README.md. */
#define NOTE(name, parameters) \
    void __tsan_##name parameters \
    { \
    }
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
SIM_TSAN_NOTES(NOTE)
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/* How often a recursive mutex was unlocked. */
int
__tsan_mutex_pre_unlock(void *mutex, unsigned flags)
{
    (void)mutex;
    (void)flags;
    return 1;
}

/* Stacks that the program switches itself: one handle serves for all. */
void *
__tsan_get_current_fiber(void)
{
    static char fiber;
    return &fiber;
}

void *
__tsan_create_fiber(unsigned flags)
{
    (void)flags;
    return __tsan_get_current_fiber();
}
#endif
