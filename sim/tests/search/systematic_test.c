/*
 * systematic_test.c -- every run once: counted against closed formulas, in the order that is
 * promised, with and without beginnings that are made once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/core/memory/checkpoint.h"
#include "sim/search/strategy.h"
#include "sim/tests/lab.h"

#define RUNS_MAX 4096u

#if defined(__SANITIZE_THREAD__)
#define KEEPS false
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KEEPS false
#endif
#endif
#ifndef KEEPS
#define KEEPS true
#endif

/* ---- Stories with a number of runs that is known. -------------------------------------------- */

struct yielder {
    struct rt_task task;
    struct sim_world *world;
    uint32_t left;
    bool talks;
};

static rt_poll
yielder_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct yielder *yielder = rt_container_of(task, struct yielder, task);
    if (yielder->talks) {
        sim_log(yielder->world, "%u are left", yielder->left);
    }
    if (--yielder->left == 0) {
        return RT_READY;
    }
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

static void
spawn(struct sim_world *world, struct sim_rt *rt, uint32_t steps, bool talks)
{
    struct yielder *yielder = sim_new(world, struct yielder);
    rt_task_init(&yielder->task, yielder_poll, NULL, "yielder");
    yielder->world = world;
    yielder->left = steps;
    yielder->talks = talks;
    sim_spawn(rt, &yielder->task);
}

static void
two_of_five(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    spawn(world, rt, 5, true);
    spawn(world, rt, 5, true);
}

static void
three_unlike(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    spawn(world, rt, 2, false);
    spawn(world, rt, 3, false);
    spawn(world, rt, 4, false);
}

/* 3 * 2 runs: a choice of the scenario, then two tasks of one step each. */
static void
picks_first(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    (void)sim_pick(world, 3);
    spawn(world, rt, 1, false);
    spawn(world, rt, 1, false);
}

/* One note or another, as the schedule wants it, and in some schedules a failure, later than others
 * are over. */
struct noter {
    struct rt_task task;
    uint32_t *polled; /* Of all of them. */
    uint32_t left;
    bool late;
};

static rt_poll
noter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct noter *noter = rt_container_of(task, struct noter, task);
    uint32_t polled = ++*noter->polled;
    if (--noter->left == 0 && polled == 8) {
        noter->late = true;
        noter->left = 9;
    } else if (noter->left == 0) {
        if (noter->late) {
            SIM_ALWAYS(!noter->late);
        } else if (polled == 7) {
            SIM_SOMETIMES(noter->late);
        } else if (polled == 9) {
            SIM_ALWAYS(polled == 9);
        }
        return RT_READY;
    }
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

static void
two_that_note(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    uint32_t *polled = sim_new(world, uint32_t);
    for (uint32_t i = 0; i < 2; i++) {
        struct noter *noter = sim_new(world, struct noter);
        rt_task_init(&noter->task, noter_poll, NULL, "noter");
        noter->polled = polled;
        noter->left = 6;
        sim_spawn(rt, &noter->task);
    }
}

static void
nothing(struct sim_world *world)
{
    (void)world;
}

static const struct sim_scenario five_five = {.name = "test/five-five", .setup = two_of_five};
static const struct sim_scenario unlike = {.name = "test/unlike", .setup = three_unlike};
static const struct sim_scenario picking = {.name = "test/picking", .setup = picks_first};
static const struct sim_scenario noting = {.name = "test/noting", .setup = two_that_note};
static const struct sim_scenario idle = {.name = "test/idle", .setup = nothing};

/* ---- Walking. -------------------------------------------------------------------------------- */

struct walk {
    struct lab lab;
    struct sim_checkpoints checkpoints;
    struct sim_space space;
    uint64_t digests[RUNS_MAX];
    uint32_t deviations[RUNS_MAX];
    uint32_t runs;
};

static void
quiet_options(struct sim_options *options, const struct sim_scenario *scenario)
{
    sim_options_init(options, scenario);
    options->spurious_one_in = 0;
    options->audit_one_in = 0;
}

/* A strategy by name, with its memory. */
struct walker {
    struct sim_search search;
    const struct sim_strategy_kind *kind;
    struct sim_strategy *strategy;
    void *memory;
};

static void
walker_init(struct walker *walker, const char *text)
{
    static struct sim_learned learned;
    char error[SIM_STRATEGY_ERROR_MAX];
    ck_assert_msg(sim_search_parse(text, &walker->search, error), "%s", error);
    walker->kind = sim_strategy_at(walker->search.kind);
    walker->memory = calloc(1, walker->kind->size);
    EXPECT(walker->memory != NULL);
    EXPECT(walker->kind->sequential);
    const struct sim_strategy_setting setting = {&walker->search, &learned, 0, false};
    walker->strategy = sim_strategy_make(walker->memory, &setting);
}

