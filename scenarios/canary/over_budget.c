/*
 * over_budget.c -- a canary: a task that sorts a whole page in one poll.
 *
 * The runtime has a quota of 500 us; a page takes 2 ms, and the sorter yields between pages only.
 * Its neighbour, which answers requests, is woken in time and still has to wait.
 *
 * Must end in: over-budget.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define PAGES 4u

struct sorter {
    struct rt_task task;
    struct rt_yield yield;
    struct sim_world *world;
    uint32_t pages;
};

struct server {
    struct rt_task task;
    struct rt_sleep sleep;
};

static rt_poll
sorter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct sorter *sorter = rt_container_of(task, struct sorter, task);
    while (sorter->pages < PAGES) {
        RT_AWAIT(rt_maybe_yield(&sorter->yield, cx));
        sim_work(sorter->world, 2 * RT_MS); /* and does not yield meanwhile */
        sorter->pages++;
    }
    return RT_READY;
}

static rt_poll
server_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct server *server = rt_container_of(task, struct server, task);
    RT_AWAIT(rt_sleep_poll(&server->sleep, cx));
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt_options options = {.task_quota_ns = RT_TASK_QUOTA_NS};
    struct sim_rt *rt = sim_rt_new(world, &options);
    struct sorter *sorter = sim_new(world, struct sorter);
    struct server *server = sim_new(world, struct server);
    sorter->world = world;
    rt_task_init(&sorter->task, sorter_poll, NULL, "sorter");
    rt_task_init(&server->task, server_poll, NULL, "server");
    rt_sleep_init(&server->sleep, 100 * RT_US);
    sim_spawn(rt, &server->task);
    sim_spawn(rt, &sorter->task);
}

SIM_SCENARIO(canary_over_budget, .name = "canary/over-budget",
        .about = "A task works for longer than its quota and does not yield.", .setup = setup,
        .expect = SIM_VERDICT_OVER_BUDGET);
