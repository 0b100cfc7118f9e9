/*
 * names.c -- names of runs, and the list of failures at the end.
 *
 * A failure has the name of its row, run:ID, which replays it whatever found it. Its seed is
 * printed only where the seed alone reproduces the run: a strategy that learns draws another run
 * from the same seed after other runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/cli/run/state.h"

bool
sim_run_seed_is_enough(const struct sim_run *run)
{
    const struct sim_strategy_kind *kind = sim_strategy_at(run->plan.spec.search.kind);
    return run->plan.spec.how == SIM_HOW_RANDOM ||
           (run->plan.spec.how == SIM_HOW_SEARCH && !kind->adaptive && !kind->sequential);
}

void
sim_run_warn_of_seed(const struct sim_run *run)
{
    const struct sim_settings *settings = &run->cli->settings;
    const struct sim_strategy_kind *kind = sim_strategy_at(settings->search.kind);
    if (sim_given(settings, SIM_CLI_OPTION_SEEDS) && settings->seed == settings->seed_last &&
            run->plan.spec.how == SIM_HOW_SEARCH && kind->adaptive) {
        sim_cli_warn(
                "--seeds %llu-%llu: %s learns from the runs before, and has none here: this is not "
                "the run with that seed of a longer sweep; replay that one by run:ID or its token",
                (unsigned long long)settings->seed, (unsigned long long)settings->seed,
                settings->strategy);
    }
}

void
sim_run_name(const struct sim_run *run, uint64_t seed, int64_t run_id, char *text, size_t size)
{
    int length = 0;
    text[0] = '\0';
    if (run->first.in_progress) {
        length = snprintf(text, size, " in the default schedule");
    } else if (sim_run_seed_is_enough(run)) {
        length = snprintf(text, size, " at seed %llu", (unsigned long long)seed);
    }
    rt_assert(length >= 0 && (size_t)length < size);
    if (run_id != 0) {
        (void)snprintf(text + length, size - (size_t)length, " (run:%lld)", (long long)run_id);
    }
}

const struct sim_run_end *
sim_run_end(enum sim_sweep_end end)
{
    static const struct sim_run_end ends[] = {
            [SIM_SWEEP_COMPLETE] = {"complete", "", "the runs are used up (--runs)"},
            [SIM_SWEEP_EXHAUSTED] = {"exhausted", "(complete: no other run exists)", NULL},
            [SIM_SWEEP_ENOUGH] = {"saturated", "(saturated)", "rewake failed"},
            [SIM_SWEEP_STOPPED_AT_FAILURE] = {"first failure", "(stopped at the first failure)",
                    "stopped at the first failure"},
            [SIM_SWEEP_OUT_OF_TIME] = {"time", "(time is up)", "the time is up"},
            [SIM_SWEEP_INTERRUPTED] = {"interrupted", "(interrupted)", "interrupted"},
            [SIM_SWEEP_TOO_MANY_HANGS] = {"hangs", "(aborted: too many hangs)",
                    "aborted: too many hangs"},
            [SIM_SWEEP_SINK] = {"failed", "(stopped: rewake failed)", "rewake failed"},
            [SIM_SWEEP_SYSTEM] = {"failed", "(stopped: rewake failed)", "rewake failed"},
    };
    rt_assert((uint32_t)end < sizeof(ends) / sizeof(*ends));
    return &ends[end];
}

void
sim_run_list(struct sim_run *run, const char *scenario, const char *verdict, const char *name)
{
    run->named = sim_heap_resize(run->named, run->named_count + 1, sizeof(*run->named));
    run->named[run->named_count++] =
            (struct sim_run_named){sim_heap_text(scenario), sim_heap_printf("%s%s", verdict, name)};
}

void
sim_run_list_put(const struct sim_run *run)
{
    for (size_t i = 0; i < run->named_count; i++) {
        (void)printf("failed: %s: %s\n", run->named[i].scenario, run->named[i].words);
    }
}

void
sim_run_list_done(struct sim_run *run)
{
    for (size_t i = 0; i < run->named_count; i++) {
        free(run->named[i].scenario);
        free(run->named[i].words);
    }
    free(run->named);
    run->named = NULL;
    run->named_count = 0;
}
