/*
 * remembered.c -- what failed before is tried first.
 *
 * A phase of its own that counts in no figure: each remembered failure is run alone. One
 * that no longer fails is forgotten, and so is one whose token this build can not
 * judge.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/cli/run/state.h"
#include "sim/explore/token.h"

struct list {
    struct sim_remembered *failures;
    uint32_t count;
};

static char *
copy_of(const char *text)
{
    char *copy = text != NULL ? strdup(text) : NULL;
    rt_assert(copy != NULL || text == NULL);
    return copy;
}

static bool
collect(const struct sim_remembered *failure, void *argument)
{
    struct list *list = argument;
    list->failures = reallocarray(list->failures, list->count + 1, sizeof(*list->failures));
    rt_assert(list->failures != NULL);
    struct sim_remembered *copy = &list->failures[list->count++];
    *copy = *failure;
    copy->scenario = copy_of(failure->scenario);
    copy->library = copy_of(failure->library);
    copy->token = copy_of(failure->token);
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
    for (uint32_t i = 0; i < run->selected_count; i++) {
        if (strcmp(run->selected[i]->scenario->name, name) == 0) {
            return run->selected[i];
        }
    }
    return NULL;
}

static bool
forget(struct sim_run *run, const struct sim_remembered *failure, const char *detail)
{
    sim_run_tell_remembered(run, failure, "forgotten", detail);
    return sim_store_forget(run->store, failure) == SIM_STORE_OK || sim_run_store_failed(run);
}

static bool
judge(struct sim_run *run, const struct sim_remembered *failure, const struct sim_entry *entry,
        const struct sim_outcome *outcome)
{
    char detail[128];
    if (outcome->verdict == SIM_VERDICT_PASS) {
        return forget(run, failure, "no longer fails; forgotten");
    }
    bool same = outcome->verdict == failure->verdict && outcome->oracle == failure->oracle &&
                outcome->site == failure->site;
    char name[32] = "";
    if (failure->run != 0) {
        (void)snprintf(name, sizeof(name), " (run:%lld)", (long long)failure->run);
    }
    (void)snprintf(detail, sizeof(detail), "%s %s%s",
            same ? "still fails:" : "fails otherwise now:", sim_verdict_name(outcome->verdict),
            name);
    sim_run_tell_remembered(run, failure, same ? "fails" : "fails-otherwise", detail);
    if (!run->expect || outcome->verdict != entry->scenario->expect) {
        sim_run_list(run, failure->scenario, sim_verdict_name(outcome->verdict), name);
        run->bug = true;
    }
    return true;
}

static bool
run_again(struct sim_run *run, const struct sim_remembered *failure, const struct sim_entry *entry,
        struct sim_token *token)
{
    struct sim_options options;
    struct sim_alone alone;
    char error[SIM_TOKEN_ERROR_MAX];
    if (sim_token_options(token, entry->scenario, &options, error) != SIM_TOKEN_OK) {
        return forget(run, failure, "was made under other declarations; forgotten");
    }
    const struct sim_alone_case what = {
            .scenario = entry->scenario,
            .options = &options,
            .seed = token->seed,
            .how = token->taped ? SIM_HOW_STRICT : SIM_HOW_RANDOM,
            .tape = &token->tape,
            .hang_ms = run->cli->settings.hang_ms,
            .hurry = failure->verdict == SIM_VERDICT_HANG ? run->plan.interrupted : NULL,
    };
    bool goes_on = false;
    if (sim_alone_run(&alone, &what)) {
        goes_on = judge(run, failure, entry, sim_alone_outcome(&alone));
    } else {
        run->system = sim_cli_fail(SIM_EXIT_SYSTEM, "a remembered failure could not be run: %s",
                alone.pilot.worker.error);
    }
    sim_alone_done(&alone);
    return goes_on;
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
        return forget(run, failure, "has a token that this rewake can not judge; forgotten");
    }
    bool goes_on = run_again(run, failure, entry, &token);
    sim_token_done(&token);
    return goes_on;
}

bool
sim_run_try_remembered(struct sim_run *run)
{
    struct list list = {NULL, 0};
    bool goes_on = true;
    if (run->store == NULL || sim_given(&run->cli->settings, SIM_CLI_OPTION_FRESH)) {
        return true;
    }
    if (sim_store_remembered(run->store, collect, &list) != SIM_STORE_OK) {
        goes_on = sim_run_store_failed(run);
    }
    for (uint32_t i = 0; i < list.count && goes_on && *run->plan.interrupted == 0; i++) {
        goes_on = try_one(run, &list.failures[i]);
        if (run->bug && run->plan.fail_fast) {
            goes_on = false;
        }
    }
    forget_list(&list);
    return goes_on;
}
