/*
 * metal.h -- a runtime on the kernel to test on, and the number of descriptors that are open.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TESTS_HOST_METAL_H
#define RT_TESTS_HOST_METAL_H

#include <dirent.h>
#include <string.h>

#include "runtime/host/epoll.h"
#include "runtime/host/machine.h"
#include "runtime/tests/test.h"

/* The network that a test's runtime is given, and what is done when it has ended: a file that
 * includes tests may put one of its own between (sim/tests/host/record). */
#ifndef METAL_NET
#define METAL_NET(net) (net)
#define METAL_ENDED() ((void)0)
#endif

struct metal {
    struct rt_epoll epoll;
    struct rt_machine machine;
    uint32_t open_before; /* Descriptors. */
};

static inline uint32_t
metal_open_descriptors(void)
{
    uint32_t count = 0;
    DIR *all = opendir("/proc/self/fd");
    ck_assert_ptr_nonnull(all);
    while (readdir(all) != NULL) {
        count++;
    }
    ck_assert_int_eq(closedir(all), 0);
    return count;
}

static inline void
metal_init_with(struct metal *metal, const struct rt_epoll_config *epoll, uint32_t sockets)
{
    memset(metal, 0xa5, sizeof(*metal));
    metal->open_before = metal_open_descriptors();
    EXPECT_EQ(rt_epoll_init(&metal->epoll, epoll), RT_OK);
    struct rt_machine_config config = {.host = &metal->epoll.base.host,
            .net = METAL_NET(&metal->epoll.base.net),
            .tasks = sockets,
            .sockets = sockets};
    EXPECT_EQ(rt_machine_init(&metal->machine, &config), RT_OK);
}

static inline void
metal_init(struct metal *metal)
{
    metal_init_with(metal, NULL, 0);
}

/* No descriptor is left that was not there before. */
static inline void
metal_fini(struct metal *metal)
{
    rt_machine_fini(&metal->machine);
    rt_epoll_fini(&metal->epoll);
    EXPECT_EQ(metal_open_descriptors(), metal->open_before);
    METAL_ENDED();
}

static inline struct rt_executor *
metal_executor(struct metal *metal)
{
    return &metal->machine.runtime.executor;
}

/* Polls the pollables `list`; the indices as letters, "ac". */
static inline const char *
metal_poll(struct metal *metal, struct rt_pollable *const *list, uint32_t count)
{
    static char letters[27];
    uint32_t indices[26];
    uint32_t ready = 0;
    ck_assert_uint_le(count, 26);
    EXPECT_EQ(rt_host_poll(&metal->epoll.base.host, list, count, indices, &ready), RT_OK);
    for (uint32_t i = 0; i < ready; i++) {
        letters[i] = (char)('a' + indices[i]);
    }
    letters[ready] = '\0';
    return letters;
}

#endif
