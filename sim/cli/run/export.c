/*
 * export.c -- `rewake run --junit FILE`: the sweeps of this command as JUnit XML.
 *
 * The file is opened before the first run, so that an error does not come after an hour. A rewake
 * that is killed leaves it empty.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "sim/base/heap.h"
#include "sim/cli/export.h"
#include "sim/cli/run/state.h"

bool
sim_run_export_open(struct sim_run *run)
{
    const struct sim_settings *settings = &run->cli->settings;
    if (settings->junit == NULL) {
        return true;
    }
    if (run->store == NULL) {
        run->system = sim_cli_fail(SIM_EXIT_USAGE,
                "--junit reads the database, and --record none writes none: leave one out");
    } else {
        run->junit = sim_export_open(settings->junit, false);
        run->system = run->junit != NULL ? 0 : SIM_EXIT_SYSTEM;
    }
    return run->junit != NULL;
}

void
sim_run_export_sweep(struct sim_run *run)
{
    if (run->junit == NULL) {
        return;
    }
    run->sweeps = sim_heap_resize(run->sweeps, run->sweep_count + 1, sizeof(*run->sweeps));
    run->sweeps[run->sweep_count++] = run->sweep;
}

int
sim_run_export_write(struct sim_run *run)
{
    if (run->junit == NULL) {
        return 0;
    }
    const struct report_export export = {
            .store = run->store,
            .file = run->junit,
            .sweeps = run->sweeps,
            .sweep_count = run->sweep_count,
            .db = run->cli->settings.db,
    };
    int status = sim_export_write(report_format_find("junit"), &export, run->cli->settings.junit);
    free(run->sweeps);
    run->junit = NULL;
    run->sweeps = NULL;
    return status;
}
