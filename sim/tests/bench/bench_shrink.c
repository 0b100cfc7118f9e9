/*
 * bench_shrink.c -- how long it takes to shrink failures of runs of 1,000 steps, and how far.
 *
 * Eight tasks take 125 turns each and draw at every one, so a failing run has more than a thousand
 * deviations. It fails when task 3 has drawn the rarest number three times within twelve turns,
 * past its thirtieth, while task 5 was four turns slots or ahead: two kinds of decisions, late in
 * the run. Then it either fails (invariant), or waits for an event that never happens, and all
 * others for it (deadlock: each blocked task is polled in a separate replay).
 *
 * Ten failing seeds of each; a figure is of one failure, all in: candidates and both verifications.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "runtime/base/assert.h"
#include "runtime/tests/bench/stopwatch.h"
#include "sim/core/record/site.h"
#include "sim/engine/shrink/shrink.h"
#include "sim/rewake.h"

#define TASKS 8u
#define TURNS 125u
#define FAILURES 10u

static bool stalls;

struct race;

struct runner {
    struct rt_task task;
    struct race *race;
    uint32_t number;
    uint32_t turns;
    uint32_t strikes[3]; /* Turns of the last three. */
    bool stuck;
};

struct race {
    struct sim_world *world;
    struct rt_slot never;
    struct rt_slot slots[TASKS];
    struct runner runners[TASKS];
    bool over;
};

static bool
is_bad(const struct race *race, const struct runner *runner)
{
    uint32_t other = race->runners[5].turns;
    bool apart = other > runner->turns + 3 || runner->turns > other + 3;
    return runner->number == 3 && runner->turns > 30 && runner->strikes[2] > 0 && apart &&
           runner->strikes[0] - runner->strikes[2] <= 12;
}

static void
draw(struct runner *runner)
{
    struct sim_world *world = runner->race->world;
    runner->turns++;
    if (sim_pick(world, 4) == 3) {
        runner->strikes[2] = runner->strikes[1];
        runner->strikes[1] = runner->strikes[0];
        runner->strikes[0] = runner->turns;
        runner->race->over = runner->race->over || is_bad(runner->race, runner);
    }
}

static rt_poll
runner_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct runner *runner = rt_container_of(task, struct runner, task);
    struct race *race = runner->race;
    if (runner->turns < TURNS) {
        draw(runner);
        SIM_ALWAYS(stalls || !race->over);
        rt_cx_reenqueue(cx);
        return RT_PENDING;
    }
    if (race->over) {
        struct rt_slot *slot = runner->number == 3 ? &race->never : &race->slots[runner->number];
        rt_err err = rt_slot_store(slot, cx, "the others");
        rt_assert(err == RT_OK);
        return RT_PENDING;
    }
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct race *race = sim_new(world, struct race);
    race->world = world;
    rt_slot_init(&race->never);
    for (uint32_t i = 0; i < TASKS; i++) {
        struct runner *runner = &race->runners[i];
        runner->race = race;
        runner->number = i;
        rt_slot_init(&race->slots[i]);
        rt_task_init(&runner->task, runner_poll, NULL, "runner");
        sim_spawn(rt, &runner->task);
    }
}

static const struct sim_scenario scenario = {
        .name = "bench/shrink", .about = "Eight that race.", .setup = setup};

struct figures {
    double ms[FAILURES];
    double replays[FAILURES];
    double from[FAILURES];
    double to[FAILURES];
    uint32_t count;
};

static void
shrink_one(struct sim_single *single, const struct sim_options *options, struct figures *figures)
{
    struct sim_outcome failure = *sim_single_outcome(single);
    const struct sim_tape tape = sim_single_deviations(single);
    const struct sim_shrink_plan plan = {.spec.scenario = &scenario,
            .spec.options = *options,
            .spec.tape = &tape,
            .failure = &failure,
            .replays_max = SIM_SHRINK_REPLAYS_MAX,
            .deadline_ms = UINT64_MAX,
            .spec.hang_ms = SIM_HANG_MS};
    struct sim_shrunk shrunk;
    double start_ns = stopwatch_now_ns();
    sim_shrink(&plan, &shrunk);
    figures->ms[figures->count] = (stopwatch_now_ns() - start_ns) / 1e6;
    rt_assert(sim_shrunk_holds(&shrunk));
    figures->replays[figures->count] = shrunk.replays;
    figures->from[figures->count] = shrunk.from.deviations;
    figures->to[figures->count] = shrunk.to.deviations;
    figures->count++;
    sim_shrunk_done(&shrunk);
}

static void
say(const char *what, double *values, uint32_t count, const char *target)
{
    stopwatch_row(what, stopwatch_figure(values, count));
    (void)printf("  %s\n", target);
}

static void
measure(const char *what)
{
    struct figures figures = {.count = 0};
    struct sim_options options;
    struct sim_single single;
    sim_single_init(&single, NULL, &sim_shared_for_candidates, SIM_HANG_MS);
    sim_options_init(&options, &scenario);
    for (uint64_t seed = 1; figures.count < FAILURES && seed < 100000; seed++) {
        const struct sim_run_spec candidate = {
                .scenario = &scenario, .options = options, .seed = seed, .how = SIM_HOW_RANDOM};
        const struct sim_outcome *outcome = sim_single_run(&single, &candidate);
        rt_assert(outcome != NULL);
        /* An invariant ends the run early: only those that failed late are of 1,000 steps. */
        if (outcome->verdict != SIM_VERDICT_PASS && outcome->steps >= 900) {
            shrink_one(&single, &options, &figures);
        }
    }
    sim_single_fini(&single);
    stopwatch_head(what);
    say("time, ms", figures.ms, figures.count, "at most 2000");
    say("replays", figures.replays, figures.count, "at most 2000");
    say("deviations as found", figures.from, figures.count, "");
    say("deviations left", figures.to, figures.count, "6 is the best known");
}

int
main(void)
{
    sim_sites_init();
    stalls = false;
    measure("shrinking an invariant, runs of 1,000 steps");
    stalls = true;
    measure("shrinking a deadlock of 8 tasks, runs of 1,000 steps");
    return 0;
}
