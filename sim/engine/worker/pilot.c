/*
 * pilot.c -- a worker with jobs of one run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/engine/worker/pilot.h"

#include <stdio.h>

#include "runtime/base/assert.h"

bool
sim_pilot_init(struct sim_pilot *pilot, const struct sim_worker_kind *kind,
        const struct sim_shared_sizes *sizes, uint32_t hang_ms)
{
    struct sim_worker *worker = &pilot->worker;
    pilot->runs = 0;
    pilot->budget = NULL;
    if (!sim_worker_init(worker, kind != NULL ? kind : &sim_worker_usual, sizes, hang_ms)) {
        (void)snprintf(worker->error, sizeof(worker->error), "no memory for a worker");
        return false;
    }
    return true;
}

void
sim_pilot_fini(struct sim_pilot *pilot)
{
    sim_worker_fini(&pilot->worker);
}

/* ---- The budget. ----------------------------------------------------------------------------- */

/* What the run, and the study of it, have cost; and whether that was refused a replay. */
static void
charge(struct sim_pilot *pilot, uint64_t progress)
{
    const struct sim_shared *shared = pilot->worker.shared;
    struct sim_budget *budget = pilot->budget;
    if (budget == NULL) {
        return;
    }
    uint64_t died = pilot->worker.pid == 0 ? SIM_BUDGET_START : 0;
    bool hung = sim_shared_results(shared)->totals.verdicts[SIM_VERDICT_HANG] > 0;
    uint64_t stood_ms = hung ? pilot->worker.hang_ms : 0;
    /* Where the run had written over it the mapping was laid out again. */
    sim_budget_spend(budget, shared->progress > progress ? shared->progress - progress : 0);
    sim_budget_spend(budget, died + stood_ms * SIM_BUDGET_HANG_MS);
    if (*(const volatile uint8_t *)&shared->world.refused != 0) {
        sim_budget_cut(budget);
    }
}

/* Until the job is done. False: the time is up, and it was abandoned. */
static bool
wait_for(struct sim_pilot *pilot)
{
    struct sim_worker *worker = &pilot->worker;
    while (worker->busy) {
        int left_ms = sim_budget_ms_left(pilot->budget);
        if (left_ms == 0) {
            sim_worker_abandon(worker);
            return false;
        }
        (void)sim_workers_wait(worker, 1, left_ms);
    }
    return true;
}

/* As wait_for; an outcome is there as soon as the run is over, whatever is studied after it. */
static const struct sim_outcome *
wait_and_charge(struct sim_pilot *pilot, uint64_t progress)
{
    bool done = wait_for(pilot);
    bool ran = sim_shared_results(pilot->worker.shared)->kept_count == 1;
    charge(pilot, progress);
    if (!done) {
        (void)sim_budget_left(pilot->budget);
    }
    return ran && !pilot->worker.failed ? sim_pilot_outcome(pilot) : NULL;
}

/* ---- A run. ---------------------------------------------------------------------------------- */

const struct sim_outcome *
sim_pilot_run(struct sim_pilot *pilot, const struct sim_candidate *candidate)
{
    struct sim_worker *worker = &pilot->worker;
    rt_assert(worker->shared != NULL);
    worker->shared->job = (struct sim_job){
            .scenario = candidate->scenario,
            .options = *candidate->options,
            .first = candidate->seed,
            .count = 1,
            .how = candidate->how,
            .tape = candidate->tape,
            .texts = candidate->texts,
            .explain = candidate->explain,
            .keep_all = true,
            .another_first = candidate->with_past,
            .draws = candidate->draws,
            .study = candidate->study,
            .study_of = candidate->study_of,
            .study_steps = pilot->budget != NULL ? sim_budget_steps_left(pilot->budget) + 1 : 0,
            .transcript = candidate->transcript,
    };
    pilot->runs++;
    if (candidate->trap != NULL) {
        return sim_worker_here(worker, candidate->trap) ? sim_pilot_outcome(pilot) : NULL;
    }
    uint64_t progress = worker->shared->progress;
    worker->shared->world.refused = false;
    if (worker->failed || !sim_worker_give(worker)) {
        return NULL;
    }
    return wait_and_charge(pilot, progress);
}

const struct sim_outcome *
sim_pilot_outcome(const struct sim_pilot *pilot)
{
    rt_assert(sim_shared_results(pilot->worker.shared)->kept_count == 1);
    return &pilot->worker.shared->kept[0].outcome;
}

const struct sim_recorder *
sim_pilot_recorder(const struct sim_pilot *pilot)
{
    return &pilot->worker.shared->recorder;
}

const uint8_t *
sim_pilot_tape(const struct sim_pilot *pilot, size_t *ret_size)
{
    const struct sim_shared *shared = pilot->worker.shared;
    *ret_size = shared->kept[0].tape_length;
    return shared->tapes + shared->kept[0].tape_offset;
}

struct sim_tape
sim_pilot_deviations(struct sim_pilot *pilot)
{
    struct sim_shared *shared = pilot->worker.shared;
    struct sim_tape tape = {shared->copy, 0, shared->memory.tape.capacity};
    size_t size = 0;
    const uint8_t *bytes = sim_pilot_tape(pilot, &size);
    rt_err err = sim_tape_decode(&tape, bytes, size);
    rt_assert(err == RT_OK);
    return tape;
}

const char *
sim_pilot_mismatch(const struct sim_pilot *pilot)
{
    const char *mismatch = pilot->worker.shared->mismatch;
    return mismatch[0] != '\0' ? mismatch : NULL;
}

uint32_t
sim_pilot_ignored(const struct sim_pilot *pilot)
{
    return pilot->worker.shared->ignored;
}

enum sim_store_fifo
sim_pilot_fifo(const struct sim_pilot *pilot)
{
    return pilot->worker.shared->fifo;
}
