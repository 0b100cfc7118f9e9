/*
 * loops_test.c -- loops that are asked: what their host returns, and the step that is missing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "sim/host/fd.h"
#include "sim/host/host.h"
#include "sim/tests/lab.h"

#define TIMEOUTS 3u

/* A loop that checks a flag only when its wait is interrupted, and counts its time-outs. */
struct program {
    struct sim_fds *fds;
    bool flag;
};

static void
loop_main(struct sim_world *world, void *argument)
{
    struct program *program = argument;
    for (uint32_t timeouts = 0; timeouts < TIMEOUTS;) {
        struct sim_fd_event event;
        uint64_t until_ns = sim_now(world) + 100 * RT_MS;
        (void)sim_fd_wait(program->fds, &event, 1, 100 * RT_MS);
        timeouts += sim_now(world) >= until_ns;
        if (sim_now(world) < until_ns && program->flag) {
            SIM_PROGRESS();
            return;
        }
    }
}

static void
setter_main(struct sim_world *world, void *argument)
{
    struct program *program = argument;
    sim_sleep(world, 20 * RT_MS);
    program->flag = true;
}

static void
interrupts(struct sim_world *world)
{
    struct program *program = sim_new(world, struct program);
    int event;
    program->fds = sim_fds_new(sim_host_new(world, "host", SIM_PROFILE_FD), 3);
    SIM_ALWAYS(sim_fd_event_open(program->fds, "event", &event) == RT_OK);
    SIM_ALWAYS(sim_fd_add(program->fds, event, SIM_FD_IN, 0) == RT_OK);
    (void)sim_loop_new(world, "loop", loop_main, program);
    (void)sim_loop_new(world, "setter", setter_main, program);
}

/*
 * Goal: the missing wake of a loop is found also where its wait has a time-out.
 * Method: what such a loop is asked is the wait that returns nothing (EINTR). The setter's last
 * step is the only one after which that makes a difference.
 */
TEST(loop_in_a_wait_with_a_time_out_has_a_missing_wake)
{
    static const struct sim_scenario scenario = {
            .name = "test/interrupts", .setup = interrupts, .profile = SIM_PROFILE_FD};
    struct lab *lab = calloc(1, sizeof(*lab));
    lab_init(lab, NULL, 0);
    struct sim_outcome outcome = lab_judge(lab, &scenario, 1, true);
    EXPECT_EQ(outcome.verdict, SIM_VERDICT_LATE_WAKEUP);
    EXPECT_EQ(outcome.missing_wake_step, outcome.audit_step);
    EXPECT(outcome.missing_wake_step != 0);
    lab_fini(lab);
    free(lab);
}
