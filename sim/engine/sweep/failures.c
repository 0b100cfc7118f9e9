/*
 * failures.c -- new failures of a batch, confirmed and reported; and digests of the replica.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/engine/sweep/state.h"

/* ---- Failures. ------------------------------------------------------------------------------- */

/* True for the first of its kind, when there is space to remember it. */
static bool
is_new(struct sim__sweep *sweep, const struct sim_outcome *outcome)
{
    rt_assert(outcome->verdict != SIM_VERDICT_PASS);
    rt_assert(sweep->kind_count <= SIM_FAILURES_MAX);
    for (uint32_t i = 0; i < sweep->kind_count; i++) {
        if (sim_outcome_same(&sweep->kinds[i], outcome)) {
            return false;
        }
    }
    if (sweep->kind_count == SIM_FAILURES_MAX) {
        return false;
    }
    sweep->kinds[sweep->kind_count++] = *outcome;
    return true;
}

void
sim__sweep_know(struct sim__sweep *sweep)
{
    if (sweep->plan->known != NULL) {
        (void)is_new(sweep, sweep->plan->known);
    }
}

/* The deviations of a run that was kept; the caller frees tape.entries. */
static struct sim_tape
tape_of(const struct sim_batch *batch, const struct sim_kept *kept)
{
    rt_assert((size_t)kept->tape_offset + kept->tape_length <= batch->tapes_size);
    uint32_t most = kept->tape_length / 6 + 1;
    struct sim_tape tape = {sim_heap_new(most, sizeof(struct sim_deviation)), 0, most};
    /* A batch whose tapes are all empty has no memory for them. */
    const uint8_t *bytes = kept->tape_length == 0 ? NULL : batch->tapes + kept->tape_offset;
    rt_err err = sim_tape_decode(&tape, bytes, kept->tape_length);
    rt_assert(err == RT_OK || tape.count == 0);
    return tape;
}

/* What makes a run of the sweep again, alone: its seed, where that is enough, else `tape`. */
static struct sim_run_spec
spec_again(const struct sim__sweep *sweep, const struct sim_kept *kept, const struct sim_tape *tape)
{
    rt_assert(kept->outcome.seed >= sweep->plan->spec.seed);
    struct sim_run_spec spec = sweep->plan->spec;
    bool draws = spec.how == SIM_HOW_SEARCH && kept->arm == sim_strategy_find("random");
    bool taped = spec.how == SIM_HOW_LENIENT || (spec.how == SIM_HOW_SEARCH && !draws);
    sim_run_spec_options(&spec, kept->outcome.seed, &spec.options);
    spec.seed = kept->outcome.seed;
    spec.how = taped ? SIM_HOW_STRICT : draws ? SIM_HOW_RANDOM : spec.how;
    spec.tape = tape;
    spec.hang_ms = sweep->pool->hang_ms;
    return spec;
}

/* One sentence: what each of the two was, and after what. */
static void
describe_divergence(const struct sim_outcome *seen, const struct sim_outcome *alone, uint64_t first,
        char *ret_text, size_t size)
{
    rt_assert(seen->seed >= first);
    rt_assert(size > 0);
    const char *was = sim_verdict_name(seen->verdict);
    const char *is = sim_verdict_name(alone->verdict);
    if (seen->reason == SIM_REASON_KILLED) {
        (void)snprintf(ret_text, size,
                "in the sweep %.160s; alone in a fresh process it ended as %s", seen->message, is);
        return;
    }
    if (seen->seed == first) {
        (void)snprintf(ret_text, size,
                "the first run of the sweep ended as %s; alone in a fresh process it ended as %s%s",
                was, is, sim_outcome_same(seen, alone) ? " by other events" : "");
        return;
    }
    (void)snprintf(ret_text, size,
            "in the sweep, where seeds from %llu to %llu may have run before, it ended as %s; "
            "alone in a fresh process it ended as %s%s",
            (unsigned long long)first, (unsigned long long)(seen->seed - 1), was, is,
            sim_outcome_same(seen, alone) ? " by other events" : "");
}

/*
 * Runs failure->again alone, in a new process. When verdict, oracle, site and digest are as they
 * were seen it is confirmed, and this second run is the one that is stored and reported. Else the
 * run depends on something that is not in its token: that is itself the finding, verdict
 * `diverged`. False: the system refused.
 */
static bool
confirm(const struct sim__sweep *sweep, struct sim_new_failure *failure)
{
    const struct sim_outcome *seen = failure->seen;
    struct sim_outcome *outcome = &failure->outcome;
    rt_assert(failure->again.seed == seen->seed);
    if (!sim_single_alone(failure->alone, &failure->again)) {
        return false;
    }
    *outcome = *sim_single_outcome(failure->alone);
    rt_assert(outcome->seed == seen->seed);
    failure->same = sim_same_end(seen, outcome);
    if (failure->same) {
        return true;
    }
    char text[SIM_MESSAGE_MAX];
    describe_divergence(seen, outcome, sweep->plan->spec.seed, text, sizeof(text));
    /* Where the worker has made it again already, it says so. */
    const char *message = seen->verdict == SIM_VERDICT_DIVERGED ? seen->message : text;
    (void)snprintf(outcome->message, sizeof(outcome->message), "%s", message);
    outcome->verdict = SIM_VERDICT_DIVERGED;
    outcome->oracle = SIM_ORACLE_REPLICA;
    outcome->site = seen->site;
    return true;
}

