// SPDX-License-Identifier: Apache-2.0
/* Cause: node_poll() line 108: while its own letter finds no room in the other's inbox, a node
 * does not read its inbox; when both are full each waits for the other. Repair: go on to receive while a
 * letter waits to be sent (without `stubborn`). */
#include <sim/rewake.h>

#define RUMOURS 3

/* A rumour comes in two letters. */
enum { FIRST_HALF, SECOND_HALF, THANKS };

struct node {
    struct rt_task task;
    struct node *other;
    struct rt_channel inbox;
    uint32_t ring[1];
    struct rt_send send;
    struct rt_recv recv;
    struct rt_sleep idea;
    uint64_t idea_ns[RUMOURS];
    uint32_t outbox[3 * RUMOURS];
    uint32_t put; /* Into the outbox, */
    uint32_t out; /* and out of it. */
    uint32_t rumours;
    uint32_t heard;
    uint32_t thanked;
    uint32_t letter;
    bool thinking;
    bool sending;
    bool receiving;
    bool stubborn;
};

static void
post(struct node *node, uint32_t letter)
{
    node->outbox[node->put++] = letter;
}

/* READY: a rumour has come to mind. */
static rt_poll
think(struct node *node, struct rt_cx *cx)
{
    if (node->rumours == RUMOURS) {
        return RT_PENDING;
    }
    if (!node->thinking) {
        node->thinking = true;
        rt_sleep_init(&node->idea, node->idea_ns[node->rumours]);
    }
    RT_AWAIT(rt_sleep_poll(&node->idea, cx));
    node->thinking = false;
    node->rumours++;
    post(node, FIRST_HALF);
    post(node, SECOND_HALF);
    return RT_READY;
}

/* READY: all letters are in the other's inbox. */
static rt_poll
flush(struct node *node, struct rt_cx *cx)
{
    while (node->out < node->put) {
        if (!node->sending) {
            node->sending = true;
            rt_send_init(&node->send, &node->other->inbox, &node->outbox[node->out]);
        }
        RT_AWAIT(rt_send_poll(&node->send, cx));
        SIM_ALWAYS(node->send.err == RT_OK);
        node->sending = false;
        node->out++;
    }
    return RT_READY;
}

/* READY: one letter was read. */
static rt_poll
receive(struct node *node, struct rt_cx *cx)
{
    if (node->heard == RUMOURS && node->thanked == RUMOURS) {
        return RT_PENDING;
    }
    if (!node->receiving) {
        node->receiving = true;
        rt_recv_init(&node->recv, &node->inbox, &node->letter);
    }
    RT_AWAIT(rt_recv_poll(&node->recv, cx));
    SIM_ALWAYS(node->recv.err == RT_OK);
    node->receiving = false;
    if (node->letter == SECOND_HALF) {
        node->heard++;
        post(node, THANKS);
    } else if (node->letter == THANKS) {
        node->thanked++;
    }
    return RT_READY;
}

static rt_poll
node_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct node *node = rt_container_of(task, struct node, task);
    bool progress = true;
    while (progress) {
        progress = think(node, cx) == RT_READY;
        if (node->out < node->put) {
            rt_poll sent = flush(node, cx);
            progress = progress || sent == RT_READY;
            if (node->stubborn && sent == RT_PENDING) {
                return RT_PENDING;
            }
        }
        progress = receive(node, cx) == RT_READY || progress;
    }
    bool over = node->rumours == RUMOURS && node->heard == RUMOURS && node->thanked == RUMOURS &&
                node->out == node->put;
    return over ? RT_READY : RT_PENDING;
}

static void
begin(struct sim_world *world, bool stubborn)
{
    static const char *const names[2] = {"ann", "bea"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct node *nodes[2] = {sim_new(world, struct node), sim_new(world, struct node)};
    for (uint32_t i = 0; i < 2; i++) {
        struct node *node = nodes[i];
        node->other = nodes[1 - i];
        node->stubborn = stubborn;
        rt_channel_init(&node->inbox,
                &(struct rt_channel_config){
                        .ring = node->ring, .item_size = sizeof(node->ring[0]), .capacity = 1});
        rt_channel_add_sender(&node->inbox);
        rt_channel_add_receiver(&node->inbox);
        for (uint32_t k = 0; k < RUMOURS; k++) {
            node->idea_ns[k] = sim_range(world, (100 + i * 30) * RT_US, 1 * RT_MS);
        }
        rt_task_init(&node->task, node_poll, NULL, names[i]);
        sim_spawn(rt, &node->task);
    }
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, true);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, false);
}

SIM_SCENARIO(gossip_broken, .name = "s10/gossip/broken",
        .about = "Two nodes that tell each other rumours.", .setup = setup_broken);
SIM_SCENARIO(gossip_fixed, .name = "s10/gossip/fixed",
        .about = "Two nodes that tell each other rumours.", .setup = setup_fixed);
