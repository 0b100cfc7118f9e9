/*
 * hedge.c -- a client whose polls ask one replica, then the other; the other one is faster.
 *
 * The first poll asks the slow replica (5 ms). Each further poll asks the other one of the two, so
 * a spurious poll asks the fast one (1 ms) and brings the end forward. That is the client's choice
 * and no missed wake: any poll at any time has the same effect, also the one right after the
 * client's own last step. Correct.
 *
 * same-slot: the client waits in one slot, on one line, and only the text of its reason changes.
 * other-slot: it waits in one slot per replica, so a spurious poll changes the object of the wait.
 *
 * Guards: what comes earlier by a poll is no evidence where the same poll right after the task's
 * own last step brings it earlier as well (the placebo). same-slot: text decides nothing.
 * Must end in: pass, for each order and audit rate.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

struct replica {
    struct rt_task task;
    struct program *program;
    struct rt_slot request;
    struct rt_sleep work;
    uint64_t work_ns;
    bool asked;
    bool working;
};

struct program {
    struct rt_task client;
    struct replica replicas[2]; /* The slow one, the fast one. */
    struct rt_slot answers[2];
    bool one_slot; /* The first of these is for both. */
    uint32_t polls;
    bool answered;
};

static void
replica_ask(struct replica *replica)
{
    replica->asked = true;
    rt_slot_wake(&replica->request);
}

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct program *program = rt_container_of(task, struct program, client);
    if (program->answered) { /* A replica that was not asked may end now. */
        replica_ask(&program->replicas[0]);
        replica_ask(&program->replicas[1]);
        return RT_READY;
    }
    uint32_t turn = program->polls++ % 2;
    replica_ask(&program->replicas[turn]);
    rt_slot_replace(&program->answers[program->one_slot ? 0 : turn], cx,
            turn == 0 ? "the slow replica" : "the fast replica");
    return RT_PENDING;
}

static rt_poll
replica_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct replica *replica = rt_container_of(task, struct replica, task);
    struct program *program = replica->program;
    if (!replica->asked) {
        rt_slot_replace(&replica->request, cx, "a request");
        return RT_PENDING;
    }
    if (!replica->working) {
        replica->working = true;
        rt_sleep_init(&replica->work, replica->work_ns);
    }
    RT_AWAIT(rt_sleep_poll(&replica->work, cx));
    program->answered = true;
    rt_slot_wake(&program->answers[0]);
    rt_slot_wake(&program->answers[1]);
    return RT_READY;
}

static void
begin(struct sim_world *world, bool one_slot)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct program *program = sim_new(world, struct program);
    program->one_slot = one_slot;
    rt_task_init(&program->client, client_poll, NULL, "client");
    sim_spawn(rt, &program->client);
    for (uint32_t i = 0; i < 2; i++) {
        struct replica *replica = &program->replicas[i];
        replica->program = program;
        replica->work_ns = i == 0 ? 5 * RT_MS : RT_MS;
        rt_slot_init(&program->answers[i]);
        rt_slot_init(&replica->request);
        rt_task_init(&replica->task, replica_poll, NULL, i == 0 ? "slow" : "fast");
        sim_spawn(rt, &replica->task);
    }
}

static void
setup_same_slot(struct sim_world *world)
{
    begin(world, true);
}

static void
setup_other_slot(struct sim_world *world)
{
    begin(world, false);
}

SIM_SCENARIO(oracle_hedge_same_slot, .name = "oracle/hedge/same-slot",
        .about = "Each poll asks another replica, and waits in the same slot.",
        .setup = setup_same_slot);
SIM_SCENARIO(oracle_hedge_other_slot, .name = "oracle/hedge/other-slot",
        .about = "Each poll asks another replica, and waits in that replica's slot.",
        .setup = setup_other_slot);
