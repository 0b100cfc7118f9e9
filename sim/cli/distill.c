/*
 * distill.c -- `rewake coverage --distill`: few runs with the same coverage.
 *
 * Each coverage point has a first run, which has a row. These runs are repeated, each alone, and
 * their greedy cover is printed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "sim/base/heap.h"
#include "sim/base/json.h"
#include "sim/cli/coverage.h"
#include "sim/cli/print/run.h"
#include "sim/cli/subject/subject.h"
#include "sim/engine/token.h"
#include "sim/search/cover/distill.h"
#include "sim/search/cover/edges.h"
#include "sim/search/cover/observe.h"
#include "sim/store/read.h"

struct candidate {
    int64_t run;
    uint64_t seed;
    char *token;
    uint64_t *ids;
};

struct distilling {
    struct sim_cli *cli;
    struct candidate *candidates;
    struct sim_cover_set *sets;
    uint32_t count;
    uint32_t which;                    /* Is run again. */
    uint32_t changed;                  /* Runs that are different now. */
    const struct sim_code_edge *edges; /* NULL: not counted. */
    struct sim_cover *cover;
    struct sim_element *elements;
};

static bool
note_run(const char *const *columns, void *argument)
{
    struct distilling *distilling = argument;
    uint32_t count = distilling->count + 1;
    distilling->candidates =
            sim_heap_resize(distilling->candidates, count, sizeof(*distilling->candidates));
    distilling->candidates[distilling->count] =
            (struct candidate){.run = strtoll(columns[0], NULL, 10)};
    distilling->count = count;
    return true;
}

/* Adds the edges that the run reached to `ids`; returns the new count. */
static uint32_t
add_edges(const struct distilling *distilling, const struct sim_single *alone, uint64_t *ids,
        uint32_t count)
{
    const uint64_t *reached = alone->worker.edges;
    for (uint32_t i = 0; reached != NULL && i < sim_edges_count(); i++) {
        if (sim_edges_has(reached, i)) {
            /* Coverage points have no top bit, but for one in 2^64. */
            ids[count++] = distilling->edges[i].id | UINT64_C(1) << 63;
        }
    }
    return count;
}

static int
note_coverage(struct sim_cli *cli, const struct sim_subject *subject, struct sim_single *alone,
        void *argument)
{
    struct distilling *distilling = argument;
    struct candidate *candidate = &distilling->candidates[distilling->which];
    (void)cli;
    struct sim_cover_run run;
    uint32_t count = sim_cover_run(distilling->cover, sim_single_recorder(alone),
            distilling->elements, SIM_COVER_ELEMENTS_MAX, &run);
    const uint32_t *checked = alone->worker.shared->world.checked;
    candidate->ids = sim_heap_new(
            (size_t)count + SIM_CHECKED_MAX + sim_edges_count(), sizeof(*candidate->ids));
    for (uint32_t i = 0; i < count; i++) {
        candidate->ids[i] = sim_element_id(&distilling->elements[i]);
    }
    for (uint32_t i = 0; i < SIM_CHECKED_MAX; i++) {
        const struct sim_element always = {SIM_ELEMENT_ALWAYS, checked[i], 0};
        if (always.first != 0) {
            candidate->ids[count++] = sim_element_id(&always);
        }
    }
    if (distilling->edges != NULL) {
        count = add_edges(distilling, alone, candidate->ids, count);
    }
    candidate->seed = subject->seed;
    candidate->token = sim_token_of(subject->entry->scenario, &subject->options, subject->how,
            &subject->tape, sim_single_outcome(alone));
    distilling->sets[distilling->which] = (struct sim_cover_set){candidate->ids, count};
    distilling->changed += !sim_subject_same_run(subject, sim_single_outcome(alone));
    return 0;
}

static int
run_again(struct distilling *distilling, uint32_t which)
{
    char name[32];
    distilling->which = which;
    (void)snprintf(name, sizeof(name), "run:%lld", (long long)distilling->candidates[which].run);
    return sim_subject_make(distilling->cli, name, false, note_coverage, distilling);
}

static void
print_text(const struct distilling *distilling, const char *scenario, const struct sim_taken *taken,
        uint32_t count)
{
    uint32_t all = count > 0 ? taken[count - 1].covered : 0;
    (void)printf("%s: %u of %u runs cover all %u coverage points%s\n", scenario, count,
            distilling->count, all, distilling->edges != NULL ? " and edges of code" : "");
    for (uint32_t i = 0; i < count; i++) {
        const struct candidate *candidate = &distilling->candidates[taken[i].set];
        (void)printf(
                "%6u more  %6u in all  %s\n", taken[i].adds, taken[i].covered, candidate->token);
    }
}

static void
print_json(const struct distilling *distilling, const char *scenario, const struct sim_taken *taken,
        uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct candidate *candidate = &distilling->candidates[taken[i].set];
        SIM_JSON_LINE("distilled", SIM_TEXT("scenario", scenario),
                SIM_TEXT("token", candidate->token), SIM_LONG("seed", candidate->seed),
                SIM_NUMBER("adds", taken[i].adds), SIM_NUMBER("covered", taken[i].covered));
    }
}

static void
print(const struct distilling *distilling, const char *scenario)
{
    struct sim_taken *taken = sim_heap_new(distilling->count, sizeof(*taken));
    uint32_t count = sim_distill(distilling->sets, distilling->count, taken);
    if (sim_given(&distilling->cli->settings, SIM_CLI_OPTION_JSON)) {
        print_json(distilling, scenario, taken, count);
    } else {
        print_text(distilling, scenario, taken, count);
    }
    free(taken);
}

static void
done(struct distilling *distilling)
{
    for (uint32_t i = 0; i < distilling->count; i++) {
        free(distilling->candidates[i].token);
        free(distilling->candidates[i].ids);
    }
    free(distilling->candidates);
    free(distilling->sets);
    free(distilling->cover);
    free(distilling->elements);
}

/* The candidates of all sweeps. */
static enum sim_store_err
note_runs(struct distilling *distilling, struct sim_store *store, const int64_t *sweeps,
        uint32_t count)
{
    enum sim_store_err err = SIM_STORE_OK;
    for (uint32_t i = 0; i < count && err == SIM_STORE_OK; i++) {
        err = sim_store_ask(store, SIM_ASKED_NEWS, sweeps[i], note_run, distilling);
    }
    return err;
}

int
sim_coverage_distill(struct sim_cli *cli, struct sim_store *store, const char *scenario,
        const int64_t *sweeps, uint32_t count, bool code)
{
    struct distilling distilling = {
            .cli = cli,
            .cover = sim_heap_new(1, sizeof(struct sim_cover)),
            .elements = sim_heap_new(SIM_COVER_ELEMENTS_MAX, sizeof(struct sim_element)),
    };
    int status = 0;
    if (code && sim_code_names(&distilling.edges) == 0) {
        status = sim_coverage_no_code();
    }
    if (status == 0) {
        status = sim_cli_stored(store, note_runs(&distilling, store, sweeps, count));
    }
    distilling.sets = sim_heap_new(distilling.count, sizeof(*distilling.sets));
    for (uint32_t i = 0; i < distilling.count && status == 0; i++) {
        status = run_again(&distilling, i);
    }
    if (status == 0) {
        print(&distilling, scenario);
    }
    if (status == 0 && distilling.changed > 0) {
        status = sim_cli_fail(SIM_EXIT_DIFFERS,
                "%s: %u of these runs differ from those that were recorded: the code has changed",
                scenario, distilling.changed);
    }
    done(&distilling);
    return status;
}
