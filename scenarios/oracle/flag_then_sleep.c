/*
 * flag_then_sleep.c -- a flag is set without a wake; the task that waits for it then sleeps.
 *
 * A job waits for a flag, and works for 5 ms after it. The setter sets the flag after 2 ms. A
 * heartbeat in the background wakes the job each 10 ms, so the run ends in any case.
 *
 * broken: the setter forgets the wake. The job starts its 5 ms at the next heartbeat, 8 ms late. A
 * spurious poll at the quiescence after 2 ms completes nothing and consumes nothing: it only makes
 * the job wait for a timer instead of the flag. But the job then ends earlier than without the
 * poll, and the same poll right after the job's own last step, before the flag was set, brings
 * nothing.
 *
 * in-slack: the setter leaves the wake to the heartbeat too, but that beats each millisecond, and
 * the program declares that a wake may be 2 ms late. Correct. broken-beyond-slack: as broken, with
 * 2 ms declared and without the work: a spurious poll completes the job at once, 8 ms before the
 * heartbeat.
 *
 * Guards: a changed wait counts where it brings something forward, by more than the slack; a gain
 * counts where the run itself does not have it within the slack.
 * Must end in: late-wakeup of the job. fixed, in-slack: pass.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

struct program {
    bool wakes; /* The setter does. */
    uint64_t beat_ns;
    uint64_t work_ns; /* After the flag. */
    struct rt_slot flag;
    bool is_set;
    bool working;
    struct rt_task job;
    struct rt_task setter;
    struct rt_task heartbeat;
    struct rt_sleep work;
    struct rt_sleep delay;
    struct rt_sleep beat;
};

static rt_poll
job_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct program *program = rt_container_of(task, struct program, job);
    if (!program->is_set) {
        rt_slot_replace(&program->flag, cx, "the flag");
        return RT_PENDING;
    }
    if (!program->working) {
        program->working = true;
        rt_sleep_init(&program->work, program->work_ns);
    }
    return rt_sleep_poll(&program->work, cx);
}

static rt_poll
setter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct program *program = rt_container_of(task, struct program, setter);
    RT_AWAIT(rt_sleep_poll(&program->delay, cx));
    program->is_set = true;
    if (program->wakes) {
        rt_slot_wake(&program->flag);
    }
    return RT_READY;
}

static rt_poll
heartbeat_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct program *program = rt_container_of(task, struct program, heartbeat);
    for (;;) {
        RT_AWAIT(rt_sleep_poll(&program->beat, cx));
        rt_sleep_init(&program->beat, program->beat_ns);
        rt_slot_wake(&program->flag);
    }
}

static void
begin(struct sim_world *world, bool wakes, uint64_t beat_ns, uint64_t work_ns)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct program *program = sim_new(world, struct program);
    program->wakes = wakes;
    program->beat_ns = beat_ns;
    program->work_ns = work_ns;
    rt_slot_init(&program->flag);
    rt_sleep_init(&program->delay, 2 * RT_MS);
    rt_sleep_init(&program->beat, program->beat_ns);
    rt_task_init(&program->job, job_poll, NULL, "job");
    rt_task_init(&program->setter, setter_poll, NULL, "setter");
    rt_task_init(&program->heartbeat, heartbeat_poll, NULL, "heartbeat");
    sim_spawn(rt, &program->job);
    sim_spawn(rt, &program->setter);
    sim_spawn_background(rt, &program->heartbeat);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, false, 10 * RT_MS, 5 * RT_MS);
}

static void
setup_broken_beyond_slack(struct sim_world *world)
{
    begin(world, false, 10 * RT_MS, 0);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, true, 10 * RT_MS, 5 * RT_MS);
}

static void
setup_in_slack(struct sim_world *world)
{
    begin(world, false, RT_MS, 5 * RT_MS);
}

SIM_SCENARIO(oracle_flag_then_sleep_broken, .name = "oracle/flag-then-sleep/broken",
        .about = "A flag is set without a wake; the task that waits for it sleeps afterwards.",
        .setup = setup_broken, .expect = SIM_VERDICT_LATE_WAKEUP);
SIM_SCENARIO(oracle_flag_then_sleep_broken_beyond_slack,
        .name = "oracle/flag-then-sleep/broken-beyond-slack",
        .about = "A flag is set, and its waiter is woken long after the declared slack.",
        .setup = setup_broken_beyond_slack, .slack_ns = 2 * RT_MS,
        .expect = SIM_VERDICT_LATE_WAKEUP);
SIM_SCENARIO(oracle_flag_then_sleep_fixed, .name = "oracle/flag-then-sleep/fixed",
        .about = "A flag is set with a wake; the task that waits for it sleeps afterwards.",
        .setup = setup_fixed);
SIM_SCENARIO(oracle_flag_then_sleep_in_slack, .name = "oracle/flag-then-sleep/in-slack",
        .about = "A flag is set, and its waiter is woken within the declared slack.",
        .setup = setup_in_slack, .slack_ns = 2 * RT_MS);