static void
walker_fini(struct walker *walker)
{
    free(walker->memory);
}

/* All runs of `scenario` by the strategy that `text` names. */
static void
walk(struct walk *walk, const struct sim_scenario *scenario, const char *text)
{
    struct walker walker;
    struct sim_options options;
    quiet_options(&options, scenario);
    walker_init(&walker, text);
    walk->runs = 0;
    while (walker.kind->more(walker.strategy)) {
        struct sim_outcome outcome;
        const struct sim_case what = {scenario, options, walk->runs, walker.strategy, false};
        sim_judge(&walk->lab.world, &what, (struct sim_recording){true, true}, &outcome);
        EXPECT_EQ(outcome.verdict, SIM_VERDICT_PASS);
        EXPECT(walk->runs < RUNS_MAX);
        walk->deviations[walk->runs] = outcome.deviations;
        walk->digests[walk->runs++] = outcome.digest;
    }
    walker.kind->space(walker.strategy, &walk->space);
    EXPECT_EQ(walk->space.runs, walk->runs);
    EXPECT(walk->space.exhausted && !walk->space.differs);
    walker_fini(&walker);
}

static bool
all_differ(const struct walk *walk)
{
    for (uint32_t i = 0; i < walk->runs; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (walk->digests[i] == walk->digests[k]) {
                return false;
            }
        }
    }
    return true;
}

/* Goal: all runs, none of them twice.
 * Method: two tasks of n steps have C(2n, n) schedules, three of a, b and c steps (a+b+c)! / (a! b!
 * c!); no two runs have the same digest. */
TEST(exhaustive_makes_each_run_once_and_as_many_as_the_formula_says)
{
    static struct walk w;
    lab_init(&w.lab, NULL, 0xa5);
    walk(&w, &five_five, "exhaustive");
    EXPECT_EQ(w.runs, 252);
    EXPECT(all_differ(&w));
    walk(&w, &unlike, "exhaustive");
    EXPECT_EQ(w.runs, 1260);
    EXPECT(all_differ(&w));
    EXPECT(!w.space.cut);
    lab_fini(&w.lab);
}

TEST(exhaustive_enumerates_choices_of_every_kind)
{
    static struct walk w;
    lab_init(&w.lab, NULL, 0xa5);
    walk(&w, &picking, "exhaustive");
    EXPECT_EQ(w.runs, 6);
    walk(&w, &idle, "exhaustive");
    EXPECT_EQ(w.runs, 1);
    lab_fini(&w.lab);
}

/* Goal: a bound leaves out all that lies beyond it, and nothing else.
 * Method: what is made with at most K deviations is as much as all runs have with K or fewer. */
TEST(exhaustive_within_a_bound_makes_what_the_bound_admits)
{
    static struct walk all;
    static struct walk bounded;
    lab_init(&all.lab, NULL, 0xa5);
    lab_init(&bounded.lab, NULL, 0xa5);
    walk(&all, &unlike, "exhaustive");
    for (uint32_t bound = 0; bound < 5; bound++) {
        uint32_t within = 0;
        for (uint32_t i = 0; i < all.runs; i++) {
            within += all.deviations[i] <= bound;
        }
        char text[32];
        (void)snprintf(text, sizeof(text), "exhaustive:k=%u", bound);
        walk(&bounded, &unlike, text);
        EXPECT_EQ(bounded.runs, within);
        EXPECT_EQ(bounded.space.whole, bound);
    }
    /* Two tasks of five steps: all of the first three choices, after them the baseline. */
    walk(&bounded, &five_five, "exhaustive:depth=3");
    EXPECT_EQ(bounded.runs, 8);
    EXPECT(bounded.space.cut);
    lab_fini(&all.lab);
    lab_fini(&bounded.lab);
}

/* Goal: a run that resumes from a checkpoint is the run from its beginning, to the last bit.
 * Method: both ways over one tree, with events and texts; digests in order are compared. A
 * checkpoint that forgot the queue, a stream or the recorder's place makes another digest. */
