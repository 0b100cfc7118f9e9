/*
 * seam.c -- a node behind the seam of a network (runtime/io/net.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "sim/host/net_priv.h"
#include "sim/host/sys_inet.h"

#define BATCH_MAX 64u
#define NAME_SIZE 64u

/* Spurious events of one socket between two real ones. */
#define SPURIOUS_MAX 2u

struct sim_node *
sim__node_of(struct rt_net *seam)
{
    rt_check(seam, RT_NET_MAGIC);
    struct sim_node *node = rt_container_of(seam, struct sim_node, seam);
    rt_check(node, SIM__NODE_MAGIC);
    return node;
}

static const char *
name_of(const struct sim_node *node, const char *format, uint32_t number, uint16_t port)
{
    char name[NAME_SIZE];
    if (number != 0) {
        (void)snprintf(name, sizeof(name), "connection %u %s:%u", number, format, port);
    } else {
        (void)snprintf(name, sizeof(name), "%s:%u", format, port);
    }
    return sim__name_join(node->net->world, name, "");
}

rt_err
sim__node_available(struct sim_node *node, uint32_t count)
{
    return sim__fd_available(node->fds, count) == RT_OK ? RT_OK : RT_E_NO_DESCRIPTOR;
}

/* ---- Listening. ------------------------------------------------------------------------------ */

static bool
address_in_use(const struct sim_node *node, uint16_t port)
{
    rt_list_each(link, &node->sockets)
    {
        const struct sim__socket *socket = rt_container_of(link, struct sim__socket, link);
        if (socket->is_listener && !socket->is_local && socket->port == port) {
            return true;
        }
    }
    return false;
}

/* Listens at once, or, by a decision, later. */
static void
begin_to_listen(struct sim__socket *socket)
{
    struct sim_actor *actor = &socket->end.description.source->actor;
    uint64_t late_one_in = socket->node->net->world->options.late_one_in;
    if (sim__one_in(actor, SIM_KIND_LATE, late_one_in)) {
        sim__net_send(socket, SIM__LISTENS * SIM__ARRIVES);
    } else {
        socket->state = SIM__SOCKET_LISTENS;
    }
}

static rt_err
node_listen_start(struct rt_net *seam, const struct rt_net_address *address, uint32_t backlog,
        int *ret_socket)
{
    struct sim_node *node = sim__node_of(seam);
    sim__host_call(node->host, "listen");
    struct rt_net_address own = sim_node_address(node, address->port);
    if (memcmp(own.ip, address->ip, sizeof(own.ip)) != 0) {
        return RT_E_INVALID;
    }
    if (address_in_use(node, address->port)) {
        return RT_E_ADDRESS_IN_USE;
    }
    rt_err err = sim__node_available(node, 1);
    if (err == RT_OK) {
        struct sim__socket *socket =
                sim__socket_new(node, name_of(node, "listener ", 0, address->port), address->port);
        socket->is_listener = true;
        socket->backlog = backlog;
        socket->end.description.owed = SIM_FD_IN | SIM_FD_OUT;
        begin_to_listen(socket);
        *ret_socket = sim__fd_open(&socket->end.description);
    }
    return err;
}

static rt_err
node_listen_finish(struct rt_net *seam, int socket)
{
    struct sim_node *node = sim__node_of(seam);
    sim__host_call(node->host, "listen_finish");
    const struct sim__socket *listener = sim__socket_of(node, socket);
    return listener->state == SIM__SOCKET_LISTENS ? RT_OK : RT_E_AGAIN;
}

/* Takes the connection that has waited longest out of the backlog. */
static struct sim__socket *
take_waiting(struct sim__socket *listener)
{
    struct sim__socket *near =
            rt_container_of(rt_list_pop_front(&listener->queue), struct sim__socket, queue_link);
    listener->waiting--;
    sim__source_moved(listener->end.description.source, 0, NULL, 1);
    sim__source_level(listener->end.description.source, listener->waiting > 0);
    return near;
}

/* The connection is aborted before it is accepted. */
static rt_err
abort_waiting(struct sim__socket *near)
{
    if (near->state == SIM__SOCKET_CONNECTED) {
        sim__socket_reset(near);
    }
    near->state = SIM__SOCKET_CLOSED;
    sim__source_end(near->end.description.source);
    rt_list_unlink(&near->link);
    return RT_E_ABORTED;
}

