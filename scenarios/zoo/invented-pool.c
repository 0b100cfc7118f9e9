/*
 * invented-pool.c -- a returned connection wakes a request that has timed out.
 *
 * A relative of C01 and C07, invented: no public issue.
 *
 * The bug. A request that finds no idle connection joins a queue. A request that times out leaves
 * its node in the queue, to be skipped later. A connection that is returned takes the first node
 * out of the queue and wakes its request; if that has timed out, nothing else happens, and the
 * connection is idle while the next in the queue sleeps.
 *
 * The fix. Nodes are taken out until a request was woken: pool_wake_next() below.
 *
 * Here. Two requests, which wait for a millisecond at most, and a nightly report, which waits
 * without a limit, share one connection. One request holds it for a long time, the other times
 * out, and the report is queued after that one.
 *
 * Cause: never-fired in pool_wake_next or request_poll
 * Must end in: lost-wakeup of the report. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define PATIENCE_NS RT_MS

/* ---- The pool. ------------------------------------------------------------------------------- */

struct pool {
    bool broken;
    uint32_t idle;
    struct rt_list line;
};

/* A wait for a connection. Its node is in the queue from its first poll until it is taken out. */
struct checkout {
    struct rt_future future;
    struct pool *pool;
    struct rt_list node;
    struct rt_slot slot;
};

/* There is an idle connection: wakes the first in the queue that still waits. */
static void
pool_wake_next(struct pool *pool)
{
    struct rt_list *node;
    while ((node = rt_list_pop_front(&pool->line)) != NULL) {
        struct checkout *checkout = rt_container_of(node, struct checkout, node);
        bool was_there = rt_slot_wake(&checkout->slot);
        if (was_there || pool->broken) {
            return;
        }
    }
}

static void
pool_put(struct pool *pool)
{
    pool->idle++;
    pool_wake_next(pool);
}

static rt_poll
checkout_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct checkout *checkout = rt_container_of(future, struct checkout, future);
    struct pool *pool = checkout->pool;
    if (pool->idle > 0) {
        pool->idle--;
        rt_list_unlink(&checkout->node);
        SIM_PROGRESS();
        return RT_READY;
    }
    if (rt_list_empty(&checkout->node)) {
        rt_list_push_back(&pool->line, &checkout->node);
    }
    rt_slot_replace(&checkout->slot, cx, "a connection");
    return RT_PENDING;
}

/* A request that was woken for a connection and does not take it wakes the next. */
static void
checkout_drop(struct rt_future *future)
{
    struct checkout *checkout = rt_container_of(future, struct checkout, future);
    rt_slot_clear(&checkout->slot);
    if (checkout->pool->idle > 0) {
        pool_wake_next(checkout->pool);
    }
}

static void
checkout_init(struct checkout *checkout, struct pool *pool)
{
    rt_future_init(&checkout->future, checkout_poll, checkout_drop, "checkout");
    checkout->pool = pool;
    rt_list_init(&checkout->node);
    rt_slot_init(&checkout->slot);
}

/* ---- The users of the pool. ------------------------------------------------------------------ */

enum { CHECKOUT, PATIENCE, CHILDREN };

struct user {
    struct rt_task task;
    uint32_t at;
    struct rt_sleep arrival;
    struct rt_sleep query;
    struct checkout checkout;
    struct rt_sleep_future patience; /* The limit of a request. */
    struct rt_child children[CHILDREN];
    struct rt_race race;
};

static rt_poll
request_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct user *user = rt_container_of(task, struct user, task);
    RT_BEGIN(user->at);
    RT_AWAIT_HERE(user->at, rt_sleep_poll(&user->arrival, cx));
    RT_AWAIT_HERE(user->at, rt_race_poll(&user->race, cx));
    if (user->race.winner == CHECKOUT) {
        RT_AWAIT_HERE(user->at, rt_sleep_poll(&user->query, cx));
        pool_put(user->checkout.pool);
    }
    RT_END(user->at);
}

static rt_poll
report_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct user *user = rt_container_of(task, struct user, task);
    RT_BEGIN(user->at);
    RT_AWAIT_HERE(user->at, rt_sleep_poll(&user->arrival, cx));
    RT_AWAIT_HERE(user->at, rt_future_poll(&user->checkout.future, cx));
    RT_AWAIT_HERE(user->at, rt_sleep_poll(&user->query, cx));
    pool_put(user->checkout.pool);
    RT_END(user->at);
}

static struct user *
user_new(struct sim_world *world, struct pool *pool, rt_poll_fn poll, const char *name)
{
    struct user *user = sim_new(world, struct user);
    rt_sleep_init(&user->arrival, sim_range(world, 0, RT_MS));
    rt_sleep_init(&user->query, sim_range(world, 0, 3 * RT_MS));
    checkout_init(&user->checkout, pool);
    rt_sleep_future_init(&user->patience, PATIENCE_NS);
    user->children[CHECKOUT].future = &user->checkout.future;
    user->children[PATIENCE].future = &user->patience.future;
    SIM_ALWAYS(rt_race_init(&user->race, user->children, CHILDREN) == RT_OK);
    rt_task_init(&user->task, poll, NULL, name);
    return user;
}

static void
begin(struct sim_world *world, bool broken)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct pool *pool = sim_new(world, struct pool);
    pool->broken = broken;
    pool->idle = 1;
    rt_list_init(&pool->line);
    sim_spawn(rt, &user_new(world, pool, request_poll, "request 1")->task);
    sim_spawn(rt, &user_new(world, pool, request_poll, "request 2")->task);
    sim_spawn(rt, &user_new(world, pool, report_poll, "report")->task);
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

SIM_SCENARIO(zoo_invented_pool_broken, .name = "zoo/invented-pool/broken", .bug = "R02",
        .reference = "relative of C01, C07",
        .about = "A returned connection wakes a request that timed out, and no other.",
        .setup = setup_broken, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(zoo_invented_pool_fixed, .name = "zoo/invented-pool/fixed",
        .about = "A returned connection wakes the first request that still waits.",
        .setup = setup_fixed);
