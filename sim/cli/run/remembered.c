/*
 * remembered.c -- tries first what failed before.
 *
 * A separate phase, before all sweeps: each remembered failure is run alone. One that fails again
 * is reported, stored and counted as a new failure is, and a sweep of its scenario in the database
 * records it (notes.sql, failed_again), also where the command makes no other run of it. No figure
 * of that sweep counts it. One that no longer fails is forgotten, and so is one whose token this
 * build cannot judge.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/clock.h"
#include "sim/base/heap.h"
#include "sim/cli/run/state.h"
#include "sim/cli/subject/subject.h"
#include "sim/engine/token.h"
#include "sim/program/program.h"

struct list {
    struct sim_remembered *failures;
    uint32_t count;
};

static bool
collect(const struct sim_remembered *failure, void *argument)
{
    struct list *list = argument;
    list->failures = sim_heap_resize(list->failures, list->count + 1, sizeof(*list->failures));
    struct sim_remembered *copy = &list->failures[list->count++];
    *copy = *failure;
    copy->scenario = sim_heap_text(failure->scenario);
    copy->library = sim_heap_text(failure->library);
    copy->token = sim_heap_text(failure->token);
    return true;
}

static void
forget_list(struct list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        free((void *)(uintptr_t)list->failures[i].scenario);
        free((void *)(uintptr_t)list->failures[i].library);
        free((void *)(uintptr_t)list->failures[i].token);
    }
    free(list->failures);
}

static const struct sim_entry *
selected(const struct sim_run *run, const char *name)
{
    for (uint32_t i = 0; i < run->selected.count; i++) {
        if (strcmp(run->selected.entries[i]->scenario->name, name) == 0) {
            return run->selected.entries[i];
        }
    }
    return NULL;
}

static bool
forget(struct sim_run *run, const struct sim_remembered *failure, const char *detail)
{
    sim_run_print_remembered(run, failure, "forgotten", detail);
    return sim_store_forget(run->store, failure) == SIM_STORE_OK || sim_run_store_failed(run);
}

/* ---- One that fails again. ------------------------------------------------------------------- */

/* Its row (0: none), where that is the same run, event by event, which keeps its name and its
 * explanation; and the token of the smaller run, from malloc, or NULL. */
static bool
find_row(struct sim_run *run, const struct sim_remembered *failure,
        const struct sim_outcome *outcome, int64_t *ret_run_id, char **ret_shrunk)
{
    struct sim_found_run found;
    *ret_run_id = 0;
    *ret_shrunk = NULL;
    if (failure->run == 0) {
        return true;
    }
    enum sim_store_err err = sim_store_find_run(run->store, failure->run, &found);
    if (err != SIM_STORE_OK) {
        return err == SIM_STORE_UNKNOWN || sim_run_store_failed(run);
    }
    if (found.digest == outcome->digest && found.verdict == outcome->verdict &&
            found.oracle == outcome->oracle && found.site == outcome->site &&
            found.message != NULL && strcmp(found.message, outcome->message) == 0) {
        *ret_run_id = failure->run;
        *ret_shrunk = sim_heap_text(found.shrunk_token);
    }
    sim_found_run_clear(&found);
    return true;
}

/* Whether it is run 0 of the scenario in progress: no deviation, and the options of the command. */
static bool
is_default(const struct sim_run *run, const struct sim_run_spec *what)
{
    if (what->how != SIM_HOW_STRICT || what->tape->count > 0 || what->seed != SIM_SHRINK_SEED) {
        return false;
    }
    char *options = sim_options_json(what->scenario, &what->options);
    bool same = strcmp(options, run->options) == 0;
    free(options);
    return same;
}

