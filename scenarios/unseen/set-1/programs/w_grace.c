/*
 * w_grace.c -- A server task sleeps until the end of a grace period before it closes; an
 * operator task may shorten the period.
 *
 * Cause: The operator writes the earlier deadline but does not wake the sleeping task, which
 * sleeps on with the deadline that it computed before the change.
 * Where: operator_poll
 * Kind: deadline computed before a change
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

static bool fixed;

struct server {
    struct rt_task task;
    struct rt_slot changed;
    struct rt_sleep sleep;
    uint64_t close_at;
    uint64_t sleeps_until;
    bool closed;
};

struct operator
{
    struct rt_task task;
    struct server *server;
    struct rt_sleep thinks;
    uint64_t delay;
    uint32_t at;
};

static rt_poll
server_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct server *server = rt_container_of(task, struct server, task);
    if (server->sleeps_until != server->close_at) {
        rt_sleep_cancel(&server->sleep);
        rt_sleep_until(&server->sleep, server->close_at);
        server->sleeps_until = server->close_at;
    }
    if (rt_sleep_poll(&server->sleep, cx) == RT_PENDING) {
        rt_slot_replace(&server->changed, cx, "the end of the grace period, or a change of it");
        return RT_PENDING;
    }
    server->closed = true;
    return RT_READY;
}

static rt_poll
operator_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct operator* operator= rt_container_of(task, struct operator, task);
    RT_BEGIN(operator->at);
    rt_sleep_init(&operator->thinks, operator->delay);
    RT_AWAIT_HERE(operator->at, rt_sleep_poll(&operator->thinks, cx));
    operator->server->close_at = rt_cx_now(cx) + 2 * RT_MS; /* Where. */
    if (fixed) {
        rt_slot_wake(&operator->server->changed);
    }
    RT_END(operator->at);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct server *server = sim_new(world, struct server);
    struct operator* operator= sim_new(world, struct operator);
    rt_slot_init(&server->changed);
    rt_sleep_init(&server->sleep, 0);
    server->close_at = 50 * RT_MS;
    operator->server = server;
    operator->delay = sim_range(world, RT_MS, 20 * RT_MS);
    rt_task_init(&server->task, server_poll, NULL, "server");
    rt_task_init(&operator->task, operator_poll, NULL, "operator");
    sim_spawn(rt, &server->task);
    sim_spawn(rt, &operator->task);
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

SIM_SCENARIO(form_broken, .name = "unseen/w-grace/broken",
        .about = "A grace period that is shortened.", .setup = setup_broken,
        .expect = SIM_VERDICT_LATE_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/w-grace/fixed",
        .about = "A grace period that is shortened.", .setup = setup_fixed);
