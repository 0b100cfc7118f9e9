/*
 * single_test.c -- one candidate after the other in one process, each with its own tape.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/tests/test.h"
#include "sim/engine/worker/single.h"
#include "sim/judge/spurious_poll.h"
#include "sim/rewake.h"

struct job {
    struct rt_task task;
    struct sim_world *world;
};

/* Four digits of the scenario's own make a number; three numbers end badly. */
static rt_poll
job_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct sim_world *world = rt_container_of(task, struct job, task)->world;
    volatile uint32_t sum = 0;
    (void)cx;
    for (uint32_t i = 0; i < 4; i++) {
        sum = sum * 3 + sim_pick(world, 3);
    }
    SIM_ALWAYS(sum != 80);
    if (sum == 79) {
        abort();
    }
    while (sum == 78) {
    }
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct job *job = sim_new(world, struct job);
    job->world = world;
    rt_task_init(&job->task, job_poll, NULL, "job");
    sim_spawn(rt, &job->task);
}

static const struct sim_scenario scenario = {
        .name = "test/single", .about = "A test.", .setup = setup};

struct test {
    struct sim_single single;
    struct sim_options options;
    struct sim_tape tape;
    struct sim_deviation entries[8];
};

/* A single-run worker, and a tape whose digits are all 2, written by a run. */
static void
begin(struct test *test)
{
    sim_single_init(&test->single, NULL, &sim_shared_for_candidates, 300);
    sim_options_init(&test->options, &scenario);
    test->options.spurious_one_in = 0;
    for (uint64_t seed = 1; seed < 10000; seed++) {
        const struct sim_run_spec candidate = {
                .scenario = &scenario,
                .options = test->options,
                .seed = seed,
                .how = SIM_HOW_RANDOM,
        };
        const struct sim_outcome *outcome = sim_single_run(&test->single, &candidate);
        if (outcome->verdict == SIM_VERDICT_INVARIANT) {
            struct sim_tape written = sim_single_deviations(&test->single);
            EXPECT_EQ(written.count, 4);
            memcpy(test->entries, written.entries, 4 * sizeof(*test->entries));
            test->tape = (struct sim_tape){test->entries, 4, 8};
            return;
        }
    }
    EXPECT(false);
}

static const struct sim_outcome *
run(struct test *test, enum sim_how how)
{
    const struct sim_run_spec candidate = {
            .scenario = &scenario,
            .options = test->options,
            .seed = 1,
            .how = (uint32_t)how,
            .tape = &test->tape,
    };
    const struct sim_outcome *outcome = sim_single_run(&test->single, &candidate);
    EXPECT(outcome != NULL);
    return outcome;
}

/*
 * Goal: each candidate runs by its own tape, in one process.
 * Method: a tape that fails, the same with a digit less, and the first again; the process stays.
 */
TEST(single_candidates_run_by_their_own_tapes_in_one_process)
{
    struct test test;
    begin(&test);
    pid_t pid = test.single.worker.pid;
    EXPECT_EQ(run(&test, SIM_HOW_STRICT)->verdict, SIM_VERDICT_INVARIANT);
    EXPECT(sim_single_mismatch(&test.single) == NULL);
    uint64_t digest = sim_single_outcome(&test.single)->digest;
    EXPECT(sim_single_recorder(&test.single)->count > 0);
    test.entries[0].index = 1;
    EXPECT_EQ(run(&test, SIM_HOW_LENIENT)->verdict, SIM_VERDICT_PASS);
    EXPECT_EQ(sim_single_deviations(&test.single).count, 4);
    EXPECT_EQ(sim_single_deviations(&test.single).entries[0].index, 1);
    test.tape.count = 1;
    EXPECT_EQ(run(&test, SIM_HOW_LENIENT)->verdict, SIM_VERDICT_PASS);
    EXPECT_EQ(sim_single_deviations(&test.single).count, 1);
    test.tape.count = 4;
    test.entries[0].index = 2;
    EXPECT_EQ(run(&test, SIM_HOW_STRICT)->verdict, SIM_VERDICT_INVARIANT);
    EXPECT(sim_single_outcome(&test.single)->digest == digest);
    EXPECT(test.single.worker.pid == pid);
    sim_single_fini(&test.single);
}

/* What dies or hangs costs its process only; the tape reaches the next one. */
TEST(single_candidate_that_ends_its_process_does_not_end_the_single)
{
    struct test test;
    begin(&test);
    test.entries[3].index = 1;
    EXPECT_EQ(run(&test, SIM_HOW_LENIENT)->verdict, SIM_VERDICT_CRASH);
    EXPECT_EQ(sim_single_deviations(&test.single).count, 4);
    EXPECT_EQ(run(&test, SIM_HOW_STRICT)->verdict, SIM_VERDICT_CRASH);
    test.tape.count = 3;
    EXPECT_EQ(run(&test, SIM_HOW_LENIENT)->verdict, SIM_VERDICT_HANG);
    test.tape.count = 4;
    test.entries[3].index = 2;
    EXPECT_EQ(run(&test, SIM_HOW_STRICT)->verdict, SIM_VERDICT_INVARIANT);
    sim_single_fini(&test.single);
}

