/*
 * trials.h -- what `rewake zoo` and `rewake measure` share: scenarios that must fail, each run in
 * trials (sim/engine/sweep/trials.h), and a table in the database.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/base/build.h"
#include "sim/base/json.h"
#include "sim/base/terminal.h"
#include "sim/cli/select.h"
#include "sim/cli/subject/subject.h"
#include "sim/engine/sweep/trials.h"
#include "sim/store/store.h"

struct sim_cli_trials {
    struct sim_cli *cli;
    struct sim_selection selection;
    struct sim_pool pool;
    struct sim_progress progress;
    struct sim_store *store; /* NULL: --record none. */
    char build[SIM_BUILD_MAX];
    bool json;
    uint64_t runs;                       /* Of a trial, at most. */
    const struct sim_scenario *scenario; /* In progress. */
};

/* Selects the scenarios, opens the database, and makes the workers. 0, or the exit status after a
 * line. sim_cli_trials_done must follow in any case. */
int sim_cli_trials_init(struct sim_cli_trials *trials, struct sim_cli *cli, uint64_t runs_default,
        bool (*is_wanted)(const struct sim_scenario *scenario));
void sim_cli_trials_done(struct sim_cli_trials *trials);

/* Trials of `scenario`, with its default options and progress. */
struct sim_trials_plan sim_cli_trials_plan(
        struct sim_cli_trials *trials, const struct sim_scenario *scenario, uint32_t how);

/* 0, or the exit status after the line of a pool that failed. */
int sim_cli_trials_ran(const struct sim_cli_trials *trials, bool ran);
