/*
 * udp.c -- the loop of io.h (attempt.h), twice.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/io/udp.h"

#include "runtime/io/attempt.h"

#include "runtime/base/banned.h"

void
rt_udp_init(struct rt_udp *udp)
{
    rt_assert(udp != NULL);
    *udp = (struct rt_udp){.open = false};
    rt_io_source_init(&udp->source);
}

rt_err
rt_udp_bind(struct rt_udp *udp, struct rt_io *io, const struct rt_net_address *address)
{
    rt_assert(udp != NULL);
    int socket = -1;
    rt_err err = rt__may_start(udp->open ? RT_TCP_OPEN : RT_TCP_CLOSED, io);
    err = err == RT_OK ? io->net->ops->udp_bind(io->net, address, &socket, &udp->local) : err;
    err = err == RT_OK ? rt__adopt(io, &udp->source, socket, RT_NET_READABLE | RT_NET_WRITABLE)
                       : err;
    udp->open = udp->open || err == RT_OK;
    return err;
}

rt_err
rt_udp_connect(struct rt_udp *udp, const struct rt_net_address *peer)
{
    rt_assert(peer != NULL);
    if (!udp->open) {
        return RT_E_STALE;
    }
    struct rt_net *net = rt__net_of(&udp->source);
    rt_err err = net->ops->udp_connect(net, udp->source.socket, peer);
    udp->connected = udp->connected || err == RT_OK;
    return err;
}

static rt_err
try_send(struct rt__attempt *attempt)
{
    struct rt_net *net = rt__net_of(attempt->source);
    return net->ops->send_to(net, attempt->source->socket, attempt->to, attempt->parts->bytes,
            attempt->parts->size, attempt->await);
}

rt_poll
rt_udp_send_to_at(struct rt_udp *udp, struct rt_io_wait *wait, struct rt_cx *cx,
        const struct rt_net_address *to, const void *bytes, size_t size, rt_err *ret_err,
        const struct rt_site *await)
{
    struct rt_net_part all = {bytes, size};
    rt_assert(bytes != NULL || size == 0);
    if (!udp->open || (to == NULL && !udp->connected)) {
        return rt__attempt_refuse(wait, udp->open ? RT_E_INVALID : RT_E_STALE, ret_err, await);
    }
    struct rt__attempt attempt = {.source = &udp->source,
            .direction = RT_DIRECTION_WRITE,
            .reason = "buffer space",
            .once = try_send,
            .to = to,
            .parts = &all,
            .await = await};
    RT_AWAIT(rt__attempt_poll(&attempt, wait, cx));
    *ret_err = attempt.err;
    return RT_READY;
}

static rt_err
try_receive(struct rt__attempt *attempt)
{
    struct rt_net *net = rt__net_of(attempt->source);
    rt_err err = net->ops->receive_from(net, attempt->source->socket, attempt->into, attempt->size,
            attempt->datagram, attempt->await);
    rt_assert(err != RT_OK || attempt->datagram->size <= attempt->size);
    return err;
}

rt_poll
rt_udp_receive_from_at(struct rt_udp *udp, struct rt_io_wait *wait, struct rt_cx *cx, void *buffer,
        size_t size, struct rt_udp_received *ret_received, const struct rt_site *await)
{
    struct rt_net_datagram datagram = {.size = 0};
    rt_assert(buffer != NULL);
    rt_assert(size > 0);
    ret_received->datagram = datagram;
    if (!udp->open) {
        return rt__attempt_refuse(wait, RT_E_STALE, &ret_received->err, await);
    }
    struct rt__attempt attempt = {.source = &udp->source,
            .direction = RT_DIRECTION_READ,
            .reason = "a datagram",
            .once = try_receive,
            .into = buffer,
            .size = size,
            .datagram = &datagram,
            .await = await};
    RT_AWAIT(rt__attempt_poll(&attempt, wait, cx));
    ret_received->err = attempt.err;
    if (attempt.err == RT_OK) {
        ret_received->datagram = datagram;
    }
    return RT_READY;
}

void
rt_udp_close_at(struct rt_udp *udp, const struct rt_site *await)
{
    rt_assert(udp != NULL);
    if (!udp->open) {
        return;
    }
    struct rt_net *net = rt__net_of(&udp->source);
    int socket = udp->source.socket;
    udp->open = udp->connected = false;
    rt_io_deregister_at(&udp->source, await);
    net->ops->close(net, socket);
}
