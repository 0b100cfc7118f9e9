/*
 * part.c -- the first seed of a sweep by the commit, and the part of a sweep that is made here.
 *
 * The seed of a commit is the number in its first twelve digits: 48 bits, so that there are seeds
 * for all runs of a sweep after it. A shell can compute it:
 *
 *      --seed 0x$(git rev-parse HEAD | cut -c 1-12)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/cli/run/state.h"
#include "sim/engine/token.h"

/* ---- By the commit. -------------------------------------------------------------------------- */

#define SEED_DIGITS 12u

/* The first line that git prints, whatever it is, and its exit status. */
static int
ask_git(char *line, size_t size)
{
    FILE *git = popen("git rev-parse --verify HEAD 2>&1", "r");
    if (git == NULL) {
        return -1;
    }
    if (fgets(line, (int)size, git) == NULL) {
        line[0] = '\0';
    }
    line[strcspn(line, "\n")] = '\0';
    while (fgetc(git) != EOF) {
    }
    int status = pclose(git);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A SHA-1 or a SHA-256. */
static bool
is_commit(const char *line)
{
    size_t digits = strspn(line, "0123456789abcdef");
    return line[digits] == '\0' && (digits == 40 || digits == 64);
}

int
sim_run_take_commit(struct sim_run *run)
{
    char line[256] = "";
    char digits[SEED_DIGITS + 3];
    struct sim_settings *settings = &run->cli->settings;
    if (!sim_given(settings, SIM_CLI_OPTION_SEED_FROM_GIT)) {
        return 0;
    }
    int status = ask_git(line, sizeof(line));
    if (status == 127) {
        return sim_cli_fail(SIM_EXIT_USAGE,
                "--seed-from-git: git is not installed: install it, or give --seed");
    }
    if (status != 0 || !is_commit(line)) {
        return sim_cli_fail(SIM_EXIT_USAGE,
                "--seed-from-git: no commit is checked out here (git: %s); give --seed", line);
    }
    (void)snprintf(run->git, sizeof(run->git), "%.64s", line);
    (void)snprintf(digits, sizeof(digits), "0x%.*s", (int)SEED_DIGITS, line);
    bool parsed = sim_number_parse(digits, SIM_SEED_MAX, &settings->seed);
    rt_assert(parsed);
    return 0;
}

/* ---- A part. --------------------------------------------------------------------------------- */

/* What needs a whole sweep, and strategies that cannot be cut. */
static int
refuse(const struct sim_run *run)
{
    const struct sim_settings *settings = &run->cli->settings;
    const struct sim_strategy_kind *kind = sim_strategy_at(settings->search.kind);
    if (sim_given(settings, SIM_CLI_OPTION_SATURATED)) {
        return sim_cli_fail(SIM_EXIT_USAGE,
                "--shard and --until-saturated exclude each other: a part cannot know whether the "
                "sweep is saturated");
    }
    if (sim_given(settings, SIM_CLI_OPTION_GOALS)) {
        return sim_cli_fail(SIM_EXIT_USAGE,
                "--shard and --goals exclude each other: another part may reach a goal; use rewake "
                "merge --goals");
    }
    if (run->plan.spec.how == SIM_HOW_SEARCH && kind->sequential) {
        return sim_cli_fail(SIM_EXIT_USAGE,
                "--shard: %s cannot be cut into parts: each of its runs begins where the one "
                "before ended",
                kind->name);
    }
    return 0;
}

int
sim_run_take_part(struct sim_run *run)
{
    const struct sim_settings *settings = &run->cli->settings;
    if (!sim_given(settings, SIM_CLI_OPTION_SHARD)) {
        return 0;
    }
    int status = refuse(run);
    if (status != 0) {
        return status;
    }
    uint64_t length = sim_unit_runs(run->plan.runs);
    uint64_t batches = (run->plan.runs - 1) / length + 1;
    if (settings->shards > batches) {
        return sim_cli_fail(SIM_EXIT_USAGE,
                "--shard %u/%u: %llu run%s at most %llu part%s: make more runs, or fewer parts",
                settings->shard, settings->shards, (unsigned long long)run->plan.runs,
                run->plan.runs == 1 ? " makes" : "s make", (unsigned long long)batches,
                batches == 1 ? "" : "s");
    }
    run->cover.covered_memory = sim_heap_must(malloc(sim_facts_size(SIM_LEARNED_FACTS)));
    sim_facts_init(&run->cover.covered, run->cover.covered_memory, SIM_LEARNED_FACTS);
    run->plan.unit_runs = length;
    run->plan.shard = settings->shard - 1;
    run->plan.shards = settings->shards;
    run->plan.covered = &run->cover.covered;
    return 0;
}

bool
sim_run_is_part(const struct sim_run *run)
{
    return run->plan.unit_runs != 0;
}