/* A misfit is reported, and forgotten with the next candidate. */
TEST(single_misfit_is_of_the_last_candidate_only)
{
    struct test test;
    begin(&test);
    test.entries[1].ordinal = 77;
    (void)run(&test, SIM_HOW_STRICT);
    EXPECT(sim_single_mismatch(&test.single) != NULL);
    (void)run(&test, SIM_HOW_LENIENT);
    EXPECT(sim_single_mismatch(&test.single) == NULL);
    EXPECT_EQ(sim_single_ignored(&test.single), 1);
    test.tape.count = 0;
    (void)run(&test, SIM_HOW_STRICT);
    EXPECT(sim_single_mismatch(&test.single) == NULL);
    EXPECT_EQ(sim_single_ignored(&test.single), 0);
    sim_single_fini(&test.single);
}

/* A tape for which there is no space is refused, not cut. */
TEST(single_tape_that_is_too_long_is_refused)
{
    struct test test;
    begin(&test);
    test.tape.count = sim_shared_for_candidates.deviations + 1;
    const struct sim_run_spec candidate = {.scenario = &scenario,
            .options = test.options,
            .how = SIM_HOW_LENIENT,
            .tape = &test.tape};
    EXPECT(sim_single_run(&test.single, &candidate) == NULL);
    EXPECT(strstr(test.single.worker.error, "more deviations") != NULL);
    sim_single_fini(&test.single);
}

/* ---- A process that dies of a question. ------------------------------------------------------ */

struct touchy {
    struct rt_task task;
    struct rt_slot slot;
    struct sim_world *world;
    bool asleep;
};

/* Of three numbers one sends it to sleep forever, and then it cannot bear to be polled. */
static rt_poll
touchy_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct touchy *touchy = rt_container_of(task, struct touchy, task);
    if (touchy->asleep) {
        abort();
    }
    if (sim_pick(touchy->world, 3) != 2) {
        return RT_READY;
    }
    touchy->asleep = true;
    rt_slot_replace(&touchy->slot, cx, "nothing");
    return RT_PENDING;
}

static void
touchy_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct touchy *touchy = sim_new(world, struct touchy);
    touchy->world = world;
    rt_slot_init(&touchy->slot);
    rt_task_init(&touchy->task, touchy_poll, NULL, "touchy");
    sim_spawn(rt, &touchy->task);
}

static const struct sim_scenario touchy_scenario = {
        .name = "test/touchy", .about = "A test.", .setup = touchy_setup};

/* The first seed that fails; its tape is written to `ret_tape`. */
static struct sim_outcome
find_touchy(struct sim_single *single, const struct sim_options *options, struct sim_tape *ret_tape)
{
    for (uint64_t seed = 1; seed < 1000; seed++) {
        const struct sim_run_spec candidate = {.scenario = &touchy_scenario,
                .options = *options,
                .seed = seed,
                .how = SIM_HOW_RANDOM};
        const struct sim_outcome *outcome = sim_single_run(single, &candidate);
        if (outcome->verdict != SIM_VERDICT_PASS) {
            struct sim_tape written = sim_single_deviations(single);
            EXPECT(written.count <= ret_tape->capacity);
            memcpy(ret_tape->entries, written.entries, written.count * sizeof(*written.entries));
            ret_tape->count = written.count;
            return *outcome;
        }
    }
    EXPECT(false);
    return (struct sim_outcome){.seed = 0};
}

/*
 * Goal: a task that crashes in the spurious poll at the end leaves tape, record and digest.
 * Method: such a run is found, and made again by its tape, to the letter.
 */
TEST(single_process_that_dies_of_a_question_leaves_the_run)
{
    struct sim_single single;
    struct sim_options options;
    struct sim_deviation entries[64];
    struct sim_tape tape = {entries, 0, 64};
    sim_options_init(&options, &touchy_scenario);
    options.spurious_one_in = 0;
    sim_single_init(&single, NULL, &sim_shared_for_candidates, 300);
    struct sim_outcome found = find_touchy(&single, &options, &tape);
    EXPECT_EQ(found.verdict, SIM_VERDICT_CRASH);
    EXPECT(found.asked);
    EXPECT_STR(found.actor_name, "touchy");
    EXPECT(found.digest != 0 && found.deviations > 0 && found.steps > 0);
    const struct sim_run_spec again = {.scenario = &touchy_scenario,
            .options = options,
            .how = SIM_HOW_STRICT,
            .tape = &tape,
            .with_past = true};
    const struct sim_outcome *outcome = sim_single_run(&single, &again);
    EXPECT(sim_single_mismatch(&single) == NULL);
    EXPECT(sim_outcome_same(outcome, &found));
    EXPECT(outcome->digest == found.digest);
    EXPECT_EQ(outcome->deviations, tape.count);
    EXPECT(sim_single_recorder(&single)->count == outcome->events);
    sim_single_fini(&single);
}

static void
die(struct sim_world *world, const struct sim_case *what, const struct sim_outcome *outcome,
        void *argument)
{
    struct sim_aside kept;
    (void)what;
    (void)outcome;
    (void)argument;
    sim_keep(world, &kept);
    abort();
}

/* A study that dies takes nothing from the run that it analyzed. */
TEST(single_process_that_dies_of_a_study_leaves_the_run)
{
    struct test test;
    begin(&test);
    const struct sim_run_spec candidate = {.scenario = &scenario,
            .options = test.options,
            .how = SIM_HOW_STRICT,
            .tape = &test.tape,
            .analyze = die};
    const struct sim_outcome *outcome = sim_single_run(&test.single, &candidate);
    EXPECT_EQ(outcome->verdict, SIM_VERDICT_INVARIANT);
    EXPECT_EQ(sim_single_deviations(&test.single).count, 4);
    EXPECT_EQ(run(&test, SIM_HOW_STRICT)->verdict, SIM_VERDICT_INVARIANT);
    sim_single_fini(&test.single);
}
