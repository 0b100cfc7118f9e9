/*
 * dumb_net.c -- the network of flags.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tests/io/dumb_net.h"

#include <string.h>

static struct dumb_net *
net_of(struct rt_net *seam)
{
    return rt_container_of(seam, struct dumb_net, seam);
}

static struct dumb_socket *
socket_of(struct rt_net *seam, int socket)
{
    ck_assert_msg(socket >= 0 && (uint32_t)socket < DUMB_SOCKETS, "socket %d", socket);
    struct dumb_socket *found = &net_of(seam)->sockets[socket];
    ck_assert_msg(found->open, "socket %d was used, and it is not open", socket);
    return found;
}

int
dumb_open(struct dumb_net *net)
{
    int socket = 0;
    while (net->sockets[socket].open) {
        socket++;
    }
    net->sockets[socket] = (struct dumb_socket){
            .open = true, .start = RT_OK, .read_end = RT_E_AGAIN, .write_end = RT_E_AGAIN};
    return socket;
}

/* What a test has laid out for the next call. */
static rt_err
take(rt_err *laid_out)
{
    rt_err err = *laid_out;
    *laid_out = RT_OK;
    return err;
}

static rt_err
start(struct dumb_net *net, rt_err pending, int *ret_socket)
{
    rt_err err = take(&net->start);
    if (err == RT_OK) {
        *ret_socket = dumb_open(net);
        net->sockets[*ret_socket].start = pending;
    }
    return err;
}

static rt_err
net_listen_start(struct rt_net *seam, const struct rt_net_address *address, uint32_t backlog,
        int *ret_socket)
{
    EXPECT(address->port != 0);
    EXPECT(backlog > 0);
    return start(net_of(seam), RT_OK, ret_socket);
}

static rt_err
net_listen_finish(struct rt_net *seam, int socket)
{
    struct dumb_socket *listener = socket_of(seam, socket);
    listener->finishes++;
    return listener->start;
}

static rt_err
net_connect_start(struct rt_net *seam, const struct rt_net_address *address, int *ret_socket)
{
    EXPECT(address->port != 0);
    return start(net_of(seam), RT_E_AGAIN, ret_socket);
}

static rt_err
net_connect_finish(struct rt_net *seam, int socket)
{
    struct dumb_socket *stream = socket_of(seam, socket);
    ck_assert_msg(stream->writable, "asked for its error before it was writable (N4)");
    stream->finishes++;
    return stream->start;
}

static rt_err
net_accept(struct rt_net *seam, int socket, int *ret_socket, struct rt_net_address *ret_peer)
{
    struct dumb_socket *listener = socket_of(seam, socket);
    listener->accepts++;
    if (listener->waiting == 0) {
        return RT_E_AGAIN;
    }
    rt_err err = take(&listener->refusal);
    if (err != RT_E_NO_DESCRIPTOR) {
        listener->waiting--;
    }
    if (err == RT_OK) {
        *ret_socket = dumb_open(net_of(seam));
        *ret_peer = rt_net_address_v4(10, 0, 0, 1, (uint16_t)(1000 + *ret_socket));
    }
    return err;
}

static uint32_t
amount(uint32_t there, uint32_t at_once, size_t size)
{
    uint32_t moved = at_once != 0 && at_once < there ? at_once : there;
    return moved < size ? moved : (uint32_t)size;
}

static rt_err
net_read(struct rt_net *seam, int socket, void *buffer, size_t size, size_t *ret_size,
        const struct rt_site *await)
{
    struct dumb_socket *stream = socket_of(seam, socket);
    (void)await;
    stream->reads++;
    if (stream->no_bytes) {
        stream->no_bytes = false;
        *ret_size = 0;
        return RT_OK;
    }
    if (stream->readable == 0) {
        return stream->read_end;
    }
    uint32_t moved = amount(stream->readable, stream->at_once, size);
    memset(buffer, 'x', moved);
    stream->readable -= moved;
    *ret_size = moved;
    return RT_OK;
}

static rt_err
net_write(struct rt_net *seam, int socket, const struct rt_net_part *parts, uint32_t count,
        size_t *ret_size, const struct rt_site *await)
{
    struct dumb_socket *stream = socket_of(seam, socket);
    (void)await;
    stream->writes++;
    if (stream->space == 0) {
        return stream->write_end;
    }
    uint32_t moved = amount(stream->space, stream->at_once, rt_net_size(parts, count));
    stream->space -= moved;
    *ret_size = moved;
    return RT_OK;
}

