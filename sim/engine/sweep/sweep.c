/*
 * sweep.c -- handing out batches, and merging them in order.
 *
 *      next_index ──▶ worker ──▶ window[sequence % SIM_SWEEP_WINDOW] ──▶ merged, by sequence
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/engine/sweep/sweep.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/assert.h"
#include "sim/base/clock.h"
#include "sim/base/heap.h"
#include "sim/engine/sweep/state.h"

#define TICK_MS 100
/* Time is up, and the first run is still awaited. */
#define OVERDUE_TICK_MS 1
/* After an interrupt: what is still running may end within this time. */
#define GRACE_MS 200

/* ---- Handing out. ---------------------------------------------------------------------------- */

static void
give(struct sim__sweep *sweep, uint32_t which, uint64_t index, uint32_t count)
{
    rt_assert(which < sweep->pool->count);
    rt_assert(sweep->owner[which] != SIM_SWEEP_NO_BATCH);
    struct sim_worker *worker = &sweep->pool->workers[which];
    sim__sweep_set_job(sweep, &worker->shared->job, index, count);
    if (!sim_worker_give(worker)) {
        (void)snprintf(sweep->pool->error, sizeof(sweep->pool->error), "%s", worker->error);
        sim__sweep_close(sweep, SIM_SWEEP_SYSTEM);
        /* No worker has it, so none will finish it. */
        sweep->window[sweep->owner[which] % SIM_SWEEP_WINDOW].over = true;
        sweep->owner[which] = SIM_SWEEP_NO_BATCH;
    }
}

/* How many runs may be handed out next: the least of a batch, what is left, and the epoch's. */
static uint32_t
next_count(const struct sim__sweep *sweep)
{
    rt_assert(sweep->next_index <= sweep->length);
    rt_assert(sweep->merge_sequence <= sweep->next_sequence);
    uint64_t count = sweep->length - sweep->next_index;
    count = count < sweep->batch_runs ? count : sweep->batch_runs;
    if (sweep->kind != NULL && sweep->kind->adaptive) {
        uint64_t teachable = sim_teachable(&sweep->pool->epochs, sweep->next_index);
        count = count < teachable ? count : teachable;
    }
    bool has_space = sweep->next_sequence - sweep->merge_sequence < SIM_SWEEP_WINDOW;
    return has_space ? (uint32_t)count : 0;
}

/* An enumeration has one worker: its next run begins where the last one ended. */
static uint32_t
workers_used(const struct sim__sweep *sweep)
{
    rt_assert(sweep->pool->count >= 1);
    return sweep->kind != NULL && sweep->kind->sequential ? 1 : sweep->pool->count;
}

static void
hand_out(struct sim__sweep *sweep)
{
    for (uint32_t i = 0; i < workers_used(sweep) && !sweep->stopping; i++) {
        uint32_t count = next_count(sweep);
        if (sweep->owner[i] != SIM_SWEEP_NO_BATCH || count == 0) {
            continue;
        }
        sweep->owner[i] = sweep->next_sequence;
        sweep->window[sweep->next_sequence % SIM_SWEEP_WINDOW] =
                (struct sim_batch){.index = sweep->next_index,
                        .seed = sweep->plan->spec.seed + sweep->base + sweep->next_index,
                        .asked = count};
        sweep->next_sequence++;
        give(sweep, i, sweep->next_index, count);
        sweep->next_index += count;
        rt_assert(sweep->next_index <= sweep->length);
        rt_assert(sweep->next_sequence - sweep->merge_sequence <= SIM_SWEEP_WINDOW);
    }
}

/* ---- Merging. -------------------------------------------------------------------------------- */

/* A hang was found: others are most likely the same, and are not waited for as long. */
static void
hurry(struct sim_pool *pool)
{
    uint32_t short_ms = pool->hang_ms / 10 > SIM_HURRY_MS ? pool->hang_ms / 10 : SIM_HURRY_MS;
    for (uint32_t i = 0; i < pool->count; i++) {
        pool->workers[i].hang_ms = short_ms < pool->hang_ms ? short_ms : pool->hang_ms;
    }
}

