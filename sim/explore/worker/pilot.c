/*
 * pilot.c -- a worker with jobs of one run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explore/worker/pilot.h"

#include <stdio.h>

#include "runtime/base/assert.h"

bool
sim_pilot_init(struct sim_pilot *pilot, const struct sim_worker_kind *kind,
        const struct sim_shared_sizes *sizes, uint32_t hang_ms)
{
    struct sim_worker *worker = &pilot->worker;
    pilot->runs = 0;
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
            .transcript = candidate->transcript,
    };
    pilot->runs++;
    if (candidate->trap != NULL) {
        return sim_worker_here(worker, candidate->trap) ? sim_pilot_outcome(pilot) : NULL;
    }
    if (worker->failed || !sim_worker_give(worker)) {
        return NULL;
    }
    while (worker->busy) {
        (void)sim_workers_wait(worker, 1, -1);
    }
    return worker->failed ? NULL : sim_pilot_outcome(pilot);
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
