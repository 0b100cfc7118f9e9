/*
 * single.c -- a worker with jobs of one run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/engine/worker/single.h"

#include "runtime/base/assert.h"

void
sim_single_init(struct sim_single *single, const struct sim_worker_kind *kind,
        const struct sim_shared_sizes *sizes, uint32_t hang_ms)
{
    rt_assert(sizes != NULL);
    single->runs = 0;
    single->budget = NULL;
    sim_worker_init(&single->worker, kind != NULL ? kind : &sim_worker_usual, sizes, hang_ms);
}

void
sim_single_fini(struct sim_single *single)
{
    sim_worker_fini(&single->worker);
}

/* ---- The budget. ----------------------------------------------------------------------------- */

/* Charges what the run, and the analysis of it, have cost; and notes when a replay was refused. */
static void
charge(struct sim_single *single, uint64_t progress)
{
    const struct sim_shared *shared = single->worker.shared;
    struct sim_budget *budget = single->budget;
    if (budget == NULL) {
        return;
    }
    uint64_t died = single->worker.pid == 0 ? SIM_BUDGET_START : 0;
    bool hung = shared->done > 0 && shared->results[0].verdict == SIM_VERDICT_HANG;
    uint64_t stood_ms = hung ? single->worker.hang_ms : 0;
    /* Where the run had written over it the mapping was laid out again. */
    sim_budget_spend(budget, shared->progress > progress ? shared->progress - progress : 0);
    sim_budget_spend(budget, died + stood_ms * SIM_BUDGET_HANG_MS);
    if (*(const volatile uint8_t *)&shared->world.refused != 0) {
        sim_budget_cut(budget);
    }
}

/* Until the job is done. False: the time is up, and it was abandoned. */
static bool
wait_for(struct sim_single *single)
{
    struct sim_worker *worker = &single->worker;
    while (worker->busy) {
        int left_ms = sim_budget_ms_left(single->budget);
        if (left_ms == 0) {
            sim_worker_abandon(worker);
            return false;
        }
        (void)sim_workers_wait(worker, 1, left_ms);
    }
    return true;
}

/* As wait_for; an outcome is there as soon as the run is over, whatever is analyzed after it. */
static const struct sim_outcome *
wait_and_charge(struct sim_single *single, uint64_t progress)
{
    rt_assert(single->worker.shared != NULL);
    bool done = wait_for(single);
    bool ran = single->worker.shared->done == 1;
    charge(single, progress);
    if (!done) {
        (void)sim_budget_left(single->budget);
    }
    return ran && !single->worker.failed ? sim_single_outcome(single) : NULL;
}

/* ---- A run. ---------------------------------------------------------------------------------- */

const struct sim_outcome *
sim_single_run(struct sim_single *single, const struct sim_run_spec *spec)
{
    rt_assert(spec->scenario != NULL);
    rt_assert(spec->how != SIM_HOW_SEARCH);
    rt_assert(!single->worker.busy);
    struct sim_worker *worker = &single->worker;
    rt_assert(worker->shared != NULL);
    worker->shared->job = (struct sim_job){
            .spec = *spec,
            .count = 1,
            .keep_all = true,
            .analysis_steps =
                    single->budget != NULL ? sim_budget_steps_left(single->budget) + 1 : 0,
    };
    rt_assert(worker->shared->job.count == 1);
    single->runs++;
    if (spec->trap != NULL) {
        return sim_worker_here(worker, spec->trap) ? sim_single_outcome(single) : NULL;
    }
    uint64_t progress = worker->shared->progress;
    worker->shared->world.refused = false;
    if (worker->failed || !sim_worker_give(worker)) {
        return NULL;
    }
    return wait_and_charge(single, progress);
}

bool
sim_single_alone(struct sim_single *single, const struct sim_run_spec *spec)
{
    rt_assert(spec->scenario != NULL);
    struct sim_run_spec what = *spec;
    what.texts = true;
    sim_single_init(single, what.kind, &sim_shared_for_reading, what.hang_ms);
    single->budget = what.budget;
    single->worker.loud = what.loud;
    single->worker.core = what.core;
    single->worker.hurry = what.hurry;
    return sim_single_run(single, &what) != NULL;
}

bool
sim_same_end(const struct sim_outcome *a, const struct sim_outcome *b)
{
    rt_assert(a->verdict < SIM_VERDICTS);
    rt_assert(b->verdict < SIM_VERDICTS);
    return sim_outcome_same(a, b) && (a->digest == 0 || b->digest == 0 || a->digest == b->digest);
}

const struct sim_outcome *
sim_single_outcome(const struct sim_single *single)
{
    rt_assert(single->worker.shared->done == 1);
    return &single->worker.shared->kept[0].outcome;
}

const struct sim_recorder *
sim_single_recorder(const struct sim_single *single)
{
    rt_assert(single->worker.shared != NULL);
    return &single->worker.shared->recorder;
}

const uint8_t *
sim_single_tape(const struct sim_single *single, size_t *ret_size)
{
    rt_assert(single->worker.shared->done == 1);
    const struct sim_shared *shared = single->worker.shared;
    *ret_size = shared->kept[0].tape_length;
    return shared->parts.tapes + shared->kept[0].tape_offset;
}

struct sim_tape
sim_single_deviations(struct sim_single *single)
{
    struct sim_shared *shared = single->worker.shared;
    struct sim_tape tape = {shared->parts.copy, 0, shared->parts.memory.tape.capacity};
    size_t size = 0;
    const uint8_t *bytes = sim_single_tape(single, &size);
    rt_err err = sim_tape_decode(&tape, bytes, size);
    rt_assert(err == RT_OK);
    return tape;
}

const char *
sim_single_mismatch(const struct sim_single *single)
{
    rt_assert(single->worker.shared != NULL);
    const char *mismatch = single->worker.shared->mismatch;
    return mismatch[0] != '\0' ? mismatch : NULL;
}

uint32_t
sim_single_ignored(const struct sim_single *single)
{
    rt_assert(single->worker.shared != NULL);
    return single->worker.shared->ignored;
}

enum sim_store_fifo
sim_single_fifo(const struct sim_single *single)
{
    rt_assert(single->worker.shared->fifo <= SIM_FIFO_YES);
    return single->worker.shared->fifo;
}