/* A host over io_uring begins to accept again when it has reported that it could not: there is
 * nothing then, and an event follows. */
static bool
put_off(struct sim__socket *listener)
{
    struct sim_host *host = listener->node->host;
    bool off = listener->exhausted && host->terse &&
               sim__one_in(&host->actor, SIM_KIND_SPURIOUS, host->world->options.spurious_one_in);
    listener->exhausted = false;
    if (off) {
        listener->end.description.owed |= SIM_FD_IN;
        sim__socket_edge(listener, SIM_FD_IN);
    }
    return off;
}

static rt_err
node_accept(struct rt_net *seam, int socket, int *ret_socket, struct rt_net_address *ret_peer)
{
    struct sim_node *node = sim__node_of(seam);
    sim__host_call(node->host, "accept");
    struct sim__socket *listener = sim__socket_of(node, socket);
    if (listener->waiting == 0) {
        listener->end.description.owed |= SIM_FD_IN;
        return RT_E_AGAIN;
    }
    if (put_off(listener)) {
        return RT_E_AGAIN;
    }
    rt_err err = sim__node_available(node, 1);
    listener->exhausted = err != RT_OK;
    if (err != RT_OK) {
        return err;
    }
    struct sim__socket *near = take_waiting(listener);
    if (near->state == SIM__SOCKET_FAILED || (!near->is_local && sim__net_fault(node))) {
        return abort_waiting(near);
    }
    near->owner = node->net->world->current;
    *ret_peer = near->peer_address;
    *ret_socket = sim__fd_open(&near->end.description);
    return RT_OK;
}

/* ---- Connections to the program that a run is of: sockets of sys_inet.h in the node's table. - */

static bool
is_of_program(const struct sim_node *node, int socket)
{
    const struct sim__description *description = sim__fd_get(node->fds, socket);
    return description != NULL && description->ops->sys != NULL;
}

/* 127.0.0.0/8, where the run is of a program. */
static bool
is_program(const struct sim_node *node, const struct rt_net_address *address)
{
    struct rt_net_address local = rt_net_address_v4(127, 0, 0, 0, 0);
    return node->net->world->program && memcmp(address->ip, local.ip, 13) == 0;
}

static rt_err
program_connect(struct sim_node *node, uint16_t port, int *ret_socket)
{
    const struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};
    int socket = sim_sys_socket(node->fds, AF_INET, SOCK_STREAM);
    if (socket < 0) {
        return RT_E_NO_DESCRIPTOR;
    }
    (void)sim_sys_set_status(node->fds, socket, SIM_SYS_NONBLOCK);
    (void)sim_sys_set(node->fds, socket, SIM_SYS_AWAITS_LISTENER, true);
    int err = sim_sys_connect(node->fds, socket, (const struct sockaddr *)&in, sizeof(in), RT_HERE);
    rt_assert(err == -EINPROGRESS);
    *ret_socket = socket;
    return RT_OK;
}

static rt_err
program_connect_finish(struct sim_node *node, int socket)
{
    switch (sim_sys_socket_error(node->fds, socket)) {
    case 0:
        return (sim_sys_events(node->fds, socket) & SIM_FD_OUT) != 0 ? RT_OK : RT_E_AGAIN;
    case ETIMEDOUT:
        return RT_E_TIMED_OUT;
    case ECONNREFUSED:
        return RT_E_REFUSED;
    default:
        return RT_E_RESET;
    }
}

/* ---- Connecting. ----------------------------------------------------------------------------- */

static rt_err
node_connect_start(struct rt_net *seam, const struct rt_net_address *address, int *ret_socket)
{
    struct sim_node *node = sim__node_of(seam);
    sim__host_call(node->host, "connect");
    if (is_program(node, address)) {
        return program_connect(node, address->port, ret_socket);
    }
    rt_err err = sim__node_available(node, 1);
    if (err != RT_OK) {
        return err;
    }
    uint32_t number = node->net->connections_count + 1;
    struct sim__socket *socket =
            sim__socket_new(node, name_of(node, "to ", number, address->port), address->port);
    socket->to = *address;
    socket->end.description.owed = SIM_FD_IN | SIM_FD_OUT;
    sim__net_number(socket);
    rt_assert(socket->number == number);
    *ret_socket = sim__fd_open(&socket->end.description);
    sim__net_ask(socket);
    return RT_OK;
}

