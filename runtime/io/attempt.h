/*
 * attempt.h -- the loop of io.h (E4), shared by tcp.c, local.c and udp.c.
 *
 * Each polled call is an *attempt*: its direction, its task's wait reason, and one call of the
 * network that may answer RT_E_AGAIN. rt__attempt_poll is the loop, and nothing else is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_IO_ATTEMPT_H
#define RT_IO_ATTEMPT_H

#include "runtime/io/tcp.h"

struct rt__attempt {
    struct rt_io_source *source;
    enum rt_direction direction;
    const char *reason;
    rt_err (*once)(struct rt__attempt *attempt); /* RT_E_AGAIN: not now, and nothing was taken. */
    rt_err err;
    const struct rt_site *await;
    /* For some of them. */
    void *into;
    const struct rt_net_part *parts;
    uint32_t count; /* Of the parts. */
    size_t size;
    size_t moved;
    bool emptied; /* RT_OK, and a further try would be RT_E_AGAIN (net.h). */
    int socket;
    struct rt_net_address peer;
    const struct rt_net_address *to;
    struct rt_net_datagram *datagram;
};

static inline struct rt_net *
rt__net_of(const struct rt_io_source *source)
{
    rt_assert(source->io != NULL);
    return source->io->net;
}

/* Tries until it is not RT_E_AGAIN; READY: attempt->err. */
rt_poll rt__attempt_poll(struct rt__attempt *attempt, struct rt_io_wait *wait, struct rt_cx *cx);

/* Answers at once, without a wait left registered. */
rt_poll rt__attempt_refuse(
        struct rt_io_wait *wait, rt_err err, rt_err *ret_err, const struct rt_site *await);

/* Takes `socket` in: registered, or closed again. */
rt_err rt__adopt(struct rt_io *io, struct rt_io_source *source, int socket, uint32_t assumed);

/* Why one in `state` cannot be started, or used; or RT_OK. */
rt_err rt__may_start(enum rt_tcp_state state, const struct rt_io *io);
rt_err rt__may_use(enum rt_tcp_state state);

#endif
