/*
 * shrink.c -- a failure of a new kind: minimized, explained, stored, reported.
 *
 * The failure is reported in any case: as it was found, where no smaller run fails in this way.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/base/clock.h"
#include "sim/base/heap.h"
#include "sim/cli/print/run.h"
#include "sim/cli/run/state.h"
#include "sim/cli/shrunk.h"
#include "sim/engine/token.h"

/* For each failure, also in a sweep that is out of time. */
#define TIME_MS_MIN 2000u

/* Not an expected failure, which is not reported; not one that does not fail alone, which cannot be
 * replayed; and not after ^C. */
static bool
is_wanted(const struct sim_run *run, const struct sim_new_failure *failure)
{
    return failure->same && !sim_given(&run->cli->settings, SIM_CLI_OPTION_NO_SHRINK) &&
           *run->plan.interrupted == 0 && !sim_run_is_stated(run, &failure->outcome);
}

static uint64_t
deadline_of(const struct sim_run *run)
{
    uint64_t least_ms = sim_clock_ms() + TIME_MS_MIN;
    uint64_t deadline_ms = run->plan.deadline_ms;
    return deadline_ms > least_ms ? deadline_ms : least_ms;
}

static bool
same_tape(const struct sim_tape *a, const struct sim_tape *b)
{
    return a->count == b->count &&
           memcmp(a->entries, b->entries, a->count * sizeof(*a->entries)) == 0;
}

/* The token of a smaller run, from malloc; NULL: there is none. */
static char *
shrink(struct sim_run *run, const struct sim_new_failure *failure, struct sim_shrunk *shrunk)
{
    const struct sim_tape tape = sim_single_deviations(failure->alone);
    const struct sim_shrink_plan plan = {
            .spec.scenario = run->plan.spec.scenario,
            .spec.options = failure->again.options,
            .spec.tape = &tape,
            .failure = &failure->outcome,
            .replays_max = SIM_SHRINK_REPLAYS_MAX,
            .deadline_ms = run->plan.deadline_ms == UINT64_MAX ? UINT64_MAX : deadline_of(run),
            .spec.hang_ms = run->cli->settings.hang_ms,
            .interrupted = run->plan.interrupted,
    };
    sim_shrink(&plan, shrunk);
    bool smaller = sim_shrunk_holds(shrunk) &&
                   (!same_tape(&tape, &shrunk->tape) || shrunk->to.options < shrunk->from.options);
    return smaller ? sim_shrunk_token(run->plan.spec.scenario, shrunk) : NULL;
}

/* Verifies the smaller run that `token` is, found before. Returns its token, or NULL. */
static char *
shrunk_again(struct sim_run *run, const struct sim_new_failure *failure, const char *token,
        struct sim_shrunk *shrunk)
{
    struct sim_token small;
    struct sim_options options;
    char error[SIM_TOKEN_ERROR_MAX];
    char *same = NULL;
    if (sim_token_parse(token, &small, error) != SIM_TOKEN_OK) {
        return NULL;
    }
    if (sim_token_options(&small, run->plan.spec.scenario, &options, error) == SIM_TOKEN_OK) {
        const struct sim_shrink_plan plan = {
                .spec.scenario = run->plan.spec.scenario,
                .spec.options = options,
                .spec.tape = &small.tape,
                .failure = &failure->outcome,
                .deadline_ms = UINT64_MAX,
                .spec.hang_ms = run->cli->settings.hang_ms,
                .interrupted = run->plan.interrupted,
        };
        sim_shrink(&plan, shrunk);
        same = sim_shrunk_holds(shrunk) ? sim_heap_text(token) : NULL;
    }
    sim_token_done(&small);
    return same;
}

/* The smallest run from before, where it still fails; else the smallest one now. */
static char *
make_smaller(struct sim_run *run, const struct sim_new_failure *failure, struct sim_report *report,
        const char *shrunk_before, struct sim_shrunk *shrunk)
{
    if (shrunk_before != NULL) {
        char *token = shrunk_again(run, failure, shrunk_before, shrunk);
        report->shrunk_before = token != NULL;
        if (token != NULL) {
            return token;
        }
        sim_shrunk_done(shrunk);
    }
    return shrink(run, failure, shrunk);
}

static char *
token_of(const struct sim_new_failure *failure)
{
    const struct sim_run_spec *again = &failure->again;
    return sim_token_of(again->scenario, &again->options, again->how, again->tape,
            sim_single_outcome(failure->alone));
}

