/*
 * datagram.c -- datagrams between nodes.
 *
 *      send_to ──latency──▶ node ──▶ a socket of that port: its queue
 *         │                      ├──▶ its queue is full: lost
 *         │                      └──▶ none: the sender, if it has a peer, is sent REFUSED
 *         └── fault `net`: lost, sent twice, or sent on by the node once more (others overtake it)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "sim/host/net_priv.h"

#define SIZE_MAX_V4 65507u /* Of a datagram over IPv4. */
#define QUEUE_MAX 64u
#define NAME_SIZE 64u
#define FIRST_PORT 50000u

enum outcome { LOST, TWICE, LATE, OUTCOMES };

/* ---- In flight. ------------------------------------------------------------------------------ */

static struct sim__datagram *
datagram_new(struct sim_net *net)
{
    struct rt_list *spare = rt_list_pop_front(&net->spare);
    if (spare != NULL) {
        return rt_container_of(spare, struct sim__datagram, link);
    }
    struct sim__datagram *datagram = sim_new(net->world, struct sim__datagram);
    rt_list_init(&datagram->link);
    datagram->index = net->datagrams_count;
    sim__reserve(net->world, &net->datagrams, net->datagrams_count + 1, &net->datagrams_capacity,
            sizeof(*net->datagrams));
    net->datagrams[net->datagrams_count++] = datagram;
    return datagram;
}

static void
launch(struct sim_node *to, const struct sim__datagram *datagram)
{
    const struct sim_net_options *options = &to->net->options;
    sim__source_arrive_in(to->source, SIM__ARRIVES + datagram->index, options->latency_ns_min,
            options->latency_ns_max);
}

static void
dispatch(struct sim__socket *socket, const struct rt_net_address *to, const void *bytes,
        size_t size, bool late)
{
    struct sim_net *net = socket->node->net;
    struct sim_node *node = sim__net_node_at(net, to);
    if (node == NULL || sim__net_cut_ns(socket->node, node) > 0) {
        return; /* Nothing is there, or cut off: lost. */
    }
    struct sim__datagram *datagram = datagram_new(net);
    sim__reserve(net->world, &datagram->bytes, size, &datagram->capacity, 1);
    sim__send(datagram->bytes, bytes, size);
    datagram->size = size;
    datagram->late = late;
    datagram->sender = socket;
    datagram->from = sim_node_address(socket->node, socket->port);
    datagram->to = *to;
    launch(node, datagram);
}

void
sim__datagrams_drop(struct sim__socket *socket)
{
    struct rt_list *first;
    while ((first = rt_list_pop_front(&socket->queue)) != NULL) {
        rt_list_push_back(&socket->node->net->spare, first);
    }
    socket->waiting = 0;
}

/* ---- Arrivals. ------------------------------------------------------------------------------- */

static bool
same(const struct rt_net_address *one, const struct rt_net_address *other)
{
    return one->port == other->port && memcmp(one->ip, other->ip, sizeof(one->ip)) == 0;
}

static struct sim__socket *
socket_at(const struct sim_node *node, uint16_t port)
{
    rt_list_each(link, &node->sockets)
    {
        struct sim__socket *socket = rt_container_of(link, struct sim__socket, link);
        if (socket->state == SIM__SOCKET_DATAGRAMS && socket->port == port) {
            return socket;
        }
    }
    return NULL;
}

/* Whether `socket` keeps it. */
static bool
keep(struct sim__socket *socket, struct sim__datagram *datagram)
{
    bool wanted = !socket->has_peer || same(&socket->to, &datagram->from);
    if (!wanted || socket->waiting >= QUEUE_MAX) {
        return false;
    }
    rt_list_push_back(&socket->queue, &datagram->link);
    sim__description_readable(&socket->end.description, socket->waiting++ > 0);
    sim__source_level(socket->end.description.source, true);
    sim__host_changed(socket->node->host);
    return true;
}

void
sim__datagram_arrived(struct sim_node *node, uint32_t index)
{
    rt_assert(index < node->net->datagrams_count);
    struct sim__datagram *datagram = node->net->datagrams[index];
    if (datagram->late) {
        datagram->late = false;
        launch(node, datagram);
        return;
    }
    /* It is out of the sender's buffer: Linux reports that each time. */
    if (datagram->sender->state == SIM__SOCKET_DATAGRAMS) {
        sim__socket_edge(datagram->sender, SIM_FD_OUT);
    }
    struct sim__socket *socket = socket_at(node, datagram->to.port);
    if (socket == NULL && datagram->sender->has_peer &&
            sim__net_cut_ns(node, datagram->sender->node) == 0) {
        sim__net_send(datagram->sender, SIM__REFUSED * SIM__ARRIVES);
    }
    if (socket == NULL || !keep(socket, datagram)) {
        rt_list_push_back(&node->net->spare, &datagram->link);
    }
}

/* ---- The calls. ------------------------------------------------------------------------------ */

