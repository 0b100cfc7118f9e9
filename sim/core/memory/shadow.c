/*
 * shadow.c -- copying memory and its shadow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/memory/shadow.h"

#include <stdint.h>
#include <string.h>

#ifdef SIM_ASAN

#define SHADOWED 8u /* Bytes for each byte of shadow. */

static char *
shadow_of(const void *memory)
{
    size_t scale;
    size_t offset;
    __asan_get_shadow_mapping(&scale, &offset);
    /* The offset is the sanitizer's. */
    return (char *)(((uintptr_t)memory >> scale) + offset); /* tidy: integer */
}

bool
sim_shadow_is_kept(void)
{
    return __asan_get_current_fake_stack() == NULL;
}

size_t
sim_shadow_copy_size(size_t size)
{
    return size + (size + SHADOWED - 1) / SHADOWED;
}

/* Volatile, so that the compiler does not turn it into memcpy, which the sanitizer checks. */
__attribute__((no_sanitize("address", "undefined"))) void
sim_shadow_memcpy(void *to, const void *from, size_t size)
{
    typedef uint64_t __attribute__((may_alias, aligned(1))) word;
    volatile char *target = to;
    const volatile char *source = from;
    size_t i = 0;
    for (; i + sizeof(word) <= size; i += sizeof(word)) {
        *(volatile word *)(target + i) = *(const volatile word *)(source + i);
    }
    for (; i < size; i++) {
        target[i] = source[i];
    }
}

char *
sim_shadow_copy_out(char *to, const void *memory, size_t size)
{
    size_t shadow = sim_shadow_copy_size(size) - size;
    sim_shadow_memcpy(to, memory, size);
    sim_shadow_memcpy(to + size, shadow_of(memory), shadow);
    return to + size + shadow;
}

const char *
sim_shadow_copy_back(const char *from, void *memory, size_t size)
{
    size_t shadow = sim_shadow_copy_size(size) - size;
    sim_shadow_memcpy(memory, from, size);
    sim_shadow_memcpy(shadow_of(memory), from + size, shadow);
    return from + size + shadow;
}

#else

bool
sim_shadow_is_kept(void)
{
#if defined(__SANITIZE_THREAD__)
    return false;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
    return false;
#endif
#endif
    return true;
}

size_t
sim_shadow_copy_size(size_t size)
{
    return size;
}

void
sim_shadow_memcpy(void *to, const void *from, size_t size)
{
    memcpy(to, from, size);
}

char *
sim_shadow_copy_out(char *to, const void *memory, size_t size)
{
    memcpy(to, memory, size);
    return to + size;
}

const char *
sim_shadow_copy_back(const char *from, void *memory, size_t size)
{
    memcpy(memory, from, size);
    return from + size;
}

#endif
