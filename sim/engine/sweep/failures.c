/*
 * failures.c -- new failures of a batch, confirmed and reported; and digests of the replica.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/assert.h"
#include "sim/engine/sweep/confirm.h"
#include "sim/engine/sweep/state.h"

/* ---- Failures. ------------------------------------------------------------------------------- */

/* True for the first of its kind, when there is space to remember it. */
static bool
is_new(struct sim__sweep *sweep, const struct sim_outcome *outcome)
{
    rt_assert(outcome->verdict != SIM_VERDICT_PASS);
    rt_assert(sweep->kind_count <= SIM_FAILURES_MAX);
    for (uint32_t i = 0; i < sweep->kind_count; i++) {
        const struct sim__failure_kind *kind = &sweep->kinds[i];
        if (kind->verdict == outcome->verdict && kind->oracle == outcome->oracle &&
                kind->site == outcome->site) {
            return false;
        }
    }
    if (sweep->kind_count == SIM_FAILURES_MAX) {
        return false;
    }
    sweep->kinds[sweep->kind_count++] =
            (struct sim__failure_kind){outcome->verdict, outcome->oracle, outcome->site};
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
    struct sim_tape tape = {calloc(most, sizeof(struct sim_deviation)), 0, most};
    rt_assert(tape.entries != NULL);
    /* A batch whose tapes are all empty has no memory for them. */
    const uint8_t *bytes = kept->tape_length == 0 ? NULL : batch->tapes + kept->tape_offset;
    rt_err err = sim_tape_decode(&tape, bytes, kept->tape_length);
    rt_assert(err == RT_OK || tape.count == 0);
    return tape;
}

/* What makes a run of the sweep again, alone: its seed, where that is enough, else its tape. */
static uint32_t
how_again(const struct sim__sweep *sweep, const struct sim_kept *kept)
{
    if (sweep->plan->how == SIM_HOW_LENIENT) {
        return SIM_HOW_STRICT;
    }
    if (sweep->plan->how != SIM_HOW_SEARCH) {
        return sweep->plan->how;
    }
    return kept->arm == sim_strategy_find("random") ? SIM_HOW_RANDOM : SIM_HOW_STRICT;
}

/* As it was seen, for a caller that only counts. */
static void
report_unconfirmed(struct sim__sweep *sweep, const struct sim_kept *kept)
{
    rt_assert(kept->reported);
    rt_assert(sweep->plan->unconfirmed);
    const struct sim_new_failure failure = {
            .index = kept->outcome.seed - sweep->plan->first,
            .seen = &kept->outcome,
            .outcome = kept->outcome,
            .same = true,
    };
    if (!sweep->sink->failure(sweep->sink, &failure)) {
        sim__sweep_close(sweep, SIM_SWEEP_SINK);
    }
    sweep->result->kinds++;
}

static void
report_failure(struct sim__sweep *sweep, const struct sim_batch *batch, const struct sim_kept *kept)
{
    rt_assert(kept->outcome.verdict != SIM_VERDICT_PASS);
    rt_assert(kept->outcome.seed >= sweep->plan->first);
    const struct sim_sweep_plan *plan = sweep->plan;
    if (plan->unconfirmed) {
        report_unconfirmed(sweep, kept);
        return;
    }
    const struct sim_outcome *seen = &kept->outcome;
    struct sim_single alone;
    struct sim_options options;
    struct sim_tape tape = tape_of(batch, kept);
    sim_sweep_options(plan, seen->seed, &options);
    struct sim_new_failure failure = {
            .index = seen->seed - plan->first,
            .seen = seen,
            .again = {how_again(sweep, kept), &tape},
            .alone = &alone,
    };
    const struct sim_candidate what = {
            .scenario = plan->scenario,
            .options = &options,
            .seed = seen->seed,
            .how = failure.again.how,
            .tape = &tape,
            .hang_ms = sweep->pool->hang_ms,
            .hurry = seen->verdict == SIM_VERDICT_HANG ? plan->interrupted : NULL,
            .explain = true,
            .loud = true,
    };
    if (!sim_confirm(&alone, &what, seen, plan->first, &failure.outcome, &failure.same)) {
        (void)snprintf(sweep->pool->error, sizeof(sweep->pool->error), "%s", alone.worker.error);
        sim__sweep_close(sweep, SIM_SWEEP_SYSTEM);
    } else if (!sweep->sink->failure(sweep->sink, &failure)) {
        sim__sweep_close(sweep, SIM_SWEEP_SINK);
    }
    sweep->result->kinds++;
    sweep->result->diverged += !failure.same;
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
            sweep->result->first_failure = outcome->seed - sweep->plan->first;
        }
        rt_assert(outcome->seed >= sweep->plan->first);
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
compare_digest(
        struct sim__sweep *sweep, const struct sim_check *check, const struct sim_again *again)
{
    rt_assert(check->digest != 0);
    uint64_t digest = 0;
    struct sim_job like;
    sim__sweep_set_job(sweep, &like, 0, 1);
    sim_sweep_options(sweep->plan, check->seed, &like.options);
    like.teaches = false;
    like.covers = false;
    like.learned = NULL;
    like.how = again->how;
    like.tape = again->tape;
    if (!sim_pool_replica_digest(sweep->pool, &like, check->seed, &digest)) {
        sim__sweep_close(sweep, SIM_SWEEP_SYSTEM);
        return;
    }
    sweep->result->checked++;
    if (digest == check->digest) {
        return;
    }
    rt_assert(sweep->result->unequal < sweep->result->checked);
    sweep->result->unequal++;
    if (sweep->result->unequal == 1 && !sweep->sink->replica(sweep->sink, check->seed, again)) {
        sim__sweep_close(sweep, SIM_SWEEP_SINK);
    }
}

/* A run of a search is repeated by its tape. */
static void
repeat_in_replica(
        struct sim__sweep *sweep, const struct sim_batch *batch, const struct sim_check *check)
{
    rt_assert(batch->check_count > 0);
    struct sim_tape tape = {NULL, 0, 0};
    struct sim_again again = {sweep->plan->how, sweep->plan->tape};
    if (sweep->plan->how == SIM_HOW_SEARCH) {
        const struct sim_kept *kept = sim_batch_find(batch, check->seed);
        rt_assert(kept != NULL);
        tape = tape_of(batch, kept);
        again = (struct sim_again){how_again(sweep, kept), &tape};
    }
    compare_digest(sweep, check, &again);
    free(tape.entries);
}

void
sim__sweep_merge_checks(struct sim__sweep *sweep, const struct sim_batch *batch)
{
    for (uint32_t i = 0; i < batch->check_count && !sweep->closed; i++) {
        repeat_in_replica(sweep, batch, &batch->checks[i]);
        sim__sweep_check_time(sweep);
    }
}