TEST(exhaustive_from_checkpoints_makes_the_same_runs)
{
    static struct walk again;
    static struct walk kept;
    lab_init(&again.lab, NULL, 0xa5);
    lab_init(&kept.lab, NULL, 0xa5);
    sim_checkpoints_init(&kept.checkpoints, SIM_CHECKPOINTS_SIZE);
    kept.lab.world.checkpoints = &kept.checkpoints;
    const struct sim_scenario *const scenarios[] = {&five_five, &unlike, &picking};
    for (uint32_t i = 0; i < 3; i++) {
        walk(&again, scenarios[i], "exhaustive");
        walk(&kept, scenarios[i], "exhaustive");
        EXPECT_EQ(again.runs, kept.runs);
        EXPECT(memcmp(again.digests, kept.digests, again.runs * sizeof(uint64_t)) == 0);
    }
    EXPECT(kept.checkpoints.resumed > 1000 || !KEEPS);
    EXPECT_EQ(again.checkpoints.resumed, 0);
    sim_checkpoints_fini(&kept.checkpoints);
    lab_fini(&again.lab);
    lab_fini(&kept.lab);
}

static struct sim_outcome
run_next(struct lab *lab, const struct walker *walker, const struct sim_scenario *scenario)
{
    struct sim_options options;
    struct sim_outcome outcome;
    quiet_options(&options, scenario);
    EXPECT(walker->kind->more(walker->strategy));
    sim_world_run(&lab->world, scenario, &options, 0, walker->strategy,
            (struct sim_recording){true, true}, &outcome);
    return outcome;
}

/* Goal: what a run reports beside its events is the same, resumed or not.
 * Method: both kinds side by side, in runs that reach SIM_ALWAYS early, late, and fail there. One
 * that keeps the places of the run before, or where that one was closed, is found. */
TEST(runs_from_checkpoints_note_what_runs_from_the_beginning_note)
{
    static struct lab again;
    static struct lab kept;
    static struct sim_checkpoints checkpoints;
    lab_init(&again, NULL, 0xa5);
    lab_init(&kept, NULL, 0xa5);
    sim_checkpoints_init(&checkpoints, SIM_CHECKPOINTS_SIZE);
    kept.world.checkpoints = &checkpoints;
    struct walker walkers[2];
    walker_init(&walkers[0], "exhaustive");
    walker_init(&walkers[1], "exhaustive");
    uint32_t failed = 0;
    for (uint32_t run = 0; run < 900; run++) {
        struct sim_outcome one = run_next(&again, &walkers[0], &noting);
        struct sim_outcome other = run_next(&kept, &walkers[1], &noting);
        EXPECT_EQ(one.digest, other.digest);
        EXPECT_EQ(one.verdict, other.verdict);
        failed += one.verdict != SIM_VERDICT_PASS;
        EXPECT_EQ(sim_recorder_run_end(&again.world.recorder),
                sim_recorder_run_end(&kept.world.recorder));
        EXPECT(memcmp(again.world.checked, kept.world.checked, sizeof(again.world.checked)) == 0);
        EXPECT(memcmp(again.world.asked, kept.world.asked, sizeof(again.world.asked)) == 0);
    }
    EXPECT(failed > 0 && failed < 900);
    EXPECT(checkpoints.resumed > 500 || !KEEPS);
    walker_fini(&walkers[0]);
    walker_fini(&walkers[1]);
    sim_checkpoints_fini(&checkpoints);
    lab_fini(&again);
    lab_fini(&kept);
}

/* Goal: little memory costs time, and nothing else.
 * Method: memory for four or five checkpoints, so that they are thinned out often. */
TEST(checkpoints_in_little_memory_make_the_same_runs)
{
    static struct walk again;
    static struct walk kept;
    lab_init(&again.lab, NULL, 0xa5);
    lab_init(&kept.lab, NULL, 0xa5);
    sim_checkpoints_init(&kept.checkpoints, 64 << 10);
    kept.lab.world.checkpoints = &kept.checkpoints;
    walk(&again, &unlike, "exhaustive");
    walk(&kept, &unlike, "exhaustive");
    EXPECT_EQ(again.runs, kept.runs);
    EXPECT(memcmp(again.digests, kept.digests, again.runs * sizeof(uint64_t)) == 0);
    EXPECT(kept.checkpoints.resumed > 0 || !KEEPS);
    sim_checkpoints_fini(&kept.checkpoints);
    lab_fini(&again.lab);
    lab_fini(&kept.lab);
}

/* Goal: what another run writes into ring and tape in between costs the checkpoints, not the runs.
 * Method: after each run of the walk a run of `random`. */