static struct sim__socket *
udp_socket_of(const struct sim_node *node, int fd)
{
    struct sim__socket *socket = sim__socket_of(node, fd);
    rt_assert(socket->state == SIM__SOCKET_DATAGRAMS);
    return socket;
}

/* A free port, where `port` is 0. */
static uint16_t
choose_port(struct sim_node *node, uint16_t port)
{
    while (port == 0) {
        uint16_t next = (uint16_t)(FIRST_PORT + node->net->ports_given++ % 10000);
        port = socket_at(node, next) == NULL ? next : 0;
    }
    return port;
}

rt_err
sim__node_udp_bind(struct rt_net *seam, const struct rt_net_address *address, int *ret_socket,
        struct rt_net_address *ret_local)
{
    struct sim_node *node = sim__node_of(seam);
    char name[NAME_SIZE];
    sim__host_call(node->host, "bind");
    struct rt_net_address own = sim_node_address(node, address->port);
    if (!same(&own, address)) {
        return RT_E_INVALID;
    }
    if (address->port != 0 && socket_at(node, address->port) != NULL) {
        return RT_E_ADDRESS_IN_USE;
    }
    rt_err err = sim__node_available(node, 1);
    if (err == RT_OK) {
        *ret_local = sim_node_address(node, choose_port(node, address->port));
        (void)snprintf(name, sizeof(name), "datagrams :%u", ret_local->port);
        struct sim__socket *socket =
                sim__socket_new(node, sim__name_join(node->net->world, name, ""), ret_local->port);
        socket->state = SIM__SOCKET_DATAGRAMS;
        *ret_socket = sim__fd_open(&socket->end.description);
    }
    return err;
}

rt_err
sim__node_udp_connect(struct rt_net *seam, int fd, const struct rt_net_address *peer)
{
    struct sim_node *node = sim__node_of(seam);
    sim__host_call(node->host, "connect");
    struct sim__socket *socket = udp_socket_of(node, fd);
    socket->to = *peer;
    socket->has_peer = true;
    return RT_OK;
}

/* Fault `net`: what becomes of it, by a decision. */
static void
misfortune(
        struct sim__socket *socket, const struct rt_net_address *to, const void *bytes, size_t size)
{
    struct sim_actor *actor = &socket->node->host->actor;
    uint32_t outcome = sim_actor_choose(actor, SIM_KIND_ORDER, OUTCOMES, SIM_ODDS_EVEN);
    if (outcome != LOST) {
        dispatch(socket, to, bytes, size, outcome == LATE);
    }
    if (outcome == TWICE) {
        dispatch(socket, to, bytes, size, false);
    }
}

rt_err
sim__node_send_to(struct rt_net *seam, int fd, const struct rt_net_address *to, const void *bytes,
        size_t size, const struct rt_site *await)
{
    struct sim_node *node = sim__node_of(seam);
    sim__host_call(node->host, "send_to");
    struct sim__socket *socket = udp_socket_of(node, fd);
    if (size > SIZE_MAX_V4) {
        return RT_E_INVALID;
    }
    rt_err err = sim__socket_take_error(socket);
    if (err != RT_OK) {
        return err;
    }
    rt_assert(to != NULL || socket->has_peer);
    sim__source_moved(socket->end.description.source, SIM_EVENT_WRITE, await, size > 0 ? size : 1);
    if (sim__net_fault(node)) {
        misfortune(socket, to != NULL ? to : &socket->to, bytes, size);
    } else {
        dispatch(socket, to != NULL ? to : &socket->to, bytes, size, false);
    }
    return RT_OK;
}

rt_err
sim__node_receive_from(struct rt_net *seam, int fd, void *buffer, size_t size,
        struct rt_net_datagram *ret_datagram, const struct rt_site *await)
{
    struct sim_node *node = sim__node_of(seam);
    sim__host_call(node->host, "receive_from");
    struct sim__socket *socket = udp_socket_of(node, fd);
    struct sim_source *source = socket->end.description.source;
    rt_err err = sim__socket_take_error(socket);
    if (err != RT_OK || socket->waiting == 0) {
        sim__source_level(source, socket->waiting > 0);
        socket->end.description.owed |= err == RT_OK ? SIM_FD_IN : 0;
        return err != RT_OK ? err : RT_E_AGAIN;
    }
    struct rt_list *first = rt_list_pop_front(&socket->queue);
    rt_assert(first != NULL);
    struct sim__datagram *datagram = rt_container_of(first, struct sim__datagram, link);
    size_t moved = datagram->size < size ? datagram->size : size;
    sim__receive(buffer, datagram->bytes, moved);
    *ret_datagram = (struct rt_net_datagram){moved, datagram->size, datagram->from};
    rt_list_push_back(&node->net->spare, &datagram->link);
    sim__source_moved(source, SIM_EVENT_READ, await, moved > 0 ? moved : 1);
    sim__source_level(source, --socket->waiting > 0);
    return RT_OK;
}
