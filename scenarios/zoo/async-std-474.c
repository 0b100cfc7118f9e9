/*
 * async-std-474.c -- "closed" is a bit of the tail, and the push takes it for a part of the index.
 *
 * async-rs/async-std#474 (commit bc24503).
 *
 * The bug. A bounded queue keeps a stamp beside each slot, and "all receivers are gone" as a bit
 * of its tail. A push compares the tail with the stamp: if they are equal the slot is free; if the
 * stamp is a lap advance, the queue is full; otherwise another thread is in the middle of an
 * operation, and the push retries. With the bit set the third case holds forever.
 *
 * The fix. A push checks the bit first and fails: queue_push below.
 *
 * Here. A sender pushes lines as a reader takes them. A reader that has seen enough leaves, which
 * sets the bit. After the last line this has no effect. Before it, the sender retries until it is
 * killed.
 *
 * Cause: not-a-wake in queue_push
 * Must end in: livelock of the sender. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define SLOTS 2u
#define CLOSED_BIT 2u /* Above the index … */
#define LAP 4u        /* … and below the lap. */
#define LINES 4u

enum push { PUSHED, QUEUE_FULL, CLOSED };

struct queue {
    struct sim_world *world;
    uint32_t head;
    uint32_t tail;
    uint32_t stamps[SLOTS];
    bool broken;
    bool sent; /* The sender is done. */
};

static uint32_t
index_of(uint32_t position)
{
    return position & (CLOSED_BIT - 1);
}

static uint32_t
advance(uint32_t position)
{
    return index_of(position) + 1 < SLOTS ? position + 1 : (position & ~(LAP - 1)) + LAP;
}

static enum push
queue_push(struct queue *queue)
{
    for (;;) {
        uint32_t tail = queue->tail;
        uint32_t *stamp = &queue->stamps[index_of(tail)];
        if (!queue->broken && (tail & CLOSED_BIT) != 0) {
            return CLOSED;
        }
        if (tail == *stamp) {
            queue->tail = advance(tail);
            *stamp = tail + 1;
            SIM_PROGRESS();
            return PUSHED;
        }
        if (*stamp + LAP == tail + 1) {
            return QUEUE_FULL;
        }
        sim_loop_pause(queue->world); /* Another operation is in progress; let it finish. */
    }
}

static bool
queue_pop(struct queue *queue)
{
    uint32_t *stamp = &queue->stamps[index_of(queue->head)];
    if (*stamp != queue->head + 1) {
        return false;
    }
    *stamp = queue->head + LAP;
    queue->head = advance(queue->head);
    SIM_PROGRESS();
    return true;
}

static void
sender_main(struct sim_world *world, void *argument)
{
    struct queue *queue = argument;
    for (uint32_t i = 0; i < LINES;) {
        enum push answer = queue_push(queue);
        if (answer == CLOSED) {
            break;
        }
        i += answer == PUSHED;
        sim_sleep(world, 100 * RT_US);
    }
    queue->sent = true;
}

static void
reader_main(struct sim_world *world, void *argument)
{
    struct queue *queue = argument;
    uint32_t enough = LINES - sim_pick(world, LINES);
    uint32_t seen = 0;
    while (seen < enough) {
        seen += queue_pop(queue);
        sim_sleep(world, 100 * RT_US);
    }
    if (enough == LINES) {
        sim_sleep(world, RT_MS);
    }
    queue->tail |= CLOSED_BIT;
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct queue *queue = sim_new(world, struct queue);
    queue->world = world;
    queue->broken = broken;
    for (uint32_t i = 0; i < SLOTS; i++) {
        queue->stamps[i] = i;
    }
    (void)sim_loop_new(world, "sender", sender_main, queue);
    (void)sim_loop_new(world, "reader", reader_main, queue);
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

SIM_SCENARIO(zoo_async_std_474_broken, .name = "zoo/async-std-474/broken", .bug = "H07",
        .reference = "async-rs/async-std#474",
        .about = "A push compares a tail that has the closed bit in it.", .setup = setup_broken,
        .expect = SIM_VERDICT_LIVELOCK);
SIM_SCENARIO(zoo_async_std_474_fixed, .name = "zoo/async-std-474/fixed",
        .about = "A push checks the closed bit first.", .setup = setup_fixed);
