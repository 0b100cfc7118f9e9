/*
 * calls.c -- the exported names, and the C library's functions behind them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "sim/thread/sync/priv.h"

struct sim__thread_real sim__thread_real;
const void *sim__thread_caller;

/* ---- The C library's. ------------------------------------------------------------------------ */

static const struct {
    const char *name;
    size_t place; /* In sim__thread_real. */
} found[] = {
#define FOUND_VOID(name, parameters, arguments) {#name, offsetof(struct sim__thread_real, name)},
#define FOUND(type, name, parameters, arguments) FOUND_VOID(name, parameters, arguments)
        SIM_THREAD_CALLS(FOUND) SIM_THREAD_VOID_CALLS(FOUND_VOID)
        /* Those that are not alike in both worlds. */
        FOUND_VOID(pthread_key_create, , ) FOUND_VOID(pthread_exit, , ) FOUND_VOID(thrd_exit, , )
#undef FOUND_VOID
#undef FOUND
};

static int
lacks(void)
{
    return ENOSYS;
}

static void
find_real(void)
{
    int (*fallback)(void) = lacks;
    for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++) {
        void *symbol = dlsym(RTLD_NEXT, found[i].name);
        const void *from = symbol != NULL ? (const void *)&symbol : (const void *)&fallback;
        memcpy((char *)&sim__thread_real + found[i].place, from, sizeof(symbol));
    }
}

/* ---- The exported names. --------------------------------------------------------------------- */

#if SIM_THREAD_PLAYS

/* Before the constructors of the libraries, which may call any of the names. */
__attribute__((section(".preinit_array"), used)) static void (*const find_early)(void) = find_real;

/* Assembler names: the headers of the C library declare these functions with attributes. */
#define EXPORT(type, name, parameters, arguments) \
    type sim__thread_export_##name parameters __asm__(#name); \
    type sim__thread_export_##name parameters \
    { \
        if (sim_thread_now == NULL) { \
            return sim__thread_real.name arguments; \
        } \
        sim__thread_caller = __builtin_return_address(0); \
        return sim__##name arguments; \
    }
SIM_THREAD_CALLS(EXPORT)
#undef EXPORT

#define EXPORT(name, parameters, arguments) \
    void sim__thread_export_##name parameters __asm__(#name); \
    void sim__thread_export_##name parameters \
    { \
        if (sim_thread_now == NULL) { \
            sim__thread_real.name arguments; \
            return; \
        } \
        sim__thread_caller = __builtin_return_address(0); \
        sim__##name arguments; \
    }
SIM_THREAD_VOID_CALLS(EXPORT)
#undef EXPORT

void
pthread_exit(void *result)
{
    if (sim_thread_now == NULL) {
        sim__thread_real.pthread_exit(result);
    }
    sim_thread_exit(result);
}

void
thrd_exit(int result)
{
    if (sim_thread_now == NULL) {
        sim__thread_real.thrd_exit(result);
    }
    sim_thread_exit((void *)(intptr_t)result);
}

#else

__attribute__((constructor)) static void
find_late(void)
{
    find_real();
}

#endif