static bool
note_again(struct sim_run *run, const struct sim_run_spec *what, const struct sim_outcome *outcome,
        int64_t run_id)
{
    run->again = sim_heap_resize(run->again, run->again_count + 1, sizeof(*run->again));
    run->again[run->again_count++] = (struct sim_run_again){
            .entry = run->entry,
            .sweep = run->sweep,
            .verdict = outcome->verdict,
            .oracle = outcome->oracle,
            .site = outcome->site,
            .is_default = is_default(run, what),
    };
    run->runs++;
    run->refused_runs += !sim_verdict_fails(outcome->verdict);
    run->bug = run->bug || sim_verdict_fails(outcome->verdict);
    run->refused = run->refused || !sim_verdict_fails(outcome->verdict);
    return sim_store_failed_again(run->store, run->sweep, run_id) == SIM_STORE_OK ||
           sim_run_store_failed(run);
}

/* Its scenario is in progress. */
static bool
take(struct sim_run *run, const struct sim_remembered *failure, const struct sim_run_spec *what,
        struct sim_single *alone)
{
    struct sim_tape tape = sim_single_deviations(alone);
    const struct sim_outcome *outcome = sim_single_outcome(alone);
    struct sim_new_failure again = {
            .index = UINT64_MAX,
            .seen = outcome,
            .again = *what,
            .outcome = *outcome,
            .alone = alone,
            .same = true,
    };
    int64_t run_id = 0;
    again.again.tape = &tape;
    run->plan.spec.options = what->options;
    run->plan.spec.search.swarm = 0;
    run->plan.spec.how = SIM_HOW_STRICT; /* No seed of this command makes it. */
    run->plan.deadline_ms = run->cli->settings.time_ms > 0 ? sim_clock_ms() : UINT64_MAX;
    char *shrunk = NULL;
    bool continues = find_row(run, failure, outcome, &run_id, &shrunk) &&
                     sim_run_take_again(run, &again, shrunk, &run_id) &&
                     note_again(run, what, outcome, run_id);
    free(shrunk);
    return continues;
}

static bool
fails_again(struct sim_run *run, const struct sim_remembered *failure,
        const struct sim_entry *entry, const struct sim_run_spec *what, struct sim_single *alone)
{
    char detail[128];
    const struct sim_outcome *outcome = sim_single_outcome(alone);
    bool same = outcome->verdict == failure->verdict && outcome->oracle == failure->oracle &&
                outcome->site == failure->site;
    (void)snprintf(detail, sizeof(detail), same ? "still fails" : "fails in another way now: %s",
            sim_verdict_name(outcome->verdict));
    sim_run_print_remembered(run, failure, same ? "fails" : "fails-otherwise", detail);
    if (!same && sim_store_forget(run->store, failure) != SIM_STORE_OK) {
        return sim_run_store_failed(run);
    }
    if (run->expect && sim_scenario_states(entry->scenario, outcome->verdict)) {
        return true;
    }
    run->entry = entry;
    if (sim_run_is_again(run, outcome)) {
        return true; /* As another remembered one did. */
    }
    bool continues = sim_run_enter(run, entry) && take(run, failure, what, alone);
    sim_run_leave(run);
    return continues;
}

/* ---- All of them. ---------------------------------------------------------------------------- */

static bool
run_again(struct sim_run *run, const struct sim_remembered *failure, const struct sim_entry *entry,
        struct sim_token *token)
{
    struct sim_options options;
    struct sim_single alone;
    char error[SIM_TOKEN_ERROR_MAX];
    if (sim_token_options(token, entry->scenario, &options, error) != SIM_TOKEN_OK) {
        return forget(run, failure, "its scenario declares other options now; forgotten");
    }
    const struct sim_run_spec what = {
            .scenario = entry->scenario,
            .options = options,
            .seed = token->seed,
            .how = token->taped ? SIM_HOW_STRICT : SIM_HOW_RANDOM,
            .tape = &token->tape,
            .hang_ms = run->cli->settings.hang_ms,
            .hurry = failure->verdict == SIM_VERDICT_HANG ? run->plan.interrupted : NULL,
            .explain = true,
            .loud = true,
    };
    bool continues = false;
    if (!sim_single_alone(&alone, &what)) {
        run->system = sim_cli_fail(
                SIM_EXIT_SYSTEM, "a remembered failure could not be run: %s", alone.worker.error);
    } else if (sim_single_outcome(&alone)->verdict == SIM_VERDICT_PASS) {
        continues = forget(run, failure, "no longer fails; forgotten");
    } else {
        continues = fails_again(run, failure, entry, &what, &alone);
    }
    sim_single_fini(&alone);
    return continues;
}

