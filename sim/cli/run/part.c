/*
 * part.c -- where a sweep begins by the commit, and which part of it is made here.
 *
 * The seed that stands for a commit is the number that its first twelve digits are: 48 bits, so
 * that the seeds of all runs of a sweep fit behind it, and so that anybody can compute it:
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
#include "sim/cli/run/state.h"
#include "sim/engine/token.h"

/* ---- By the commit. -------------------------------------------------------------------------- */

#define SEED_DIGITS 12u

/* Asks git, whatever it answers: the first line, and its exit status. */
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
                "--seed-from-git: git is not installed; install it, or name a seed with --seed");
    }
    if (status != 0 || !is_commit(line)) {
        return sim_cli_fail(SIM_EXIT_USAGE,
                "--seed-from-git: no commit is checked out here (git says: %s); name a seed with "
                "--seed",
                line);
    }
    (void)snprintf(run->git, sizeof(run->git), "%.64s", line);
    (void)snprintf(digits, sizeof(digits), "0x%.*s", (int)SEED_DIGITS, line);
    bool parsed = sim_number_parse(digits, SIM_SEED_MAX, &settings->seed);
    rt_assert(parsed);
    return 0;
}

/* ---- A part. --------------------------------------------------------------------------------- */

/* What can only be said of a whole sweep, and who cannot be cut. */
static int
refuse(const struct sim_run *run)
{
    const struct sim_settings *settings = &run->cli->settings;
    const struct sim_strategy_kind *kind = sim_strategy_at(settings->search.kind);
    if (sim_given(settings, SIM_CLI_OPTION_SATURATED)) {
        return sim_cli_fail(SIM_EXIT_USAGE,
                "--shard and --until-saturated exclude each other: whether a sweep has seen enough "
                "is not known to a part of it");
    }
    if (sim_given(settings, SIM_CLI_OPTION_GOALS)) {
        return sim_cli_fail(SIM_EXIT_USAGE,
                "--shard and --goals exclude each other: another part may reach a goal; ask all of "
                "them with `rewake merge --goals`");
    }
    if (run->plan.how == SIM_HOW_SEARCH && kind->sequential) {
        return sim_cli_fail(SIM_EXIT_USAGE,
                "--shard: %s cannot be cut into parts, since each of its runs begins where the "
                "one "
                "before has ended",
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
    uint64_t length = sim_chapter_runs(run->plan.runs);
    uint64_t chapters = (run->plan.runs - 1) / length + 1;
    if (settings->shards > chapters) {
        return sim_cli_fail(SIM_EXIT_USAGE,
                "--shard %u/%u: %llu run%s are at most %llu part%s; ask for more runs, or for "
                "fewer "
                "parts",
                settings->shard, settings->shards, (unsigned long long)run->plan.runs,
                run->plan.runs == 1 ? "" : "s", (unsigned long long)chapters,
                chapters == 1 ? "" : "s");
    }
    run->cover.covered_memory = malloc(sim_facts_size(SIM_LEARNED_FACTS));
    rt_assert(run->cover.covered_memory != NULL);
    sim_facts_init(&run->cover.covered, run->cover.covered_memory, SIM_LEARNED_FACTS);
    run->plan.chapter_runs = length;
    run->plan.shard = settings->shard - 1;
    run->plan.shards = settings->shards;
    run->plan.covered = &run->cover.covered;
    return 0;
}

bool
sim_run_is_part(const struct sim_run *run)
{
    return run->plan.chapter_runs != 0;
}