/* ---- Why. ------------------------------------------------------------------------------------ */

/* So many failures of a command are explained; `rewake explain` does it for the others. */
#define EXPLAINED_MAX 3u

/* For people: a program asks with `rewake explain --json`. A run that was refused says why. */
static bool
is_asked_why(const struct sim_run *run, const struct sim_report *report)
{
    return report->shrunk != NULL && !run->json && !sim_run_is_quiet(run) &&
           run->explained < EXPLAINED_MAX &&
           report->failure->outcome.verdict != SIM_VERDICT_REFUSED;
}

/* What it may take: as long as `rewake explain` takes, but no longer than the command. */
static uint64_t
time_to_explain(const struct sim_run *run)
{
    uint64_t now_ms = sim_clock_ms();
    uint64_t deadline_ms = deadline_of(run);
    bool short_of_time =
            run->plan.deadline_ms != UINT64_MAX && deadline_ms < now_ms + SIM_EXPLAIN_TIME_MS;
    rt_assert(deadline_ms > now_ms);
    return short_of_time ? deadline_ms - now_ms : 0;
}

/* Explains the smallest run. False: the system refused, and the failure is reported without. */
static bool
explain(struct sim_run *run, const struct sim_report *report, struct sim_explanation *explanation)
{
    const struct sim_new_failure *failure = report->failure;
    const struct sim_shrunk *shrunk = report->shrunk;
    bool smaller = report->shrunk_token != NULL;
    const struct sim_failure asked = {
            .scenario = run->plan.spec.scenario,
            .options = smaller ? &shrunk->options : &failure->again.options,
            .seed = failure->again.seed,
            .how = smaller ? SIM_HOW_STRICT : failure->again.how,
            .tape = smaller ? &shrunk->tape : failure->again.tape,
            .hang_ms = run->cli->settings.hang_ms,
            .hung = failure->outcome.verdict == SIM_VERDICT_HANG,
            .time_ms = time_to_explain(run),
    };
    run->explained++;
    return sim_explanation_make(explanation, &asked) &&
           explanation->given.verdict == failure->outcome.verdict;
}

/* ---- A failure. ------------------------------------------------------------------------------ */

/* `shrunk_before`: in the database, of a remembered failure. */
static bool
take(struct sim_run *run, const struct sim_new_failure *failure, struct sim_report *report,
        const char *shrunk_before)
{
    struct sim_shrunk shrunk = {.replays = 0};
    bool wanted = is_wanted(run, failure);
    char *shrunk_token = wanted ? make_smaller(run, failure, report, shrunk_before, &shrunk) : NULL;
    /* The token is of the run alone, whatever the sweep saw: that is what a replay makes. */
    char *token = token_of(failure);
    report->failure = failure;
    report->token = token;
    report->shrunk = wanted ? &shrunk : NULL;
    report->shrunk_token = shrunk_token;
    bool stored =
            (report->run_id != 0 || sim_run_store_failure(run, failure, token, &report->run_id)) &&
            (report->shrunk_before || sim_run_store_shrunk(run, report));
    /* Reported even when it could not be stored. */
    sim_run_print_verdict(run, report);
    struct sim_explanation explanation;
    bool asked = is_asked_why(run, report);
    report->explanation = asked && explain(run, report, &explanation) ? &explanation : NULL;
    sim_run_print_failure(run, report);
    stored = stored && sim_run_store_explained(run, report);
    if (asked) {
        sim_explanation_free(&explanation);
    }
    free(token);
    free(shrunk_token);
    sim_shrunk_done(&shrunk);
    return stored;
}

/* A failure that was reported when it was tried first: this run of it is only stored. */
static bool
store_known(struct sim_run *run, const struct sim_new_failure *failure)
{
    int64_t run_id = 0;
    char *token = token_of(failure);
    bool stored = sim_run_store_failure(run, failure, token, &run_id);
    free(token);
    return stored;
}

bool
sim_run_take_failure(struct sim_run *run, const struct sim_new_failure *failure)
{
    struct sim_report report = {.again = false};
    if (failure->same && sim_run_is_again(run, &failure->outcome)) {
        return store_known(run, failure);
    }
    return take(run, failure, &report, NULL);
}

bool
sim_run_take_again(struct sim_run *run, const struct sim_new_failure *failure,
        const char *shrunk_before, int64_t *run_id)
{
    struct sim_report report = {.again = true, .run_id = *run_id};
    bool stored = take(run, failure, &report, shrunk_before);
    *run_id = report.run_id;
    return stored;
}
