/*
 * truth_test.c -- every verdict of every run of a generated program is the model's.
 *
 * `make truth N=100000` checks more of them, and prints what differs, minimised, as a scenario.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "sim/tests/truth/check.h"
#include "sim/tests/truth/print.h"

/* Checks `count` programs from `from` on. Stops at the first difference, which is *ret. */
static struct truth_counts
check_some(uint64_t from, uint32_t count, struct truth_plan plan, struct truth_run *ret,
        struct truth_program *ret_program)
{
    static struct lab lab;
    struct truth_counts counts = {0};
    lab_init(&lab, NULL, 0x5a);
    ret->kind = TRUTH_KIND_AGREED;
    for (uint32_t i = 0; i < count && ret->kind == TRUTH_KIND_AGREED; i++) {
        truth_program_make(ret_program, from + i);
        truth_check(&lab, ret_program, &plan, &counts, ret);
    }
    lab_fini(&lab);
    return counts;
}

/* What differs is minimised, and printed as a scenario. */
static void
expect_agreement(const struct truth_run *run, struct truth_program *program, struct truth_plan plan)
{
    static struct lab lab;
    char *text = NULL;
    size_t size = 0;
    if (run->kind == TRUTH_KIND_AGREED) {
        return;
    }
    lab_init(&lab, NULL, 0x5a);
    truth_shrink(&lab, program, &plan, run->kind);
    lab_fini(&lab);
    FILE *file = open_memstream(&text, &size);
    EXPECT(file != NULL);
    truth_print(program, file);
    (void)fclose(file);
    ck_abort_msg("%s: %s (seed %llu; truth -n 1 -f %llu); minimised:\n%s",
            truth_kind_about(run->kind), run->why, (unsigned long long)run->seed,
            (unsigned long long)program->number, text);
}

/*
 * Goal: no false alarm and no wrong verdict, in any order, at any rate of audits, of reports for
 * nothing and of slow steps.
 * Method: 2,000 programs, 6 runs of each, which the model follows step by step.
 */
TEST(truth_every_verdict_of_2000_programs_is_the_models)
{
    struct truth_run run;
    struct truth_program program;
    struct truth_plan plan = {6, 0};
    struct truth_counts counts = check_some(1, 2000, plan, &run, &program);
    expect_agreement(&run, &program, plan);
    EXPECT(counts.runs > 10000);
    EXPECT(counts.verdicts[SIM_VERDICT_PASS] > 1000);
    EXPECT(counts.verdicts[SIM_VERDICT_LOST_WAKEUP] > 100);
    EXPECT(counts.verdicts[SIM_VERDICT_LATE_WAKEUP] > 50);
    EXPECT(counts.verdicts[SIM_VERDICT_DEADLOCK] > 100);
    EXPECT(counts.open * 50 < counts.runs);
    EXPECT(counts.incomplete * 20 < counts.programs);
}

/*
 * Goal: what the model reaches the simulator reaches, and nothing else.
 * Method: all runs of each program that has few, against all interleavings of the model.
 */
TEST(truth_all_runs_end_as_all_interleavings_do)
{
    struct truth_run run;
    struct truth_program program;
    struct truth_plan plan = {0, 60};
    struct truth_counts counts = check_some(20001, 200, plan, &run, &program);
    expect_agreement(&run, &program, plan);
    EXPECT(counts.walked > 60);
}

/* ---- Planted bugs: what is wrong is found, and made small. ----------------------------------- */

static uint32_t
operations(const struct truth_program *program)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < program->actors; i++) {
        count += program->actor[i].count;
    }
    return count;
}

static void
expect_found(enum truth_kind kind, uint32_t operations_max)
{
    static struct lab lab;
    struct truth_plan plan = {6, 0};
    struct truth_run run;
    struct truth_program program;
    (void)check_some(1, 500, plan, &run, &program);
    EXPECT_STR(truth_kind_about(run.kind), truth_kind_about(kind));
    lab_init(&lab, NULL, 0x5a);
    truth_shrink(&lab, &program, &plan, kind);
    lab_fini(&lab);
    EXPECT(operations(&program) <= operations_max);
}

TEST(truth_finds_a_judge_that_calls_deadlocks_lost)
{
    truth_planted.judge_calls_deadlock_lost = true;
    expect_found(TRUTH_KIND_FALSE_LOST, 2);
}

TEST(truth_finds_a_judge_that_passes_late_wakes)
{
    truth_planted.judge_calls_late_pass = true;
    expect_found(TRUTH_KIND_MISSED_LATE, 9);
}

TEST(truth_finds_a_model_that_forgets_who_joins)
{
    truth_planted.model_forgets_joiners = true;
    expect_found(TRUTH_KIND_SCHEDULE, 2);
}
