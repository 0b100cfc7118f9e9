/*
 * zoo.c -- bugs that are not what they say: one that is no bug, one whose fixed form is none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "sim/rewake.h"

static rt_poll
sleep_for_ever(struct rt_task *task, struct rt_cx *cx)
{
    rt_slot_replace((struct rt_slot *)task->output, cx, "no task");
    return RT_PENDING;
}

static rt_poll
finish(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    (void)cx;
    return RT_READY;
}

static void
one_task(struct sim_world *world, rt_poll_fn poll)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct rt_task *task = sim_new(world, struct rt_task);
    struct rt_slot *slot = sim_new(world, struct rt_slot);
    rt_slot_init(slot);
    rt_task_init(task, poll, NULL, "task");
    task->output = slot;
    sim_spawn(rt, task);
}

static void
good(struct sim_world *world)
{
    one_task(world, finish);
}

static void
bad(struct sim_world *world)
{
    one_task(world, sleep_for_ever);
}

SIM_SCENARIO(unfound, .name = "false/u1/broken", .about = "No bug at all.", .setup = good,
        .expect = SIM_VERDICT_DEADLOCK, .bug = "U1", .reference = "none/nothing#1");
SIM_SCENARIO(unfixed, .name = "false/u2/broken", .about = "A deadlock.", .setup = bad,
        .expect = SIM_VERDICT_DEADLOCK, .bug = "U2", .reference = "none/nothing#2");
SIM_SCENARIO(still_bad, .name = "false/u2/fixed", .about = "The same deadlock.", .setup = bad);
SIM_SCENARIO(misnamed, .name = "false/u3/broken", .about = "A deadlock, called a leak.",
        .setup = bad, .expect = SIM_VERDICT_LEAK, .bug = "U3", .reference = "none/nothing#3");
SIM_SCENARIO(alone, .name = "false/u4/broken", .about = "A deadlock, without a fixed form.",
        .setup = bad, .expect = SIM_VERDICT_DEADLOCK, .bug = "U4", .reference = "none/nothing#4");

/* As if the system had been short of memory, once: the first process to come here. */
static void
killed_once(struct sim_world *world)
{
    int marker = open("killed", O_CREAT | O_EXCL, 0600);
    if (marker >= 0) {
        (void)close(marker);
        (void)raise(SIGKILL);
    }
    one_task(world, finish);
}

SIM_SCENARIO(fine, .name = "false/u5/broken", .about = "A deadlock.", .setup = bad,
        .expect = SIM_VERDICT_DEADLOCK, .bug = "U5", .reference = "none/nothing#5");
SIM_SCENARIO(disturbed, .name = "false/u5/fixed", .about = "No bug, but it is killed once.",
        .setup = killed_once);
