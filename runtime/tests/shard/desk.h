/*
 * desk.h -- three sources of a dumb network, and clerks that wait for them.
 *
 * A clerk is a task that waits for one direction of a source, answers "nothing left" (clears), and
 * waits again, `times` times; its name is logged at each poll.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TESTS_SHARD_DESK_H
#define RT_TESTS_SHARD_DESK_H

#include "runtime/tests/io/dumb_net.h"

struct clerk {
    struct rt_task task;
    struct dumb_runtime *dumb;
    struct rt_io_source *source;
    enum rt_direction direction;
    struct rt_io_wait wait;
    struct rt_seen seen;
    uint32_t times;
    uint32_t readies;
    bool keeps;      /* Does not clear. */
    struct spy *spy; /* Waits through a waker from outside. */
};

static inline rt_poll
clerk_wait(struct clerk *clerk, struct rt_cx *cx)
{
    struct rt_cx child = *cx;
    if (clerk->spy != NULL) {
        child = rt_cx_for_child(cx, spy_waker(clerk->spy));
    }
    return rt_io_poll_ready(
            clerk->source, clerk->direction, &clerk->wait, &child, "its source", &clerk->seen);
}

static inline rt_poll
clerk_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct clerk *clerk = rt_container_of(task, struct clerk, task);
    dumb_log(clerk->dumb, task->name);
    for (;;) {
        RT_AWAIT(clerk_wait(clerk, cx));
        if (!clerk->keeps) {
            rt_io_clear(clerk->source, clerk->direction, clerk->seen);
        }
        if (++clerk->readies == clerk->times) {
            return RT_READY;
        }
    }
}

static inline void
clerk_cleanup(struct rt_task *task)
{
    struct clerk *clerk = rt_container_of(task, struct clerk, task);
    rt_io_wait_cancel(&clerk->wait);
}

/* A network, a runtime, and three sources with sockets. */
struct desk {
    struct dumb_runtime dumb;
    struct dumb_net net;
    struct rt_io_source sources[3];
    int sockets[3];
};

static inline void
desk_init(struct desk *desk)
{
    dumb_net_init(&desk->net, &desk->dumb);
    for (uint32_t i = 0; i < 3; i++) {
        rt_io_source_init(&desk->sources[i]);
        desk->sockets[i] = dumb_open(&desk->net);
        EXPECT_EQ(rt_io_register(desk->net.io, &desk->sources[i], desk->sockets[i], 0), RT_OK);
    }
}

static inline void
desk_close(struct desk *desk, uint32_t i)
{
    rt_io_deregister(&desk->sources[i]);
    desk->net.seam.ops->close(&desk->net.seam, desk->sockets[i]);
}

static inline void
desk_fini(struct desk *desk)
{
    for (uint32_t i = 0; i < 3; i++) {
        if (desk->sources[i].io != NULL) {
            desk_close(desk, i);
        }
    }
    dumb_net_fini(&desk->net, &desk->dumb);
}

static inline void
clerk_start(struct clerk *clerk, struct desk *desk, const char *name, uint32_t source,
        enum rt_direction direction, uint32_t times)
{
    *clerk = (struct clerk){.dumb = &desk->dumb,
            .source = &desk->sources[source],
            .direction = direction,
            .times = times};
    rt_io_wait_init(&clerk->wait);
    rt_task_init(&clerk->task, clerk_poll, clerk_cleanup, name);
    EXPECT_EQ(rt_post(&desk->dumb.runtime.executor, &clerk->task), RT_OK);
}

static inline void
reader_of(struct clerk *clerk, struct desk *desk, const char *name, uint32_t source)
{
    clerk_start(clerk, desk, name, source, RT_DIRECTION_READ, 1);
}

static inline void
writer_of(struct clerk *clerk, struct desk *desk, const char *name, uint32_t source)
{
    clerk_start(clerk, desk, name, source, RT_DIRECTION_WRITE, 1);
}

#endif
