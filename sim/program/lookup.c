/*
 * lookup.c -- dlsym for a program: the next definition of a call is the simulated one.
 *
 * A library that takes the place of a call, as an allocator that watches pthread_create, asks for
 * the definition behind its own (RTLD_NEXT). That would be the C library's, and the call would
 * leave the simulation; rewake's comes before. The same holds for one that it finds by a handle, in
 * the C library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/base/own.h"
#include "sim/thread/thread.h"

#if SIM_THREAD_PLAYS

typedef void *lookup_fn(void *handle, const char *name);

static lookup_fn *real;

/* The C library's, in the version that the machine has. */
static void
find_real(void)
{
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"};
    void *symbol = NULL;
    for (size_t i = 0; i < sizeof(versions) / sizeof(*versions) && symbol == NULL; i++) {
        symbol = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    }
    rt_assert(symbol != NULL);
    memcpy(&real, &symbol, sizeof(real));
}

/* rewake's definition of `name`; NULL: it has none, or asks for the next one itself. */
static void *
find_own(const char *name, const void *caller)
{
    void *first = sim_is_own((uintptr_t)caller) ? NULL : real(RTLD_DEFAULT, name);
    return first != NULL && sim_is_own((uintptr_t)first) ? first : NULL;
}

/* Whether what `handle` has is the C library's definition, in whose place rewake's is. */
static bool
is_replaced(void *handle, const char *name)
{
    const void *found = real(handle, name);
    return found != NULL && found == real(RTLD_NEXT, name);
}

/* The C library looks at who calls it, so it must be the caller that it returns to. */
#ifdef __clang__
#define AS_CALLER __attribute__((musttail))
#define TAIL_CALLS
#else
#define AS_CALLER
#define TAIL_CALLS __attribute__((optimize("O2"), no_profile_instrument_function))
#endif

TAIL_CALLS void *
dlsym(void *restrict handle, const char *restrict name)
{
    if (real == NULL) {
        find_real();
    }
    if (handle != RTLD_DEFAULT) {
        void *own = find_own(name, __builtin_return_address(0));
        if (own != NULL && (handle == RTLD_NEXT || is_replaced(handle, name))) {
            return own;
        }
    }
    AS_CALLER return real(handle, name);
}
#endif