static rt_err
node_connect_finish(struct rt_net *seam, int socket)
{
    struct sim_node *node = sim__node_of(seam);
    sim__host_call(node->host, "connect_finish");
    if (is_of_program(node, socket)) {
        return program_connect_finish(node, socket);
    }
    struct sim__socket *stream = sim__socket_of(node, socket);
    switch (stream->state) {
    case SIM__SOCKET_STARTED:
        return RT_E_AGAIN;
    case SIM__SOCKET_FAILED: {
        rt_err error = sim__socket_take_error(stream);
        return error != RT_OK ? error : RT_E_CLOSED;
    }
    case SIM__SOCKET_CONNECTED:
        if (!stream->taken) {
            stream->taken = true;
            sim__source_moved(stream->end.description.source, 0, NULL, 1);
        }
        return RT_OK;
    case SIM__SOCKET_LISTENS:
    case SIM__SOCKET_CLOSED:
    case SIM__SOCKET_DATAGRAMS:
        break;
    }
    return RT_E_INVALID;
}

/* ---- Bytes. ---------------------------------------------------------------------------------- */

/* `way`: SIM_FD_IN, SIM_FD_OUT. */
static rt_err
moved(struct sim_node *node, int socket, uint32_t way, int64_t answer, size_t *ret_size)
{
    if (answer == RT_E_AGAIN) {
        sim__fd_get(node->fds, socket)->owed |= way; /* Of the network's kind, or the program's. */
    }
    if (answer < 0) {
        return (rt_err)answer;
    }
    *ret_size = (size_t)answer;
    return answer == 0 ? RT_E_CLOSED : RT_OK;
}

static rt_err
node_read(struct rt_net *seam, int socket, void *buffer, size_t size, size_t *ret_size,
        const struct rt_site *await)
{
    struct sim_node *node = sim__node_of(seam);
    int64_t answer = sim_fd_read_at(node->fds, socket, buffer, size, await);
    return moved(node, socket, SIM_FD_IN, answer, ret_size);
}

/* The bytes of several parts in one piece; as many as a direction can hold. */
static struct rt_net_part
gather(struct sim_net *net, const struct rt_net_part *parts, uint32_t count)
{
    size_t size = 0;
    if (net->gathered == NULL) {
        net->gathered = sim_alloc(net->world, net->options.capacity);
    }
    for (uint32_t i = 0; i < count && size < net->options.capacity; i++) {
        size_t space = net->options.capacity - size;
        size_t part = parts[i].size < space ? parts[i].size : space;
        sim__send(net->gathered + size, parts[i].bytes, part);
        size += part;
    }
    return (struct rt_net_part){net->gathered, size};
}

static rt_err
node_write(struct rt_net *seam, int socket, const struct rt_net_part *parts, uint32_t count,
        size_t *ret_size, const struct rt_site *await)
{
    struct sim_node *node = sim__node_of(seam);
    struct rt_net_part all = count == 1 ? parts[0] : gather(node->net, parts, count);
    int64_t answer = sim_fd_write_at(node->fds, socket, all.bytes, all.size, await);
    return moved(node, socket, SIM_FD_OUT, answer, ret_size);
}

static rt_err
node_shutdown(struct rt_net *seam, int socket)
{
    struct sim_node *node = sim__node_of(seam);
    sim__host_call(node->host, "shutdown");
    if (is_of_program(node, socket)) {
        return sim_sys_shutdown(node->fds, socket, SIM_SYS_SHUT_WRITE) == 0 ? RT_OK : RT_E_CLOSED;
    }
    struct sim__socket *stream = sim__socket_of(node, socket);
    if (stream->ways != (SIM__READS | SIM__WRITES)) {
        return RT_E_INVALID; /* A pipe. */
    }
    if (stream->state != SIM__SOCKET_CONNECTED || stream->shut) {
        return RT_E_CLOSED;
    }
    sim__socket_shut(stream);
    return RT_OK;
}

static void
node_close(struct rt_net *seam, int socket)
{
    rt_err err = sim_fd_close(sim__node_of(seam)->fds, socket);
    rt_assert(err == RT_OK);
}

/* ---- Interest and events. -------------------------------------------------------------------- */

