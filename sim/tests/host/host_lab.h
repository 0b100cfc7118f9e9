/*
 * host_lab.h -- scenarios for the fake host, run once as the baseline and then at random.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/tests/lab.h"

/* Runs with `options`, not judged; everything is recorded. */
static inline struct sim_outcome
host_lab_run(struct lab *lab, const struct sim_scenario *scenario,
        const struct sim_options *options, uint64_t seed, bool plain)
{
    struct sim_outcome outcome;
    struct sim_strategy *strategy = plain ? &lab->baseline.strategy : &lab->random.strategy;
    sim_world_run(&lab->world, scenario, options, seed, strategy,
            (struct sim_recording){.events = true, .texts = true}, &outcome);
    return outcome;
}

/* The baseline run and `seeds` random ones; each must end with `verdict` of `oracle`. */
static inline void
host_lab_expect(const struct sim_scenario *scenario, uint64_t seeds, enum sim_verdict verdict,
        enum sim_oracle oracle)
{
    struct lab lab;
    lab_init(&lab, NULL, 0xa5);
    for (uint64_t seed = 0; seed <= seeds; seed++) {
        struct sim_outcome outcome = lab_run(&lab, scenario, seed, seed == 0);
        ck_assert_msg(outcome.verdict == verdict && outcome.oracle == oracle,
                "seed %llu: %s by %s: %s", (unsigned long long)seed,
                sim_verdict_name(outcome.verdict), sim_oracle_name(outcome.oracle),
                outcome.message);
    }
    lab_fini(&lab);
}

static inline void
host_lab_pass(const struct sim_scenario *scenario, uint64_t seeds)
{
    host_lab_expect(scenario, seeds, SIM_VERDICT_PASS, SIM_ORACLE_NONE);
}

/* How many events of `kind` about `object` (0: any) the last run has recorded. */
static inline uint32_t
host_lab_count(const struct lab *lab, uint32_t kind, uint32_t object)
{
    const struct sim_recorder *recorder = &lab->world.recorder;
    uint32_t count = 0;
    for (uint64_t i = sim_recorder_first(recorder); i < recorder->count; i++) {
        const struct sim_event *event = sim_recorder_event(recorder, i);
        count += event->kind == kind && (object == 0 || event->object == object);
    }
    return count;
}

/* A call that must succeed; one that must fail with `error`. */
#define EXPECT_OK(call) EXPECT_STR(rt_err_name(call), "RT_OK")
#define REFUSES(call, error) EXPECT_STR(rt_err_name(call), #error)

#define MS UINT64_C(1000000)
