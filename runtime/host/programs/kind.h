/*
 * kind.h -- the host that a server was asked for: --host epoll, --host io_uring.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_HOST_PROGRAMS_KIND_H
#define RT_HOST_PROGRAMS_KIND_H

#include <string.h>

#include "runtime/host/epoll.h"
#ifdef RT_URING
#include "runtime/host/uring.h"
#endif

/* The kind called `name` (may be NULL); NULL: this program has none, and *ret_why says why. */
static inline const struct rt_linux_kind *
kind_named(const char *name, const char **ret_why)
{
    *ret_why = "takes epoll or io_uring";
    if (name != NULL && strcmp(name, "epoll") == 0) {
        return &rt_epoll_kind;
    }
    if (name != NULL && strcmp(name, "io_uring") == 0) {
#ifdef RT_URING
        return &rt_uring_kind;
#else
        *ret_why = "this program was built without liburing";
#endif
    }
    return NULL;
}

#endif
