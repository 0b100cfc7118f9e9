/*
 * shadow.h -- copying memory together with its shadow of the address sanitizer.
 *
 * The sanitizer keeps one byte (its shadow) for each 8 bytes: which of them may be accessed. Memory
 * that is restored without it would have red zones missing, or in wrong places. In a build without
 * the address sanitizer there is no shadow and these are memcpy.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__)
#define SIM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIM_ASAN 1
#endif
#endif

#ifdef SIM_ASAN
#include <sanitizer/asan_interface.h>
#endif

/* False: a sanitizer has state that is not copied. With the address sanitizer: frames outside of
 * the stacks (detect_stack_use_after_return). With the thread sanitizer: always. */
bool sim_shadow_is_kept(void);

/* Bytes that a copy of `size` bytes takes. */
size_t sim_shadow_copy_size(size_t size);

/* Copies `size` bytes at `memory`, which is aligned to 8, with red zones. Returns the end of the
 * copy. */
char *sim_shadow_copy_out(char *to, const void *memory, size_t size);
const char *sim_shadow_copy_back(const char *from, void *memory, size_t size);

/* As memcpy, not checked by the sanitizer. */
void sim_shadow_memcpy(void *to, const void *from, size_t size);

/* The sanitizer reports accesses to this memory from now on, or allows them. Without one: no-op. */
static inline void
sim_shadow_poison(const void *memory, size_t size)
{
#ifdef SIM_ASAN
    __asan_poison_memory_region(memory, size);
#else
    (void)memory;
    (void)size;
#endif
}

static inline void
sim_shadow_unpoison(const void *memory, size_t size)
{
#ifdef SIM_ASAN
    __asan_unpoison_memory_region(memory, size);
#else
    (void)memory;
    (void)size;
#endif
}