static void
merge(struct sim__sweep *sweep, struct sim_batch *batch)
{
    rt_assert(batch->over);
    rt_assert(!sweep->closed);
    rt_assert(batch->totals.runs <= batch->asked);
    struct sim_sweep_totals *totals = &sweep->result->totals;
    sim_totals_add(totals, &batch->totals);
    sim_teach(&sweep->pool->epochs, batch);
    if (sweep->plan->covered != NULL) {
        sim__unit_cover(sweep, batch);
    }
    sim__sweep_find_failures(sweep, batch);
    sweep->result->failures = totals->runs - totals->verdicts[SIM_VERDICT_PASS];
    const struct sim_merged merged = {
            .index = sweep->base + batch->index,
            .runs = (uint32_t)batch->totals.runs,
            .kept = batch->kept,
            .kept_count = batch->kept_count,
            .tapes = batch->tapes,
            .tapes_size = batch->tapes_size,
            .results = batch->results,
            .edges = batch->edges,
            .learned = &sweep->pool->epochs.master,
            .totals = totals,
    };
    if (sweep->sink->batch != NULL && !sweep->sink->batch(sweep->sink, &merged)) {
        sim__sweep_close(sweep, SIM_SWEEP_SINK);
        return;
    }
    if (totals->verdicts[SIM_VERDICT_HANG] > 0) {
        hurry(sweep->pool);
    }
    sim__sweep_report_failures(sweep, batch);
    sim__sweep_merge_checks(sweep, batch);
    if (sweep->plan->fail_fast && sweep->result->failures > 0) {
        sim__sweep_close(sweep, SIM_SWEEP_STOPPED_AT_FAILURE);
    } else if (totals->verdicts[SIM_VERDICT_HANG] >= SIM_HANGS_MAX) {
        sim__sweep_close(sweep, SIM_SWEEP_TOO_MANY_HANGS);
    }
    if (batch->exhausted) {
        sim__sweep_close(sweep, SIM_SWEEP_EXHAUSTED);
    } else if (sweep->sink->enough != NULL && !sweep->closed && sweep->sink->enough(sweep->sink)) {
        sim__sweep_close(sweep, SIM_SWEEP_ENOUGH);
    }
    if (batch->totals.runs < batch->asked) {
        /* A hole: what comes after it would not be a range. */
        sweep->closed = true;
    }
}

static void
merge_in_order(struct sim__sweep *sweep)
{
    rt_assert(sweep->merge_sequence <= sweep->next_sequence);
    while (sweep->merge_sequence < sweep->next_sequence) {
        struct sim_batch *batch = &sweep->window[sweep->merge_sequence % SIM_SWEEP_WINDOW];
        if (!batch->over) {
            return;
        }
        if (!sweep->closed) {
            merge(sweep, batch);
        }
        sim_batch_done(batch);
        sweep->merge_sequence++;
    }
}

/* Worker `which` is done with its job. */
static void
collect(struct sim__sweep *sweep, uint32_t which)
{
    rt_assert(which < sweep->pool->count);
    rt_assert(!sweep->pool->workers[which].busy);
    rt_assert(sweep->owner[which] != SIM_SWEEP_NO_BATCH);
    struct sim_worker *worker = &sweep->pool->workers[which];
    struct sim_shared *shared = worker->shared;
    struct sim_batch *batch = &sweep->window[sweep->owner[which] % SIM_SWEEP_WINDOW];
    sim_batch_add(batch, shared, worker->edges);
    rt_assert(batch->totals.runs <= batch->asked);
    if (worker->failed) {
        (void)snprintf(sweep->pool->error, sizeof(sweep->pool->error), "%s", worker->error);
        sim__sweep_close(sweep, SIM_SWEEP_SYSTEM);
    }
    bool enough =
            sweep->plan->fail_fast && batch->totals.runs > batch->totals.verdicts[SIM_VERDICT_PASS];
    uint32_t done = (uint32_t)batch->totals.runs;
    if (done < batch->asked && !sweep->stopping && !enough && !batch->exhausted) {
        give(sweep, which, batch->index + done, batch->asked - done);
        return;
    }
    batch->over = true;
    sweep->owner[which] = SIM_SWEEP_NO_BATCH;
}

