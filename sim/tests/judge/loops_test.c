/*
 * loops_test.c -- loops that are asked: what their host returns, and the step that is missing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "sim/bind/foreign.h"
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

/* ---- Loops that another one makes. ----------------------------------------------------------- */

struct late_program {
    struct sim_fds *fds;
    int event;
    bool flag;
    bool sleeps;  /* Alone the loop does not come to its host. */
    bool forgets; /* The flag is set long before its event. */
    void (*main)(struct sim_world *world, void *argument);
};

/* What is reported is the event: it is not read. */
static void
believes(struct sim_world *world, void *argument)
{
    struct late_program *program = argument;
    struct sim_fd_event event;
    if (program->sleeps) {
        sim_sleep(world, RT_MS);
    }
    (void)sim_fd_wait(program->fds, &event, 1, SIM_NEVER);
}

static void
checks(struct sim_world *world, void *argument)
{
    struct late_program *program = argument;
    struct sim_fd_event event;
    if (program->sleeps) {
        sim_sleep(world, RT_MS);
    }
    do {
        uint64_t count;
        (void)sim_fd_wait(program->fds, &event, 1, SIM_NEVER);
        (void)sim_fd_read(program->fds, program->event, &count, sizeof(count));
    } while (!program->flag);
}

static void
maker_main(struct sim_world *world, void *argument)
{
    struct late_program *program = argument;
    sim_loop_pause(world);
    (void)sim_loop_new(world, "late", program->main, program);
    sim_sleep(world, 20 * RT_MS);
    program->flag = true;
    if (program->forgets) {
        sim_sleep(world, 20 * RT_MS);
    }
    SIM_ALWAYS(sim_fd_notify(program->fds, program->event) == RT_OK);
}

static void
set_up_late(struct sim_world *world, const struct late_program *like)
{
    struct late_program *program = sim_new(world, struct late_program);
    *program = *like;
    program->fds = sim_fds_new(sim_host_new(world, "host", SIM_PROFILE_FD), 3);
    SIM_ALWAYS(sim_fd_event_open(program->fds, "event", &program->event) == RT_OK);
    SIM_ALWAYS(sim_fd_add(program->fds, program->event, SIM_FD_IN, 0) == RT_OK);
    (void)sim_loop_new(world, "maker", maker_main, program);
}

#define LATE(name, ...) \
    static void name(struct sim_world *world) \
    { \
        set_up_late(world, &(struct late_program){__VA_ARGS__}); \
    }
LATE(believer, .main = believes)
LATE(believer_that_sleeps, .main = believes, .sleeps = true)
LATE(forgotten, .main = checks, .forgets = true)
LATE(rings, .main = checks)

static uint8_t
verdict_of(void (*setup)(struct sim_world *world))
{
    const struct sim_scenario scenario = {
            .name = "test/late", .setup = setup, .profile = SIM_PROFILE_FD};
    struct lab *lab = calloc(1, sizeof(*lab));
    lab_init(lab, NULL, 0);
    struct sim_outcome outcome = lab_judge(lab, &scenario, 1, true);
    lab_fini(lab);
    free(lab);
    return outcome.verdict;
}

/*
 * Goal: a loop that another one makes, and that takes every report for what it waits for, is not
 * late, even where it comes to its host by others only; one that was not notified is.
 * Method: reports for nothing are given to it where it waits first, too. Counted is what they gain
 * at a quiescence and not there.
 */
TEST(loop_that_is_made_later_and_believes_all_reports_is_not_late)
{
    EXPECT_EQ(verdict_of(believer), SIM_VERDICT_PASS);
    EXPECT_EQ(verdict_of(believer_that_sleeps), SIM_VERDICT_PASS);
    EXPECT_EQ(verdict_of(rings), SIM_VERDICT_PASS);
    EXPECT_EQ(verdict_of(forgotten), SIM_VERDICT_LATE_WAKEUP);
}

/* ---- Watchers of a loop that asks its host no more. -----------------------------------------*/

struct watched {
    struct sim_fds *fds;
    int event;
    int other;
    int watcher;
    bool over;
    bool sleeps; /* Else it stays in its host, with interest in another event alone. */
};

static void
called(void *argument, void *watcher)
{
    struct watched *watched = argument;
    uint64_t count;
    sim_foreign_poll(watcher);
    (void)sim_fd_read(watched->fds, watched->event, &count, sizeof(count));
    sim_foreign_polled(watcher, false);
}

static void
watching_main(struct sim_world *world, void *argument)
{
    struct watched *watched = argument;
    struct sim_fd_event event;
    while (watched->sleeps && !watched->over) {
        sim_sleep(world, 100 * RT_US);
    }
    SIM_ALWAYS(sim_fd_remove(watched->fds, watched->event) == RT_OK);
    if (!watched->sleeps) {
        (void)sim_fd_wait(watched->fds, &event, 1, 40 * RT_MS);
    }
}

static void
ringer_main(struct sim_world *world, void *argument)
{
    struct watched *watched = argument;
    sim_sleep(world, 20 * RT_MS);
    SIM_ALWAYS(sim_fd_notify(watched->fds, watched->event) == RT_OK);
    sim_sleep(world, 10 * RT_MS);
    watched->over = true;
}

static void
set_up_watched(struct sim_world *world, bool sleeps)
{
    struct watched *watched = sim_new(world, struct watched);
    watched->sleeps = sleeps;
    watched->fds = sim_fds_new(sim_host_new(world, "host", SIM_PROFILE_FD), 3);
    SIM_ALWAYS(sim_fd_event_open(watched->fds, "event", &watched->event) == RT_OK);
    SIM_ALWAYS(sim_fd_event_open(watched->fds, "other", &watched->other) == RT_OK);
    SIM_ALWAYS(sim_fd_add(watched->fds, watched->event, SIM_FD_IN, 0) == RT_OK);
    SIM_ALWAYS(sim_fd_add(watched->fds, watched->other, SIM_FD_IN, 0) == RT_OK);
    struct sim_loop *loop = sim_loop_new(world, "loop", watching_main, watched);
    struct sim_foreign *foreign = sim_foreign_new(loop, called, watched);
    sim_foreign_watch(foreign, &watched->watcher, "watcher", "the event");
    (void)sim_loop_new(world, "ringer", ringer_main, watched);
}

static void
asleep(struct sim_world *world)
{
    set_up_watched(world, true);
}

static void
waits_on(struct sim_world *world)
{
    set_up_watched(world, false);
}

/*
 * Goal: what a loop polls is not late while the loop sleeps by its own clock, as no wake would have
 * it polled; it is where the loop waits in its host, with a time-out too.
 */
TEST(loop_that_sleeps_by_its_own_clock_makes_no_watcher_late)
{
    EXPECT_EQ(verdict_of(asleep), SIM_VERDICT_PASS);
    EXPECT_EQ(verdict_of(waits_on), SIM_VERDICT_LATE_WAKEUP);
}