static rt_err
net_shutdown(struct rt_net *seam, int socket)
{
    struct dumb_socket *stream = socket_of(seam, socket);
    if (stream->shut) {
        return RT_E_CLOSED;
    }
    stream->shut = true;
    return RT_OK;
}

static void
net_close(struct rt_net *seam, int socket)
{
    struct dumb_socket *closed = socket_of(seam, socket);
    ck_assert_msg(!closed->watched, "socket %d was closed while it was watched (E7)", socket);
    closed->open = false;
}

static rt_err
net_watch(struct rt_net *seam, int socket, uint64_t token, uint32_t *ret_object)
{
    struct dumb_socket *watched = socket_of(seam, socket);
    rt_err err = take(&net_of(seam)->watch);
    if (err == RT_OK) {
        EXPECT(!watched->watched);
        watched->watched = true;
        watched->token = token;
        *ret_object = 1000 + (uint32_t)socket;
    }
    return err;
}

static void
net_unwatch(struct rt_net *seam, int socket)
{
    struct dumb_socket *watched = socket_of(seam, socket);
    EXPECT(watched->watched);
    watched->watched = false;
}

/* Events stay in the queue when their socket is closed: the network may report them. */
static uint32_t
net_fetch(struct rt_net *seam, struct rt_net_event *ret_events, uint32_t max)
{
    struct dumb_net *net = net_of(seam);
    net->fetches++;
    if (net->fetch_nothing > 0) {
        net->fetch_nothing--;
        return 0;
    }
    uint32_t count = net->events_count < max ? net->events_count : max;
    memcpy(ret_events, net->events, count * sizeof(*ret_events));
    net->events_count -= count;
    memmove(net->events, net->events + count, net->events_count * sizeof(*ret_events));
    net->host->ready[DUMB_NET_SOURCE] = net->events_count > 0;
    return count;
}

static rt_err
net_subscribe(struct rt_net *seam, struct rt_pollable *pollable)
{
    struct dumb_host *host = net_of(seam)->host;
    if (host->alive == host->capacity) {
        return RT_E_FULL;
    }
    dumb_subscribe(host, DUMB_NET_SOURCE, pollable);
    return RT_OK;
}

static const struct rt_net_ops net_ops = {.listen_start = net_listen_start,
        .listen_finish = net_listen_finish,
        .connect_start = net_connect_start,
        .connect_finish = net_connect_finish,
        .accept = net_accept,
        .read = net_read,
        .write = net_write,
        .shutdown = net_shutdown,
        .close = net_close,
        .watch = net_watch,
        .unwatch = net_unwatch,
        .fetch = net_fetch,
        .subscribe = net_subscribe};

void
dumb_net_init(struct dumb_net *net, struct dumb_runtime *dumb)
{
    dumb_init(dumb);
    memset(net, 0, sizeof(*net));
    net->seam = (struct rt_net){.magic = RT_NET_MAGIC, .ops = &net_ops};
    net->host = &dumb->host;
    struct rt_runtime_config config = dumb_config(dumb);
    config.io = (struct rt_io_config){.net = &net->seam,
            .entries = net->entries,
            .capacity = DUMB_IO_SOURCES,
            .events = net->batch,
            .events_max = DUMB_BATCH};
    rt_runtime_init(&dumb->runtime, &config);
    net->io = &dumb->runtime.io;
}

void
dumb_net_fini(struct dumb_net *net, struct dumb_runtime *dumb)
{
    dumb_fini(dumb);
    for (uint32_t i = 0; i < DUMB_SOCKETS; i++) {
        ck_assert_msg(!net->sockets[i].open, "socket %u is open still", i);
    }
}

void
dumb_event(struct dumb_net *net, int socket, uint32_t events)
{
    struct dumb_socket *watched = socket_of(&net->seam, socket);
    EXPECT(watched->watched);
    EXPECT(net->events_count < DUMB_EVENTS);
    watched->writable = watched->writable || (events & (RT_NET_WRITABLE | RT_NET_HANGUP)) != 0;
    net->events[net->events_count++] = (struct rt_net_event){watched->token, events};
    net->host->ready[DUMB_NET_SOURCE] = true;
}

uint32_t
dumb_turn(struct dumb_net *net)
{
    uint32_t woken = 0;
    EXPECT_EQ(rt_io_turn(net->io, &woken), RT_OK);
    return woken;
}