static bool
any_works(const struct sim__sweep *sweep)
{
    for (uint32_t i = 0; i < sweep->pool->count; i++) {
        if (sweep->owner[i] != SIM_SWEEP_NO_BATCH) {
            return true;
        }
    }
    return false;
}

/* After an interrupt and the grace period: runs that are not over are abandoned. */
static void
abandon(struct sim__sweep *sweep)
{
    if (sweep->interrupted_ms == 0 || sim_clock_ms() - sweep->interrupted_ms < GRACE_MS) {
        return;
    }
    for (uint32_t i = 0; i < sweep->pool->count; i++) {
        if (sweep->owner[i] != SIM_SWEEP_NO_BATCH) {
            sim_worker_abandon(&sweep->pool->workers[i]);
            collect(sweep, i);
        }
    }
    merge_in_order(sweep);
}

/* One turn: hand out, wait, collect, merge. */
static void
turn(struct sim__sweep *sweep)
{
    rt_assert(any_works(sweep));
    int tick_ms = sim__sweep_is_overdue(sweep) ? OVERDUE_TICK_MS : TICK_MS;
    int which = sim_workers_wait(sweep->pool->workers, sweep->pool->count, tick_ms);
    sim__sweep_check_time(sweep);
    if (which >= 0) {
        collect(sweep, (uint32_t)which);
        merge_in_order(sweep);
    }
    abandon(sweep);
    if (!sweep->closed &&
            !sweep->sink->tick(sweep->sink, sweep->result->totals.runs, &sweep->result->totals)) {
        sim__sweep_close(sweep, SIM_SWEEP_SINK);
    }
}

/* Small enough that all workers have something to do and a stop comes soon. */
static uint32_t
batch_runs(const struct sim_sweep_plan *plan, uint32_t workers)
{
    rt_assert(workers >= 1);
    if (plan->batch_runs != 0) {
        return plan->batch_runs < SIM_JOB_RUNS_MAX ? plan->batch_runs : SIM_JOB_RUNS_MAX;
    }
    uint64_t runs =
            plan->unit_runs != 0 && plan->unit_runs < plan->runs ? plan->unit_runs : plan->runs;
    uint64_t share = runs / ((uint64_t)workers * 8) + 1;
    return share < SIM_JOB_RUNS_MAX ? (uint32_t)share : SIM_JOB_RUNS_MAX;
}

void
sim_sweep_run(struct sim_pool *pool, const struct sim_sweep_plan *plan, struct sim_sink *sink,
        struct sim_sweep_result *ret_result)
{
    rt_assert(plan->runs >= 1);
    *ret_result = (struct sim_sweep_result){.first_failure = UINT64_MAX};
    struct sim__sweep *sweep = sim_heap_new(1, sizeof(*sweep));
    sweep->pool = pool;
    sweep->plan = plan;
    sweep->sink = sink;
    sweep->result = ret_result;
    sweep->kind = plan->spec.how == SIM_HOW_SEARCH ? sim_strategy_at(plan->spec.search.kind) : NULL;
    sweep->batch_runs = batch_runs(plan, workers_used(sweep));
    rt_assert(sweep->batch_runs >= 1);
    rt_assert(sweep->batch_runs <= SIM_JOB_RUNS_MAX);
    sim__sweep_know(sweep);
    sim__unit_open_first(sweep);
    for (uint32_t i = 0; i < pool->count; i++) {
        sweep->owner[i] = SIM_SWEEP_NO_BATCH;
        pool->workers[i].hang_ms = pool->hang_ms;
    }
    hand_out(sweep);
    while (any_works(sweep)) {
        turn(sweep);
        sim__unit_next(sweep);
        hand_out(sweep);
    }
    merge_in_order(sweep);
    for (; sweep->merge_sequence < sweep->next_sequence; sweep->merge_sequence++) {
        sim_batch_done(&sweep->window[sweep->merge_sequence % SIM_SWEEP_WINDOW]);
    }
    rt_assert(sweep->merge_sequence == sweep->next_sequence);
    free(sweep);
}
