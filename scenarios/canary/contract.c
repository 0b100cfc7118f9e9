/*
 * contract.c -- a canary: a task returns PENDING and has stored no waker.
 *
 * A hand-written poll function checks its box, finds nothing and returns. If an item is in the box
 * before the first check it works, so its author's test passed. The runtime detects at the end of
 * the poll that no waker was stored (T12).
 *
 * Must end in: contract.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

struct box {
    bool full;
};

struct player {
    struct rt_task task;
    struct box *box;
};

static rt_poll
taker_poll(struct rt_task *task, struct rt_cx *cx)
{
    const struct player *taker = rt_container_of(task, struct player, task);
    (void)cx;
    return taker->box->full ? RT_READY : RT_PENDING;
}

static rt_poll
giver_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct player *giver = rt_container_of(task, struct player, task);
    (void)cx;
    giver->box->full = true;
    return RT_READY;
}

static void
spawn(struct sim_world *world, struct sim_rt *rt, struct box *box, rt_poll_fn poll,
        const char *name)
{
    struct player *player = sim_new(world, struct player);
    player->box = box;
    rt_task_init(&player->task, poll, NULL, name);
    sim_spawn(rt, &player->task);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct box *box = sim_new(world, struct box);
    spawn(world, rt, box, taker_poll, "taker");
    spawn(world, rt, box, giver_poll, "giver");
}

SIM_SCENARIO(canary_contract, .name = "canary/contract",
        .about = "A poll answers PENDING and has stored no waker.", .setup = setup,
        .expect = SIM_VERDICT_CONTRACT);
