/*
 * programs_test.c -- that random programs are what the tests that use them take them for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/programs.h"

#include "sim/tests/lab.h"

#define PROGRAMS 150
#define ENDS_MAX 64u

struct seen {
    uint32_t runs;
    uint32_t ends; /* Different ones, as far as there is room. */
    uint64_t end[ENDS_MAX];
    bool verdicts[SIM_VERDICTS];
};

static void
note(struct seen *seen, const struct sim_outcome *outcome, uint64_t end)
{
    uint32_t i = 0;
    seen->runs++;
    seen->verdicts[outcome->verdict] = true;
    while (i < seen->ends && seen->end[i] != end) {
        i++;
    }
    if (i == seen->ends && i < ENDS_MAX) {
        seen->end[seen->ends++] = end;
    }
}

static struct seen
run_all(struct lab *lab, int64_t program)
{
    struct seen seen = {0};
    struct every every;
    struct sim_options options;
    program_options(&options, program);
    every_init(&every);
    do {
        struct sim_outcome outcome;
        sim_world_run(&lab->world, &program_scenario, &options, 1, &every.strategy,
                (struct sim_recording){false, false}, &outcome);
        note(&seen, &outcome, program_end_of(&lab->world));
    } while (every_next(&every));
    return seen;
}

/*
 * Goal: each program can be enumerated in moments; together they fail in all the ways they can, and
 * their orders matter.
 * Method: every order of 150 programs.
 */
TEST(programs_are_small_and_various)
{
    struct lab lab;
    uint32_t mixed = 0;
    uint32_t various = 0;
    uint32_t asleep = 0;
    lab_init(&lab, NULL, 0);
    for (int64_t program = 0; program < PROGRAMS; program++) {
        struct seen seen = run_all(&lab, program);
        ck_assert_uint_le(seen.runs, PROGRAM_RUNS_MAX);
        mixed += seen.verdicts[SIM_VERDICT_PASS] &&
                 (seen.verdicts[SIM_VERDICT_INVARIANT] || seen.verdicts[SIM_VERDICT_DEADLOCK]);
        asleep += seen.verdicts[SIM_VERDICT_DEADLOCK];
        various += seen.ends > 2;
        for (uint32_t verdict = 0; verdict < SIM_VERDICTS; verdict++) {
            EXPECT(!seen.verdicts[verdict] || verdict == SIM_VERDICT_PASS ||
                    verdict == SIM_VERDICT_INVARIANT || verdict == SIM_VERDICT_DEADLOCK);
        }
    }
    ck_assert_uint_ge(mixed, PROGRAMS / 3);
    ck_assert_uint_ge(asleep, PROGRAMS / 4);
    ck_assert_uint_ge(various, PROGRAMS / 2);
    lab_fini(&lab);
}
