/*
 * replay_each.c -- `rewake replay --each`: repeats many runs, each alone, and counts the results.
 *
 * What all of them need, such as the names of edges of code, is made once. Prints a line for each
 * run that is not the same, one for all, and the edges that any of them reached. The exit status is
 * the worst:
 *
 *      2  a token is damaged       3  a run differs     125  a token cannot be judged
 *      1  a failure is the same    0  none of these
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/heap.h"
#include "sim/base/json.h"
#include "sim/cli/coverage.h"
#include "sim/cli/replay.h"
#include "sim/search/cover/edges.h"

struct each {
    struct sim_cli *cli;
    bool json;
    uint32_t found[SIM_REPLAY_RESULTS];
    uint32_t refused;
    int status;
    uint64_t *edges; /* Reached by any of them; NULL: not asked for. */
};

/* The rank of a status: the worst is the last. */
static int
gravity(int status)
{
    static const int rising[] = {SIM_EXIT_HELD, SIM_EXIT_BUG, SIM_EXIT_CAN_NOT_JUDGE,
            SIM_EXIT_DIFFERS, SIM_EXIT_USAGE, SIM_EXIT_SYSTEM};
    int rank = 0;
    while (rank + 1 < (int)(sizeof(rising) / sizeof(*rising)) && rising[rank] != status) {
        rank++;
    }
    return rank;
}

static void
note_status(struct each *each, int status)
{
    each->status = gravity(status) > gravity(each->status) ? status : each->status;
}

/* ---- One of them. ---------------------------------------------------------------------------- */

static void
print_one(const struct each *each, const struct sim_subject *subject, struct sim_single *alone,
        enum sim_replay_result result)
{
    const struct sim_outcome *outcome = sim_single_outcome(alone);
    if (each->json) {
        char *token = sim_subject_token(subject, alone);
        sim_replay_print_json(subject, alone, result, token);
        free(token);
    } else if (result != SIM_REPLAY_SAME) {
        (void)printf("%s, seed %llu: %s, %s (oracle %s); it was %s (oracle %s)\n",
                subject->entry->scenario->name, (unsigned long long)subject->seed,
                sim_replay_sentence(result, subject, outcome), sim_verdict_name(outcome->verdict),
                sim_oracle_name(outcome->oracle), sim_verdict_name(subject->expected.verdict),
                sim_oracle_name(subject->expected.oracle));
    }
}

static int
run_one(struct each *each, const struct sim_subject *subject)
{
    struct sim_single alone = {.runs = 0};
    struct sim_run_spec spec = sim_subject_spec(each->cli, subject);
    spec.explain = each->json; /* For missing_wake_step. */
    spec.loud = false;
    enum sim_replay_result result = SIM_REPLAY_SAME;
    int status = sim_subject_run(&spec, &alone);
    if (status == 0) {
        status = sim_replay_find(each->cli, subject, &alone, &result);
    }
    if (status == 0) {
        const uint64_t *reached = alone.worker.edges;
        each->found[result]++;
        for (uint32_t i = 0; each->edges != NULL && reached != NULL && i < sim_edges_words(); i++) {
            each->edges[i] |= reached[i];
        }
        print_one(each, subject, &alone, result);
        status = sim_replay_status(result, sim_single_outcome(&alone));
    }
    sim_single_fini(&alone);
    return status;
}

static void
replay_one(struct each *each, const char *name)
{
    struct sim_subject subject;
    int status = sim_subject_find(each->cli, name, &subject);
    if (status == 0) {
        status = run_one(each, &subject);
    } else {
        each->refused++;
    }
    note_status(each, status);
    sim_subject_done(&subject);
}

/* A run, or a file with a list of runs. */
static void
replay_argument(struct each *each, const char *argument)
{
    char *list = NULL;
    if (!sim_subject_is_text(argument)) {
        replay_one(each, argument);
        return;
    }
    int status = sim_subject_read_list(argument, &list);
    note_status(each, status);
    for (const char *name = list; name != NULL && *name != '\0'; name += strlen(name) + 1) {
        replay_one(each, name);
    }
    free(list);
}

/* ---- All of them. ---------------------------------------------------------------------------- */

static uint32_t
count_edges(const struct each *each)
{
    uint32_t count = 0;
    for (uint32_t i = 0; each->edges != NULL && i < sim_edges_words(); i++) {
        count += (uint32_t)__builtin_popcountll(each->edges[i]);
    }
    return count;
}

static void
print_text(const struct each *each, uint32_t runs)
{
    static const char *const words[SIM_REPLAY_RESULTS] = {"the same",
            "without a failure, by other events", "with the same failure, by other events",
            "different", "different in each replay"};
    (void)printf("%u run%s replayed", runs, runs == 1 ? "" : "s");
    for (uint32_t i = 0; i < SIM_REPLAY_RESULTS; i++) {
        if (i == SIM_REPLAY_SAME || each->found[i] > 0) {
            (void)printf("%s %u %s", i == SIM_REPLAY_SAME ? ":" : ",", each->found[i], words[i]);
        }
    }
    if (each->refused > 0) {
        (void)printf("; %u could not be judged", each->refused);
    }
    if (each->edges != NULL) {
        (void)printf("; %u edges of code reached", count_edges(each));
    }
    (void)putchar('\n');
}

static void
print(const struct each *each)
{
    uint32_t runs = 0;
    for (uint32_t i = 0; i < SIM_REPLAY_RESULTS; i++) {
        runs += each->found[i];
    }
    if (each->json) {
        const uint32_t *found = each->found;
        SIM_JSON_LINE("replays", SIM_NUMBER("runs", runs),
                SIM_NUMBER("same", found[SIM_REPLAY_SAME]),
                SIM_NUMBER("no_longer_fail", found[SIM_REPLAY_NO_LONGER_FAILS]),
                SIM_NUMBER("same_failure", found[SIM_REPLAY_SAME_FAILURE]),
                SIM_NUMBER("differ", found[SIM_REPLAY_DIFFERS]),
                SIM_NUMBER("nondeterministic", found[SIM_REPLAY_UNSTABLE]),
                SIM_NUMBER("refused", each->refused),
                SIM_IF(each->edges != NULL, SIM_NUMBER("edges", count_edges(each))),
                SIM_NUMBER("exit", (uint64_t)each->status));
    } else if (runs + each->refused > 0) {
        print_text(each, runs);
    }
}

int
sim_replay_each(struct sim_cli *cli)
{
    struct each each = {.cli = cli, .json = sim_given(&cli->settings, SIM_CLI_OPTION_JSON)};
    const struct sim_code_edge *edges = NULL;
    if (sim_given(&cli->settings, SIM_CLI_OPTION_CODE)) {
        if (sim_code_names(&edges) == 0) {
            return sim_coverage_no_code();
        }
        each.edges = sim_heap_new(sim_edges_words(), sizeof(*each.edges));
    }
    for (uint32_t i = 0; i < cli->count; i++) {
        replay_argument(&each, cli->arguments[i]);
    }
    sim_coverage_print_run(cli, each.edges);
    print(&each);
    free(each.edges);
    return each.status;
}