static rt_err
node_watch(struct rt_net *seam, int socket, uint64_t token, uint32_t *ret_object)
{
    struct sim_node *node = sim__node_of(seam);
    uint32_t interest = SIM_FD_IN | SIM_FD_OUT | SIM_FD_RDHUP | SIM_FD_EDGE;
    sim__fds_call(node->fds, "add"); /* The runtime's own interest is no call of the scenario. */
    rt_err err = sim__epoll_add(&node->fds->own, socket, interest, token);
    *ret_object = is_of_program(node, socket)
                          ? sim__fd_get(node->fds, socket)->source->object
                          : sim__socket_of(node, socket)->end.description.source->object;
    return err;
}

static void
node_unwatch(struct rt_net *seam, int socket)
{
    struct sim_fds *fds = sim__node_of(seam)->fds;
    sim__fds_call(fds, "remove");
    rt_err err = sim__epoll_remove(&fds->own, socket);
    rt_assert(err == RT_OK);
}

static uint32_t
net_events(uint32_t events)
{
    uint32_t reported = 0;
    reported |= (events & SIM_FD_IN) != 0 ? RT_NET_READABLE : 0;
    reported |= (events & SIM_FD_OUT) != 0 ? RT_NET_WRITABLE : 0;
    reported |= (events & SIM_FD_RDHUP) != 0 ? RT_NET_READ_CLOSED : 0;
    reported |= (events & SIM_FD_ERR) != 0 ? RT_NET_ERROR : 0;
    reported |= (events & SIM_FD_HUP) != 0 ? RT_NET_HANGUP : 0;
    return reported;
}

/* Under `hostile`: a spurious event of a watched socket; its read or write returns RT_E_AGAIN. */
static bool
draw_spurious(struct sim_node *node, struct rt_net_event *ret_event)
{
    struct sim_host *host = node->host;
    uint64_t token = 0;
    if (!sim__host_hostile(host) ||
            !sim__one_in(&host->actor, SIM_KIND_SPURIOUS, host->world->options.spurious_one_in)) {
        return false;
    }
    struct sim_source *source = sim__fds_pick(node->fds, &token);
    if (source == NULL || source->spurious >= SPURIOUS_MAX) {
        return false;
    }
    source->spurious++;
    sim_world_event(host->world, SIM_EVENT_SPURIOUS, source->object, 0, 0, 0);
    *ret_event = (struct rt_net_event){token, RT_NET_READABLE | RT_NET_WRITABLE};
    return true;
}

static uint32_t
node_fetch(struct rt_net *seam, struct rt_net_event *ret_events, uint32_t max)
{
    struct sim_node *node = sim__node_of(seam);
    struct sim_fd_event batch[BATCH_MAX];
    uint32_t space_left = max < BATCH_MAX ? max : BATCH_MAX;
    if (sim__fault(node->host, SIM_FAULT_EINTR)) {
        return 0; /* E6 */
    }
    uint32_t count = draw_spurious(node, &ret_events[0]) ? 1 : 0;
    if (count == space_left) {
        return count;
    }
    uint32_t fetched = sim__fds_fetch(node->fds, batch, space_left - count);
    for (uint32_t i = 0; i < fetched; i++) {
        if (node->host->terse && !sim__fds_part(node->fds, &batch[i])) {
            continue;
        }
        ret_events[count++] = (struct rt_net_event){batch[i].data, net_events(batch[i].events)};
    }
    return count;
}

static rt_err
node_subscribe(struct rt_net *seam, struct rt_pollable *pollable)
{
    struct sim_node *node = sim__node_of(seam);
    sim__host_call(node->host, "subscribe");
    sim__record_open_events(node->host, node->fds, pollable);
    return RT_OK;
}

const struct rt_net_ops sim__node_ops = {.listen_start = node_listen_start,
        .listen_finish = node_listen_finish,
        .connect_start = node_connect_start,
        .connect_finish = node_connect_finish,
        .accept = node_accept,
        .read = node_read,
        .write = node_write,
        .shutdown = node_shutdown,
        .local_listen = sim__node_local_listen,
        .local_connect = sim__node_local_connect,
        .local_forget = sim__node_local_forget,
        .pipe = sim__node_pipe,
        .udp_bind = sim__node_udp_bind,
        .udp_connect = sim__node_udp_connect,
        .send_to = sim__node_send_to,
        .receive_from = sim__node_receive_from,
        .close = node_close,
        .watch = node_watch,
        .unwatch = node_unwatch,
        .fetch = node_fetch,
        .subscribe = node_subscribe};
