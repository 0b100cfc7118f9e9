/*
 * net.c -- nodes, and requests to connect.
 *
 *      ask ──latency──▶ node ──▶ a listener with space: both ends are made  ──latency──▶ CONNECTED
 *                           ├──▶ its backlog is full: asked again later, or ──────────▶ TIMED_OUT
 *                           └──▶ no listener                                ──latency──▶ REFUSED
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/host/net.h"

#include <stdio.h>
#include <string.h>

#include "sim/host/net_priv.h"

#define NAME_MAX_SIZE 64u

/* How long a partition lasts by a decision, and how many there are in a row. */
#define CUT_NS_MIN UINT64_C(1000000)
#define CUT_NS_MAX UINT64_C(10000000000)
#define CUT_STREAK_MAX 3u

/* ---- Partitions. ----------------------------------------------------------------------------- */

void
sim_node_isolate(struct sim_node *node, uint64_t ns)
{
    rt_check(node, SIM__NODE_MAGIC);
    struct sim_world *world = node->net->world;
    uint64_t heals_ns = sim__later(sim_now(world), ns);
    node->heals_ns = heals_ns > node->heals_ns ? heals_ns : node->heals_ns;
    world->heals_ns = heals_ns > world->heals_ns ? heals_ns : world->heals_ns;
}

/* The decisions are those of what is in flight to the node: no other decision moves by them. */
static void
draw_partition(struct sim_node *node)
{
    struct sim_world *world = node->net->world;
    struct sim_actor *actor = &node->source->actor;
    if ((world->faults & SIM_FAULT_PARTITION) == 0 || node->heals_ns > sim_now(world)) {
        return;
    }
    if (node->cut_streak >= CUT_STREAK_MAX ||
            !sim__one_in(actor, SIM_KIND_FAULT, world->options.fault_one_in)) {
        node->cut_streak = 0;
        return;
    }
    node->cut_streak++;
    sim_world_event(world, SIM_EVENT_FAULT, node->source->object, 0, 0, SIM_FAULT_PARTITION);
    sim_node_isolate(node, sim_actor_range(actor, SIM_KIND_LATE, CUT_NS_MIN, CUT_NS_MAX));
}

uint64_t
sim__net_cut_ns(struct sim_node *from, const struct sim_node *to)
{
    if (from == to) {
        return 0;
    }
    draw_partition(from);
    uint64_t now_ns = sim_now(from->net->world);
    uint64_t heals_ns = from->heals_ns > to->heals_ns ? from->heals_ns : to->heals_ns;
    return heals_ns > now_ns ? heals_ns - now_ns : 0;
}

/* ---- Sending. -------------------------------------------------------------------------------- */

void
sim__net_send(struct sim__socket *socket, uint64_t what)
{
    const struct sim_net_options *options = &socket->node->net->options;
    if (socket->state == SIM__SOCKET_CLOSED) {
        return;
    }
    if (socket->is_local) {
        sim__source_arrive_now(socket->end.description.source, what);
    } else {
        uint64_t cut_ns = socket->far != NULL ? sim__net_cut_ns(socket->far, socket->node) : 0;
        sim__source_arrive_in(socket->end.description.source, what,
                cut_ns + options->latency_ns_min, cut_ns + options->latency_ns_max);
    }
}

bool
sim__net_fault(struct sim_node *node)
{
    return sim__fault(node->host, SIM_FAULT_NET);
}

/* ---- Requests. ------------------------------------------------------------------------------- */

void
sim__net_number(struct sim__socket *socket)
{
    struct sim_net *net = socket->node->net;
    sim__reserve(net->world, &net->connections, net->connections_count + 1,
            &net->connections_capacity, sizeof(*net->connections));
    net->connections[net->connections_count++] = socket;
    socket->number = net->connections_count;
}

struct sim_node *
sim__net_node_at(const struct sim_net *net, const struct rt_net_address *address)
{
    rt_list_each(link, &net->nodes)
    {
        struct sim_node *node = rt_container_of(link, struct sim_node, link);
        struct rt_net_address its = sim_node_address(node, address->port);
        if (memcmp(its.ip, address->ip, sizeof(its.ip)) == 0) {
            return node;
        }
    }
    return NULL;
}

/* There is no answer: the request is sent again, or times out. */
static void
ask_later(struct sim__socket *socket)
{
    const struct sim_net_options *options = &socket->node->net->options;
    uint64_t what = ++socket->tries < options->tries ? SIM__ASK_AGAIN : SIM__TIMED_OUT;
    if (socket->state == SIM__SOCKET_STARTED) {
        sim__source_arrive_in(socket->end.description.source, what * SIM__ARRIVES,
                options->retry_ns, options->retry_ns);
    }
}

void
sim__net_ask(struct sim__socket *socket)
{
    const struct sim_net *net = socket->node->net;
    struct sim_node *node = sim__net_node_at(net, &socket->to);
    /* A request to an unknown node is lost, or any request by a fault. */
    if (node == NULL || sim__net_fault(socket->node) || sim__net_cut_ns(socket->node, node) > 0) {
        ask_later(socket);
        return;
    }
    sim__source_arrive_in(
            node->source, socket->number, net->options.latency_ns_min, net->options.latency_ns_max);
}

static struct sim__socket *
listener_at(const struct sim_node *node, uint16_t port)
{
    rt_list_each(link, &node->sockets)
    {
        struct sim__socket *socket = rt_container_of(link, struct sim__socket, link);
        bool listens = socket->is_listener && socket->state == SIM__SOCKET_LISTENS;
        if (listens && !socket->is_local && socket->port == port) {
            return socket;
        }
    }
    return NULL;
}

