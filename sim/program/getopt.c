/*
 * getopt.c -- the first call of getopt in a run begins as in a new process.
 *
 * The C library remembers in variables without a name that rewake has read its own options. Where
 * `optind` is 0 it forgets that.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <getopt.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/program/start.h"

static void
forget(void)
{
    struct sim__program_run *run = sim__program_here();
    if (run != NULL && !run->has_options && *run->option_index == 1) {
        *run->option_index = 0;
    }
    if (run != NULL) {
        run->has_options = true;
    }
}

/* X(name, parameters, arguments): the C library's functions that share this memory. */
#define GETOPT_LIST(X) \
    X(getopt, (int count, char *const *list, const char *letters), (count, list, letters)) \
    X(getopt_long, \
            (int count, char *const *list, const char *letters, const struct option *options, \
                    int *ret_index), \
            (count, list, letters, options, ret_index)) \
    X(getopt_long_only, \
            (int count, char *const *list, const char *letters, const struct option *options, \
                    int *ret_index), \
            (count, list, letters, options, ret_index))

#define GETOPT(name, parameters, arguments) \
    int name parameters \
    { \
        int(*next) parameters = NULL; \
        void *symbol = dlsym(RTLD_NEXT, #name); \
        rt_assert(symbol != NULL); \
        memcpy(&next, &symbol, sizeof(next)); \
        forget(); \
        return next arguments; \
    }
GETOPT_LIST(GETOPT)
#undef GETOPT
