/*
 * jump.c -- longjmp ends on the stack of the thread that called setjmp.
 *
 * To another thread's stack it is undefined: that thread would run on a stack that is in use. A
 * jump to memory that is the stack of no thread (coroutines) is left alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <string.h>

#include "sim/thread/sync/priv.h"

#if SIM_THREAD_PLAYS && defined(__x86_64__)

/* Where a jmp_buf keeps the stack pointer, which the C library rotates and mixes with a word of the
 * thread's block (glibc's PTR_MANGLE). */
#define PLACE 6

static uintptr_t
target_of(const void *buffer)
{
    uintptr_t words[PLACE + 1];
    uintptr_t guard;
    memcpy(words, buffer, sizeof(words));
    __asm__("mov %%fs:0x30, %0" : "=r"(guard));
    return (words[PLACE] >> 17 | words[PLACE] << 47) ^ guard;
}

static bool
is_on_stack(const struct sim_thread *thread, uintptr_t address)
{
    uintptr_t first = (uintptr_t)thread->fiber.context.stack;
    return address - first < thread->fiber.context.size;
}

static void
check(const void *buffer, const void *caller)
{
    const struct sim_thread *self = sim_thread_now;
    uintptr_t to = target_of(buffer);
    const struct sim_thread *at = sim_thread_first(self->actor.world);
    while (at != NULL && (at->actor.done || !is_on_stack(at, to))) {
        at = at->next;
    }
    if (at != NULL && at != self) {
        sim__misuse(sim_thread_site(caller), "'%s' jumps with longjmp to where '%s' called setjmp",
                self->name, at->name);
    }
}

typedef void (*jump)(void *buffer, int value);

static jump
find(const char *name)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    jump found;
    memcpy(&found, &symbol, sizeof(found));
    return found;
}

#define EXPORT(name) \
    void sim__thread_export_##name(void *buffer, int value) __asm__(#name); \
    void sim__thread_export_##name(void *buffer, int value) \
    { \
        static jump real; \
        if (sim_thread_now != NULL) { \
            check(buffer, __builtin_return_address(0)); \
        } \
        real = real != NULL ? real : find(#name); \
        real(buffer, value); \
    }
EXPORT(longjmp)
EXPORT(_longjmp)
EXPORT(siglongjmp)
EXPORT(__longjmp_chk)

#endif