void
sim__net_connect(struct sim__socket *listener, struct sim__socket *far, const char *name)
{
    struct sim_node *node = listener->node;
    struct sim__socket *near =
            sim__socket_new(node, sim__name_join(node->net->world, name, ""), listener->port);
    near->state = SIM__SOCKET_CONNECTED;
    near->is_local = listener->is_local;
    near->number = far->number;
    near->end.peer = &far->end;
    near->far = far->node;
    if (!near->is_local) {
        near->peer_address = sim_node_address(far->node, (uint16_t)(40000 + far->number));
    }
    far->end.peer = &near->end;
    rt_list_push_back(&listener->queue, &near->queue_link);
    sim__description_readable(&listener->end.description, listener->waiting++ > 0);
    sim__host_changed(node->host);
    sim__net_send(far, SIM__CONNECTED * SIM__ARRIVES);
}

static void
request_arrived(struct sim_node *node, struct sim__socket *far)
{
    char name[NAME_MAX_SIZE];
    if (far->state != SIM__SOCKET_STARTED) {
        return; /* It was closed meanwhile. */
    }
    far->far = node;
    struct sim__socket *listener = listener_at(node, far->to.port);
    if (listener == NULL) {
        sim__net_send(far, SIM__REFUSED * SIM__ARRIVES);
    } else if (listener->waiting >= listener->backlog) {
        ask_later(far);
    } else {
        (void)snprintf(name, sizeof(name), "connection %u at :%u", far->number, listener->port);
        sim__net_connect(listener, far, name);
    }
}

/* A request, or a datagram. */
static void
node_arrived(void *argument, uint64_t amount)
{
    struct sim_node *node = argument;
    rt_check(node, SIM__NODE_MAGIC);
    if (amount >= SIM__ARRIVES) {
        sim__datagram_arrived(node, (uint32_t)(amount - SIM__ARRIVES));
        return;
    }
    rt_assert(amount <= node->net->connections_count);
    request_arrived(node, node->net->connections[amount - 1]);
}

/* ---- Leaks. ---------------------------------------------------------------------------------- */

/* A connection that a task, or a loop that has returned, opened and that was not closed. Listeners,
 * and sockets of loops that have not returned, are not leaks. */
static bool
leaked(const struct sim__socket *socket)
{
    if (socket->is_listener || socket->end.description.numbers == 0) {
        return false;
    }
    enum sim_actor_kind owner = socket->owner->ops->kind;
    return owner == SIM_ACTOR_TASK || (owner == SIM_ACTOR_LOOP && socket->owner->done);
}

static void
net_close(void *argument)
{
    struct sim_net *net = argument;
    rt_list_each(node_link, &net->nodes)
    {
        const struct sim_node *node = rt_container_of(node_link, struct sim_node, link);
        rt_list_each(link, &node->sockets)
        {
            const struct sim__socket *socket = rt_container_of(link, struct sim__socket, link);
            if (leaked(socket)) {
                sim_fail(net->world, SIM_VERDICT_LEAK, SIM_ORACLE_BALANCE, socket->owner, 0,
                        "\"%s\" was opened on \"%s\" and never closed",
                        socket->end.description.source->name, node->name);
            }
        }
    }
}

static const struct sim_binding_ops binding_ops = {.close = net_close};

/* ---- Making it. ------------------------------------------------------------------------------ */

struct sim_net *
sim_net_new(struct sim_world *world, const struct sim_net_options *options)
{
    static const struct sim_net_options defaults = {0};
    rt_assert(world != NULL);
    struct sim_net *net = sim_new(world, struct sim_net);
    net->world = world;
    net->options = options != NULL ? *options : defaults;
    if (net->options.latency_ns_max == 0) {
        net->options.latency_ns_min = UINT64_C(100000);
        net->options.latency_ns_max = UINT64_C(2000000);
    }
    net->options.capacity = net->options.capacity != 0 ? net->options.capacity : 4096;
    net->options.retry_ns = net->options.retry_ns != 0 ? net->options.retry_ns : UINT64_C(10000000);
    net->options.tries = net->options.tries != 0 ? net->options.tries : 5;
    rt_list_init(&net->nodes);
    rt_list_init(&net->spare);
    sim_world_bind(world, &net->binding, &binding_ops, net, NULL);
    return net;
}

struct sim_node *
sim_node_new(struct sim_net *net, struct sim_host *host, const char *name)
{
    rt_assert(net != NULL);
    rt_check(host, SIM__HOST_MAGIC);
    rt_assert(net->nodes_count < 254);
    struct sim_node *node = sim_new(net->world, struct sim_node);
    node->seam = (struct rt_net){.magic = RT_NET_MAGIC, .ops = &sim__node_ops};
    node->magic = SIM__NODE_MAGIC;
    node->index = ++net->nodes_count;
    node->net = net;
    node->host = host;
    node->name = name;
    node->fds = sim_fds_new(host, 3);
    sim__fds_name(node->fds, sim__name_join(net->world, "sockets of ", name));
    node->source = sim__source_new(
            host, sim__name_join(net->world, "network of ", name), node_arrived, node);
    rt_list_init(&node->sockets);
    rt_list_push_back(&net->nodes, &node->link);
    return node;
}

void
sim_node_limit(struct sim_node *node, uint32_t count)
{
    rt_check(node, SIM__NODE_MAGIC);
    rt_assert(count <= node->fds->limit);
    node->fds->limit = count;
}

struct rt_net *
sim_node_seam(struct sim_node *node)
{
    rt_check(node, SIM__NODE_MAGIC);
    return &node->seam;
}

struct rt_net_address
sim_node_address(const struct sim_node *node, uint16_t port)
{
    rt_check(node, SIM__NODE_MAGIC);
    return rt_net_address_v4(10, 0, 0, (uint8_t)node->index, port);
}
