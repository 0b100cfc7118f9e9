/*
 * regression.c -- repeats a promoted run, once, as far as its decisions fit.
 *
 * It is judged as any run is: it must pass.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "sim/cli/run/state.h"
#include "sim/cli/subject/subject.h"

const char *
sim_run_strategy(const struct sim_run *run)
{
    return run->first.in_progress                  ? "baseline"
           : run->plan.spec.how == SIM_HOW_LENIENT ? "tape"
                                                   : run->cli->settings.strategy;
}

void
sim_run_regression_options(const struct sim_run *run, struct sim_options *options)
{
    const struct sim_scenario *scenario = run->entry->scenario;
    char line[SIM_ARTIFACT_LINE_MAX];
    char error[SIM_ARTIFACT_ERROR_MAX];
    struct sim_artifact artifact;
    sim_options_init(options, scenario);
    if (scenario->regression == NULL || scenario->regression->options == NULL ||
            *scenario->regression->options == '\0') {
        return;
    }
    int length =
            snprintf(line, sizeof(line), "%s %s\n", scenario->name, scenario->regression->options);
    if (length >= (int)sizeof(line)) {
        sim_cli_warn("%s has too many options; it is run without them", scenario->name);
    } else if (sim_artifact_read(&run->cli->registry, (const uint8_t *)line, (size_t)length,
                       &artifact, error) != 0) {
        sim_cli_warn("%s %s; it is run without its options", scenario->name, error);
    } else {
        *options = artifact.options;
    }
}

void
sim_run_regression_plan(
        const struct sim_run *run, struct sim_tape *tape, struct sim_sweep_plan *plan)
{
    const struct sim_regression *regression = run->entry->scenario->regression;
    if (regression == NULL) {
        return;
    }
    /* Not written to: each worker gets a copy. */
    *tape = (struct sim_tape){(struct sim_deviation *)(uintptr_t)regression->decisions,
            regression->count, regression->count};
    plan->spec.how = SIM_HOW_LENIENT;
    plan->spec.tape = tape;
    plan->runs = 1;
    plan->spec.seed = SIM_SHRINK_SEED;
}