TEST(checkpoints_do_not_outlive_a_run_of_somebody_else)
{
    static struct walk again;
    static struct walk kept;
    lab_init(&again.lab, NULL, 0xa5);
    lab_init(&kept.lab, NULL, 0xa5);
    sim_checkpoints_init(&kept.checkpoints, SIM_CHECKPOINTS_SIZE);
    kept.lab.world.checkpoints = &kept.checkpoints;
    struct walker walker;
    struct sim_options options;
    uint32_t runs = 0;
    walk(&again, &five_five, "exhaustive");
    walker_init(&walker, "exhaustive");
    quiet_options(&options, &five_five);
    for (; walker.kind->more(walker.strategy); runs++) {
        struct sim_outcome outcome;
        sim_world_run(&kept.lab.world, &five_five, &options, 0, walker.strategy,
                (struct sim_recording){true, true}, &outcome);
        EXPECT(outcome.digest == again.digests[runs]);
        (void)lab_run(&kept.lab, &unlike, runs, false);
    }
    walker_fini(&walker);
    EXPECT_EQ(runs, 252);
    sim_checkpoints_fini(&kept.checkpoints);
    lab_fini(&again.lab);
    lab_fini(&kept.lab);
}

/* Goal: `delay` makes what `exhaustive` makes within the same bound, fewest deviations first, none
 * twice; so its first failure is as small as any.
 * Method: counted and compared for each bound, on schedules alone and on choices of other kinds. */
TEST(delay_makes_each_run_within_its_bound_once_and_in_order)
{
    static struct walk all;
    static struct walk delayed;
    lab_init(&all.lab, NULL, 0xa5);
    lab_init(&delayed.lab, NULL, 0xa5);
    const struct sim_scenario *const scenarios[] = {&unlike, &five_five, &picking, &idle};
    for (uint32_t i = 0; i < 4; i++) {
        for (uint32_t k = 0; k < 4; k++) {
            char text[32];
            (void)snprintf(text, sizeof(text), "exhaustive:k=%u", k);
            walk(&all, scenarios[i], text);
            (void)snprintf(text, sizeof(text), "delay:k=%u", k);
            walk(&delayed, scenarios[i], text);
            EXPECT_EQ(delayed.runs, all.runs);
            EXPECT(all_differ(&delayed));
            EXPECT_EQ(delayed.space.whole, k);
            for (uint32_t r = 1; r < delayed.runs; r++) {
                EXPECT(delayed.deviations[r - 1] <= delayed.deviations[r]);
            }
        }
    }
    lab_fini(&all.lab);
    lab_fini(&delayed.lab);
}

TEST(delay_from_checkpoints_makes_the_same_runs)
{
    static struct walk again;
    static struct walk kept;
    lab_init(&again.lab, NULL, 0xa5);
    lab_init(&kept.lab, NULL, 0xa5);
    sim_checkpoints_init(&kept.checkpoints, SIM_CHECKPOINTS_SIZE);
    kept.lab.world.checkpoints = &kept.checkpoints;
    walk(&again, &unlike, "delay:k=6");
    walk(&kept, &unlike, "delay:k=6");
    EXPECT_EQ(again.runs, kept.runs);
    EXPECT(memcmp(again.digests, kept.digests, again.runs * sizeof(uint64_t)) == 0);
    EXPECT(kept.checkpoints.resumed > 0 || !KEEPS);
    sim_checkpoints_fini(&kept.checkpoints);
    lab_fini(&again.lab);
    lab_fini(&kept.lab);
}

/* Goal: a run whose process died is one run, and does not affect later ones.
 * Method: every third run is begun and never ended, as when a worker died in it. The runs are those
 * of a walk without deaths, one after the other. */
TEST(walks_go_on_behind_a_run_that_never_ended)
{
    static struct walk w;
    lab_init(&w.lab, NULL, 0xa5);
    const char *const names[] = {"exhaustive", "delay:k=1"};
    for (uint32_t i = 0; i < 2; i++) {
        struct walker walker;
        struct sim_options options;
        uint32_t begun = 0;
        quiet_options(&options, &five_five);
        walk(&w, &five_five, names[i]);
        walker_init(&walker, names[i]);
        const struct sim_strategy_ops *ops = walker.strategy->ops;
        struct sim_strategy_ops endless = *ops;
        endless.end = NULL;
        for (; walker.kind->more(walker.strategy); begun++) {
            struct sim_outcome outcome;
            walker.strategy->ops = begun % 3 == 2 ? &endless : ops;
            sim_world_run(&w.lab.world, &five_five, &options, 0, walker.strategy,
                    (struct sim_recording){true, true}, &outcome);
            EXPECT(outcome.digest == w.digests[begun]);
        }
        EXPECT_EQ(begun, w.runs);
        walker_fini(&walker);
    }
    lab_fini(&w.lab);
}
