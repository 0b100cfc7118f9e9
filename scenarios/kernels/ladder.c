/*
 * ladder.c -- a protocol whose state is a number: in each state one peer of four must be the first.
 *
 *      state     0       1       2           8       9
 *      first   peer 1  peer 3  peer 2 ... peer 3  peer 2      leads to the next state,
 *              any other                                      back to state 0
 *
 * The leader of the protocol asks all four peers, fourteen times, and follows the first answer, by
 * its table. One path leads through ten states to a forgotten state. At random one run in some
 * hundred thousand reaches it, and no part of the path is a bug.
 *
 * The code is one loop over a table, as a protocol generator writes it: a run that has passed nine
 * states has taken the same branches as one that passed none, so branch coverage shows nothing. But
 * each state waits on a separate line, and the wakes that led there show how far the run got. `make
 * fuzz-climb` measures the value of that for a fuzzer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenarios/kernels/kernel.h"

#define STATES 10
#define PEERS 4
#define ROUNDS (STATES + PEERS) /* Not all peers are there from the start. */
#define NO_ANSWER (-1)

struct protocol;

struct peer {
    struct rt_task task;
    struct rt_slot asked;
    struct protocol *protocol;
    int64_t name;
};

struct protocol {
    struct rt_task task;
    struct rt_slot answered;
    struct sim_cell first; /* The first answer of this round. */
    struct sim_cell over;
    struct peer peers[PEERS];
    const struct rt_site *lines[STATES + 1]; /* The line on which state i waits. */
    uint8_t next[STATES + 1][PEERS];
    uint32_t state;
    uint32_t round;
    uint32_t forgotten; /* The state that the specification lacks; none, when fixed. */
};

static rt_poll
peer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct peer *peer = rt_container_of(task, struct peer, task);
    struct protocol *protocol = peer->protocol;
    if (sim_cell_get(&protocol->over) != 0) {
        return RT_READY;
    }
    if (sim_cell_cas(&protocol->first, NO_ANSWER, peer->name)) {
        (void)rt_slot_wake(&protocol->answered);
    }
    rt_slot_replace(&peer->asked, cx, "the next question");
    return RT_PENDING;
}

static void
ask_all(struct protocol *protocol)
{
    sim_cell_set(&protocol->first, NO_ANSWER);
    for (uint32_t i = 0; i < PEERS; i++) {
        (void)rt_slot_wake(&protocol->peers[i].asked);
    }
}

static rt_poll
protocol_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct protocol *protocol = rt_container_of(task, struct protocol, task);
    int64_t first = sim_cell_get(&protocol->first);
    if (first != NO_ANSWER) {
        protocol->state = protocol->next[protocol->state][first];
        protocol->round++;
        SIM_ALWAYS(protocol->state != protocol->forgotten);
        if (protocol->round == ROUNDS) {
            sim_cell_set(&protocol->over, 1);
            ask_all(protocol);
            return RT_READY;
        }
        ask_all(protocol);
    }
    const struct rt_site *line = protocol->lines[protocol->state];
    rt_slot_replace_at(&protocol->answered, cx, "an answer", line, line);
    return RT_PENDING;
}

/* A line each: ten states and the forgotten one. */
static void
set_lines(const struct rt_site **lines)
{
    *lines++ = RT_HERE;
    *lines++ = RT_HERE;
    *lines++ = RT_HERE;
    *lines++ = RT_HERE;
    *lines++ = RT_HERE;
    *lines++ = RT_HERE;
    *lines++ = RT_HERE;
    *lines++ = RT_HERE;
    *lines++ = RT_HERE;
    *lines++ = RT_HERE;
    *lines++ = RT_HERE;
}

static struct protocol *
protocol_new(struct sim_world *world)
{
    static const uint8_t right[STATES] = {1, 3, 2, 2, 1, 3, 1, 2, 3, 2};
    struct protocol *protocol = sim_new(world, struct protocol);
    for (uint32_t state = 0; state < STATES; state++) {
        protocol->next[state][right[state]] = (uint8_t)(state + 1);
    }
    set_lines(protocol->lines);
    sim_cell_init(world, &protocol->first, "who is first", NO_ANSWER);
    sim_cell_init(world, &protocol->over, "over", 0);
    rt_slot_init(&protocol->answered);
    return protocol;
}

static void
build(struct sim_world *world, uint32_t forgotten)
{
    struct starter *starter = starter_new(world, PEERS + 1);
    struct protocol *protocol = protocol_new(world);
    protocol->forgotten = forgotten;
    starter_add(starter, &protocol->task, protocol_poll, "protocol");
    for (uint32_t i = 0; i < PEERS; i++) {
        struct peer *peer = &protocol->peers[i];
        peer->protocol = protocol;
        peer->name = i;
        rt_slot_init(&peer->asked);
        starter_add(starter, &peer->task, peer_poll, "peer");
    }
}

static void
setup_broken(struct sim_world *world)
{
    build(world, STATES);
}

static void
setup_fixed(struct sim_world *world)
{
    build(world, UINT32_MAX);
}

SIM_SCENARIO(ladder_broken, .name = "kernel/ladder/broken",
        .about = "Ten times in a row the one right peer of four must answer first.",
        .setup = setup_broken, .expect = SIM_VERDICT_INVARIANT, .declared = true);
SIM_SCENARIO(ladder_fixed, .name = "kernel/ladder/fixed",
        .about = "The same protocol, in which no state is forgotten.", .setup = setup_fixed,
        .declared = true);
