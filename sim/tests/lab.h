/*
 * lab.h -- a world for tests, and short ways to run something in it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "runtime/tests/test.h"
#include "sim/core/decide/strategies.h"
#include "sim/core/world.h"
#include "sim/judge/judge.h"
#include "sim/rewake.h"

struct lab {
    struct sim_world world;
    struct sim_random random;
    struct sim_baseline baseline;
};

/* A lab whose arena is at `hint` (NULL: anywhere) and whose fresh memory is `fill`. Aborts the test
 * when the system has no room. */
void lab_init(struct lab *lab, void *hint, uint8_t fill);
void lab_fini(struct lab *lab);

/* Runs `scenario` with its default options; everything is recorded. */
struct sim_outcome lab_run(
        struct lab *lab, const struct sim_scenario *scenario, uint64_t seed, bool plain);

/* As lab_run, and judged, with the owed wake looked for. */
struct sim_outcome lab_judge(
        struct lab *lab, const struct sim_scenario *scenario, uint64_t seed, bool plain);

/* As lab_judge with options of one's own. */
struct sim_outcome lab_judge_with(struct lab *lab, const struct sim_scenario *scenario,
        const struct sim_options *options, uint64_t seed, bool plain);

/* The run's events as text: one line an event, "step actor name object argument". The caller
 * frees. */
char *lab_events(const struct lab *lab);
