/*
 * tokio-4291.c -- the future inside a timeout uses up the budget, and the deadline is never
 * checked.
 *
 * tokio-rs/tokio#4291, fixed by #4314.
 *
 * The bug. Each poll of a task has a budget, and each operation that is ready takes a unit of it;
 * without a unit, every further operation of that poll returns PENDING. tokio's Timeout polls the
 * inner future first and its own sleep after it, from the same budget. An inner future that is
 * always ready uses it up in each poll, so the sleep is never polled: the timeout never fires.
 *
 * The fix. When the inner future has used up the budget, the sleep is polled unconstrained.
 * tokio-4291.patch removes rt_budget_suspend and rt_budget_resume from runtime/compose/timeout.c.
 *
 * Here. A reader with a limit of 100 us skips the messages of a flooded channel, all that are there
 * in each poll; their number is drawn. A budget is 8: with fewer messages a poll, the sleep is
 * polled, with more it never is.
 *
 * Cause: not-a-wake in poll_both or flood_poll
 * Must end in: livelock. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define BUDGET 8u
#define LIMIT_NS (100 * RT_US)

struct flood {
    struct rt_future future;
    uint64_t at_once; /* Messages that are there at each poll. */
};

struct reader {
    struct rt_task task;
    struct rt_timeout timeout;
    struct flood flood;
};

static rt_poll
flood_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct flood *flood = rt_container_of(future, struct flood, future);
    for (uint64_t i = 0; i < flood->at_once; i++) {
        RT_AWAIT(rt_budget_take(cx)); /* A message, but not the expected one. */
    }
    rt_cx_reenqueue(cx); /* There are more by now. */
    return RT_PENDING;
}

static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct reader *reader = rt_container_of(task, struct reader, task);
    return rt_timeout_poll(&reader->timeout, cx);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt_options options = {.budget = BUDGET};
    struct sim_rt *rt = sim_rt_new(world, &options);
    struct reader *reader = sim_new(world, struct reader);
    reader->flood.at_once = sim_range(world, 1, 12);
    rt_future_init(&reader->flood.future, flood_poll, NULL, "the message");
    rt_timeout_init(&reader->timeout, &reader->flood.future, LIMIT_NS);
    rt_task_init(&reader->task, reader_poll, NULL, "reader");
    sim_spawn(rt, &reader->task);
}

#ifdef ZOO_FORM_BROKEN
SIM_SCENARIO(zoo_tokio_4291_broken, .name = "zoo/tokio-4291/broken", .bug = "F06",
        .reference = "tokio-rs/tokio#4314",
        .about = "A timeout checks its deadline only if the inner future left some budget.",
        .setup = setup, .expect = SIM_VERDICT_LIVELOCK);
#else
SIM_SCENARIO(zoo_tokio_4291_fixed, .name = "zoo/tokio-4291/fixed",
        .about = "A timeout checks its deadline even without budget.", .setup = setup);
#endif
