/*
 * seastar-ae404d1.c -- a pop relies on an item that was there when its waiter was woken.
 *
 * scylladb/seastar commit ae404d1 (queue::pop_eventually).
 *
 * The bug. A pop from an empty queue waits for a promise, "not empty", and then takes the first
 * item. Between the two, other tasks run: `abort` empties the queue. It fails the promise of a
 * waiting pop, but this one is fulfilled already, and the continuation takes the head of an empty
 * queue.
 *
 * The fix. The continuation checks whether the queue was aborted before it pops: pop_eventually
 * below.
 *
 * Here. A printer prints the jobs of its queue. A clerk adds jobs; an operator may abort at any
 * time, also between the arrival of a job and the printer's poll.
 *
 * Cause: not-a-wake in printer_poll or pop_eventually
 * Must end in: crash. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define JOBS 3u

struct job {
    uint32_t pages;
};

enum promise { PROMISE_NONE, PROMISE_MADE, PROMISE_KEPT, PROMISE_FAILED };

struct queue {
    struct job *items[JOBS];
    uint32_t head;
    uint32_t count;
    enum promise not_empty;
    struct rt_slot waiting;
    rt_err err;
    struct job *popped;
    bool aborted;
    bool broken;
};

struct state {
    struct queue queue;
    struct job jobs[JOBS];
    uint32_t brought;
    uint32_t printed;
    uint32_t pages;
    struct rt_task printer;
    struct rt_task clerk;
    struct rt_sleep walk;
    struct rt_task operator;
    struct rt_sleep patience;
};

/* ---- Queue. ---------------------------------------------------------------------------------- */

static void
settle(struct queue *queue, enum promise how)
{
    if (queue->not_empty == PROMISE_MADE) {
        queue->not_empty = how;
        rt_slot_wake(&queue->waiting);
    }
}

static void
push(struct queue *queue, struct job *job)
{
    if (queue->aborted) {
        return;
    }
    queue->items[(queue->head + queue->count) % JOBS] = job;
    queue->count++;
    settle(queue, PROMISE_KEPT);
}

static struct job *
pop(struct queue *queue)
{
    struct job *job = queue->items[queue->head];
    queue->items[queue->head] = NULL;
    queue->head = (queue->head + 1) % JOBS;
    queue->count--;
    return job;
}

static void
abort_queue(struct queue *queue)
{
    queue->aborted = true;
    while (queue->count > 0) {
        (void)pop(queue);
    }
    settle(queue, PROMISE_FAILED);
}

/* READY with queue->err: RT_OK and queue->popped, or RT_E_CLOSED. */
static rt_poll
pop_eventually(struct queue *queue, struct rt_cx *cx)
{
    if (queue->not_empty == PROMISE_NONE && !queue->aborted && queue->count == 0) {
        queue->not_empty = PROMISE_MADE;
    }
    if (queue->not_empty == PROMISE_MADE) {
        rt_slot_replace(&queue->waiting, cx, "a job");
        return RT_PENDING;
    }
    bool fulfilled = queue->not_empty == PROMISE_KEPT;
    queue->not_empty = PROMISE_NONE;
    queue->err = queue->aborted && !(queue->broken && fulfilled) ? RT_E_CLOSED : RT_OK;
    queue->popped = queue->err == RT_OK ? pop(queue) : NULL;
    return RT_READY;
}

/* ---- The office. ----------------------------------------------------------------------------- */

static rt_poll
printer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, printer);
    while (state->printed < JOBS) {
        RT_AWAIT(pop_eventually(&state->queue, cx));
        if (state->queue.err != RT_OK) {
            return RT_READY;
        }
        state->pages += state->queue.popped->pages;
        state->printed++;
        SIM_PROGRESS();
    }
    return RT_READY;
}

static rt_poll
clerk_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, clerk);
    while (state->brought < JOBS) {
        RT_AWAIT(rt_sleep_poll(&state->walk, cx));
        rt_sleep_init(&state->walk, RT_MS);
        push(&state->queue, &state->jobs[state->brought++]);
    }
    return RT_READY;
}

static rt_poll
operator_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, operator);
    RT_AWAIT(rt_sleep_poll(&state->patience, cx));
    abort_queue(&state->queue);
    return RT_READY;
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct state *state = sim_new(world, struct state);
    state->queue.broken = broken;
    rt_slot_init(&state->queue.waiting);
    for (uint32_t i = 0; i < JOBS; i++) {
        state->jobs[i].pages = i + 1;
    }
    rt_sleep_until(&state->walk, RT_MS);
    rt_sleep_until(&state->patience, (JOBS + 1 - sim_pick(world, JOBS + 1)) * RT_MS);
    rt_task_init(&state->printer, printer_poll, NULL, "printer");
    rt_task_init(&state->clerk, clerk_poll, NULL, "clerk");
    rt_task_init(&state->operator, operator_poll, NULL, "operator");
    sim_spawn(rt, &state->printer);
    sim_spawn(rt, &state->clerk);
    sim_spawn(rt, &state->operator);
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

SIM_SCENARIO(zoo_seastar_ae404d1_broken, .name = "zoo/seastar-ae404d1/broken", .bug = "C09",
        .reference = "scylladb/seastar ae404d1",
        .about = "A pop that was woken for an item takes it from a queue emptied since.",
        .setup = setup_broken, .expect = SIM_VERDICT_CRASH);
SIM_SCENARIO(zoo_seastar_ae404d1_fixed, .name = "zoo/seastar-ae404d1/fixed",
        .about = "A pop that was woken checks whether the queue was aborted since.",
        .setup = setup_fixed);
