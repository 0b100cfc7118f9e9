/*
 * trials.c -- begins and ends the commands that run trials.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/cli/trials.h"

#include <stdio.h>

int
sim_cli_trials_init(struct sim_cli_trials *trials, struct sim_cli *cli, uint64_t runs_default,
        bool (*is_wanted)(const struct sim_scenario *scenario))
{
    const struct sim_settings *settings = &cli->settings;
    *trials = (struct sim_cli_trials){
            .cli = cli,
            .json = sim_given(settings, SIM_CLI_OPTION_JSON),
            .runs = sim_given(settings, SIM_CLI_OPTION_RUNS) ? settings->runs : runs_default,
    };
    int status = sim_select(cli, is_wanted, &trials->selection);
    if (status != 0) {
        return status;
    }
    sim_build_text(cli->library, trials->build);
    sim_progress_init(&trials->progress);
    if (settings->record != SIM_RECORD_NONE) {
        status = sim_cli_open_write(cli, &trials->store);
    }
    if (status == 0) {
        sim_pool_init(&trials->pool, settings->jobs, settings->hang_ms);
    }
    return status;
}

void
sim_cli_trials_done(struct sim_cli_trials *trials)
{
    sim_pool_fini(&trials->pool);
    sim_store_close(&trials->store);
    sim_select_done(&trials->selection);
}

static bool
on_tick(void *argument, uint64_t runs, const struct sim_sweep_totals *totals)
{
    struct sim_cli_trials *trials = argument;
    sim_progress_tick(&trials->progress,
            &(struct sim_progress_state){
                    .name = trials->scenario->name,
                    .runs = runs,
                    .asked = trials->runs,
                    .failures = totals->runs - totals->verdicts[SIM_VERDICT_PASS],
            });
    return ferror(stdout) == 0;
}

struct sim_trials_plan
sim_cli_trials_plan(
        struct sim_cli_trials *trials, const struct sim_scenario *scenario, uint32_t how)
{
    struct sim_trials_plan plan = {
            .spec.scenario = scenario,
            .spec.how = how,
            .trials = SIM_TRIALS,
            .runs_max = trials->runs,
            .tick = on_tick,
            .argument = trials,
    };
    sim_options_init(&plan.spec.options, scenario);
    trials->scenario = scenario;
    return plan;
}

int
sim_cli_trials_ran(const struct sim_cli_trials *trials, bool ran)
{
    return ran ? 0 : sim_cli_fail(SIM_EXIT_SYSTEM, "%s", trials->pool.error);
}