static void
report(struct sim__sweep *sweep, const struct sim_new_failure *failure)
{
    rt_assert(failure->outcome.verdict != SIM_VERDICT_PASS || !failure->same);
    if (!sweep->sink->failure(sweep->sink, failure)) {
        sim__sweep_close(sweep, SIM_SWEEP_SINK);
    }
}

static void
count_kind(struct sim__sweep *sweep, const struct sim_new_failure *failure)
{
    sweep->result->kinds++;
    sweep->result->diverged += !failure->same;
    sweep->result->refused += failure->same && !sim_verdict_fails(failure->outcome.verdict);
}

/* Confirms it, unless the caller only counts. */
static void
report_failure(struct sim__sweep *sweep, const struct sim_batch *batch, const struct sim_kept *kept)
{
    rt_assert(kept->outcome.verdict != SIM_VERDICT_PASS);
    rt_assert(kept->reported);
    const struct sim_sweep_plan *plan = sweep->plan;
    struct sim_new_failure failure = {
            .index = kept->outcome.seed - plan->spec.seed,
            .seen = &kept->outcome,
            .outcome = kept->outcome,
            .same = true,
    };
    if (plan->unconfirmed) {
        report(sweep, &failure);
        count_kind(sweep, &failure);
        return;
    }
    struct sim_single alone;
    struct sim_tape tape = tape_of(batch, kept);
    failure.again = spec_again(sweep, kept, &tape);
    failure.again.hurry = kept->outcome.verdict == SIM_VERDICT_HANG ? plan->interrupted : NULL;
    failure.again.explain = true;
    failure.again.loud = true;
    failure.alone = &alone;
    if (confirm(sweep, &failure)) {
        report(sweep, &failure);
    } else {
        (void)snprintf(sweep->pool->error, sizeof(sweep->pool->error), "%s", alone.worker.error);
        sim__sweep_close(sweep, SIM_SWEEP_SYSTEM);
    }
    count_kind(sweep, &failure);
    sim_single_fini(&alone);
    free(tape.entries);
}

void
sim__sweep_find_failures(struct sim__sweep *sweep, struct sim_batch *batch)
{
    rt_assert(!sweep->closed);
    for (uint32_t i = 0; i < batch->kept_count; i++) {
        const struct sim_outcome *outcome = &batch->kept[i].outcome;
        if (outcome->verdict == SIM_VERDICT_PASS) {
            continue;
        }
        if (sweep->result->first_failure == UINT64_MAX) {
            sweep->result->first_failure = outcome->seed - sweep->plan->spec.seed;
        }
        rt_assert(outcome->seed >= sweep->plan->spec.seed);
        batch->kept[i].reported = is_new(sweep, outcome);
    }
}

void
sim__sweep_report_failures(struct sim__sweep *sweep, const struct sim_batch *batch)
{
    for (uint32_t i = 0; i < batch->kept_count && !sweep->closed; i++) {
        if (batch->kept[i].reported) {
            report_failure(sweep, batch, &batch->kept[i]);
        }
    }
}

/* ---- Replica runs. --------------------------------------------------------------------------- */

/* Repeats a run in the replica, and compares. */
static void
compare_digest(struct sim__sweep *sweep, const struct sim_run_result *seen,
        const struct sim_run_spec *again)
{
    rt_assert(seen->digest != 0);
    uint64_t digest = 0;
    if (!sim_pool_replica_digest(sweep->pool, again, &digest)) {
        sim__sweep_close(sweep, SIM_SWEEP_SYSTEM);
        return;
    }
    sweep->result->checked++;
    if (digest == seen->digest) {
        return;
    }
    rt_assert(sweep->result->unequal < sweep->result->checked);
    sweep->result->unequal++;
    bool reported = sweep->result->unequal > 1 || sweep->sink->replica == NULL;
    if (!reported && !sweep->sink->replica(sweep->sink, again)) {
        sim__sweep_close(sweep, SIM_SWEEP_SINK);
    }
}

/* A run of a search is repeated by its tape. */
static void
repeat_in_replica(
        struct sim__sweep *sweep, const struct sim_batch *batch, const struct sim_run_result *seen)
{
    rt_assert(seen->digest != 0);
    struct sim_tape tape = {NULL, 0, 0};
    struct sim_run_spec again = sweep->plan->spec;
    again.seed = seen->seed;
    if (again.how == SIM_HOW_SEARCH) {
        const struct sim_kept *kept = sim_batch_find(batch, seen->seed);
        rt_assert(kept != NULL);
        tape = tape_of(batch, kept);
        again = spec_again(sweep, kept, &tape);
    }
    compare_digest(sweep, seen, &again);
    free(tape.entries);
}

void
sim__sweep_merge_checks(struct sim__sweep *sweep, const struct sim_batch *batch)
{
    uint32_t percent = sweep->plan->check_percent;
    for (uint64_t i = 0; i < batch->totals.runs && percent > 0 && !sweep->closed; i++) {
        const struct sim_run_result *result = &batch->results[i];
        if (result->digest != 0 && sim_seed_is_checked(result->seed, percent)) {
            repeat_in_replica(sweep, batch, result);
            sim__sweep_check_time(sweep);
        }
    }
}
