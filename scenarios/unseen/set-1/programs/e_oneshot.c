/*
 * e_oneshot.c -- A oneshot channel between a compute thread and a task of a one-task executor.
 *
 * Cause: The receiver tests for the value before it stores its waker and does not test again, so
 * a send between the two finds no waker and wakes no one.
 * Where: receive
 * Kind: waker stored too late
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

static bool fixed;

struct oneshot {
    bool sent;
    int value;
    void *waiter;
};

struct program {
    struct sim_world *world;
    struct rt_host *host;
    struct rt_pollable bell;
    struct oneshot result;
    bool woken;
    bool finished;
};

static void
send(struct program *p, int value)
{
    p->result.value = value;
    p->result.sent = true;
    if (p->result.waiter != NULL) {
        p->result.waiter = NULL;
        sim_foreign_fire(&p->result.waiter);
        p->woken = true;
        rt_host_notify(p->host);
    }
}

static bool
receive(struct program *p, void *task)
{
    if (p->result.sent) {
        return true;
    }
    (void)rt_host_now(p->host); /* For the statistics: when the wait began. */
    p->result.waiter = task;
    sim_foreign_store(task, &p->result.waiter, "the result"); /* Where. */
    return fixed && p->result.sent;
}

static void
run(struct program *p)
{
    p->woken = false;
    sim_foreign_poll(&p->finished);
    p->finished = receive(p, &p->finished);
    sim_foreign_polled(&p->finished, p->finished);
}

static void
again(void *program, void *task)
{
    (void)task;
    run(program);
}

static void
executor_main(struct sim_world *world, void *argument)
{
    struct program *p = argument;
    struct rt_pollable *list[1] = {&p->bell};
    uint32_t ready[1];
    uint32_t count;
    (void)world;
    while (!p->finished) {
        if (p->woken) {
            run(p);
        } else {
            count = 1;
            SIM_ALWAYS(rt_host_poll(p->host, list, 1, ready, &count) == RT_OK);
        }
    }
    rt_pollable_drop(&p->bell);
}

static void
compute_main(struct sim_world *world, void *argument)
{
    sim_sleep(world, sim_range(world, 0, 600));
    send(argument, 42);
}

static void
setup(struct sim_world *world)
{
    struct program *p = sim_new(world, struct program);
    p->world = world;
    p->host = sim_host_seam(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT));
    SIM_ALWAYS(rt_host_subscribe(p->host, RT_SUBSCRIBE_NOTIFY, 0, &p->bell) == RT_OK);
    p->woken = true;
    struct sim_loop *loop = sim_loop_new(world, "executor", executor_main, p);
    sim_foreign_spawn(sim_foreign_new(loop, again, p), &p->finished, "receiver");
    sim_loop_new(world, "compute", compute_main, p);
}

static void
setup_broken(struct sim_world *world)
{
    fixed = false;
    setup(world);
}

static void
setup_fixed(struct sim_world *world)
{
    fixed = true;
    setup(world);
}

SIM_SCENARIO(form_broken, .name = "unseen/e-oneshot/broken",
        .about = "A oneshot channel from a thread to a task.", .setup = setup_broken,
        .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/e-oneshot/fixed",
        .about = "A oneshot channel from a thread to a task.", .setup = setup_fixed);
