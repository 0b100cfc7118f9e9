/*
 * t_transfer.c -- Two transfers between two bank accounts, each account guarded by an async
 * lock; between the locks a transfer looks up a rate, which takes time.
 *
 * Cause: A transfer locks its source account first and its target second, so two opposite
 * transfers take the two locks in opposite order and wait for each other.
 * Where: transfer_poll
 * Kind: deadlock circle
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

static bool fixed;

struct account {
    struct rt_semaphore lock;
    int balance;
};

struct transfer {
    struct rt_task task;
    struct account *accounts;
    uint32_t from;
    uint32_t to;
    uint32_t first;
    uint32_t second;
    struct rt_acquire acquire;
    struct rt_sleep lookup;
    struct rt_sleep start;
    uint64_t delay;
    uint64_t takes;
    uint32_t at;
};

static rt_poll
transfer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct transfer *t = rt_container_of(task, struct transfer, task);
    RT_BEGIN(t->at);
    rt_sleep_init(&t->start, t->delay);
    RT_AWAIT_HERE(t->at, rt_sleep_poll(&t->start, cx));
    t->first = t->from;
    t->second = t->to;
    if (fixed && t->second < t->first) {
        t->first = t->to;
        t->second = t->from;
    }
    rt_acquire_init(&t->acquire, &t->accounts[t->first].lock, 1);
    RT_AWAIT_HERE(t->at, rt_acquire_poll(&t->acquire, cx));
    rt_sleep_init(&t->lookup, t->takes);
    RT_AWAIT_HERE(t->at, rt_sleep_poll(&t->lookup, cx));
    rt_acquire_init(&t->acquire, &t->accounts[t->second].lock, 1);
    RT_AWAIT_HERE(t->at, rt_acquire_poll(&t->acquire, cx)); /* Where. */
    t->accounts[t->from].balance -= 10;
    t->accounts[t->to].balance += 10;
    SIM_ALWAYS(rt_semaphore_release(&t->accounts[t->second].lock, 1) == RT_OK);
    SIM_ALWAYS(rt_semaphore_release(&t->accounts[t->first].lock, 1) == RT_OK);
    RT_END(t->at);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[] = {"rent", "refund"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct account *accounts = sim_alloc(world, 2 * sizeof(struct account));
    for (uint32_t i = 0; i < 2; i++) {
        accounts[i].balance = 100;
        rt_semaphore_init(&accounts[i].lock, 1);
    }
    for (uint32_t i = 0; i < 2; i++) {
        struct transfer *t = sim_new(world, struct transfer);
        t->accounts = accounts;
        t->from = i;
        t->to = 1 - i;
        t->delay = i * 2 * RT_MS + sim_range(world, 0, 2 * RT_MS);
        t->takes = sim_range(world, RT_MS, 2 * RT_MS);
        rt_task_init(&t->task, transfer_poll, NULL, names[i]);
        sim_spawn(rt, &t->task);
    }
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

SIM_SCENARIO(form_broken, .name = "unseen/t-transfer/broken",
        .about = "Opposite transfers lock two accounts.", .setup = setup_broken,
        .expect = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(form_fixed, .name = "unseen/t-transfer/fixed",
        .about = "Opposite transfers lock two accounts.", .setup = setup_fixed);