static bool
are_same(char *const *a, uint32_t a_count, const char *const *b, uint32_t b_count)
{
    bool same = a_count == b_count;
    for (uint32_t i = 0; same && i < a_count; i++) {
        same = strcmp(a[i], b[i]) == 0;
    }
    return same;
}

/* Whether a program was given then what it is given now; else its run says nothing. */
static bool
is_of_input(const struct sim_token *token)
{
    if (!token->program || sim_program_loaded() == NULL) {
        return true;
    }
    const struct sim_program_input *input = sim_program_input();
    return token->environment == sim_program_environment() &&
           are_same(token->arguments, token->argument_count, (const char *const *)input->arguments,
                   input->argument_count) &&
           are_same(token->peers, token->peer_count, input->peers, input->peer_count);
}

static bool
try_one(struct sim_run *run, const struct sim_remembered *failure)
{
    struct sim_token token;
    char error[SIM_TOKEN_ERROR_MAX];
    const struct sim_entry *entry = selected(run, failure->scenario);
    if (entry == NULL) {
        return true;
    }
    enum sim_token_error err = sim_token_parse(failure->token, &token, error);
    if (err != SIM_TOKEN_OK) {
        return forget(run, failure, "this build cannot judge its token; forgotten");
    }
    bool continues = is_of_input(&token) ? run_again(run, failure, entry, &token) : true;
    sim_token_done(&token);
    return continues;
}

bool
sim_run_try_remembered(struct sim_run *run)
{
    struct list list = {NULL, 0};
    bool continues = true;
    if (run->store == NULL || sim_given(&run->cli->settings, SIM_CLI_OPTION_FRESH)) {
        return true;
    }
    if (sim_store_remembered(run->store, collect, &list) != SIM_STORE_OK) {
        continues = sim_run_store_failed(run);
    }
    for (uint32_t i = 0; i < list.count && continues && *run->plan.interrupted == 0; i++) {
        continues = try_one(run, &list.failures[i]);
        if (run->bug && run->plan.fail_fast) {
            break;
        }
    }
    forget_list(&list);
    return continues;
}

/* ---- Queries. -------------------------------------------------------------------------------- */

int64_t
sim_run_again_sweep(const struct sim_run *run)
{
    for (uint32_t i = 0; i < run->again_count; i++) {
        if (run->again[i].entry == run->entry) {
            return run->again[i].sweep;
        }
    }
    return 0;
}

uint32_t
sim_run_again_count(const struct sim_run *run)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < run->again_count; i++) {
        count += run->again[i].entry == run->entry;
    }
    return count;
}

const struct sim_run_again *
sim_run_again_default(const struct sim_run *run)
{
    for (uint32_t i = 0; i < run->again_count; i++) {
        if (run->again[i].entry == run->entry && run->again[i].is_default) {
            return &run->again[i];
        }
    }
    return NULL;
}

bool
sim_run_is_again(const struct sim_run *run, const struct sim_outcome *outcome)
{
    for (uint32_t i = 0; i < run->again_count; i++) {
        const struct sim_run_again *again = &run->again[i];
        if (again->entry == run->entry && again->verdict == outcome->verdict &&
                again->oracle == outcome->oracle && again->site == outcome->site) {
            return true;
        }
    }
    return false;
}

void
sim_run_again_done(struct sim_run *run)
{
    free(run->again);
    run->again = NULL;
    run->again_count = 0;
}
