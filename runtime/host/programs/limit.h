/*
 * limit.h -- descriptors enough for the connections that a server was asked for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_HOST_PROGRAMS_LIMIT_H
#define RT_HOST_PROGRAMS_LIMIT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>

#include "runtime/base/assert.h"

/* Raises the soft limit to `connections` and `spare` descriptors. False: the hard limit is lower;
 * `text` (`size` bytes) says what to do. */
static inline bool
limit_raise(unsigned connections, rlim_t spare, char *text, size_t size)
{
    struct rlimit limit;
    rlim_t needed = connections + spare;
    rt_assert(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    if (limit.rlim_max < needed) {
        (void)snprintf(text, size,
                "%u connections need %llu descriptors, and the limit is %llu: "
                "raise it (ulimit -Hn) or serve fewer (--connections)",
                connections, (unsigned long long)needed, (unsigned long long)limit.rlim_max);
        return false;
    }
    limit.rlim_cur = limit.rlim_cur < needed ? needed : limit.rlim_cur;
    rt_assert(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    return true;
}

#endif
