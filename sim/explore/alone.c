/*
 * alone.c -- a worker with a job of one run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explore/alone.h"

#include <stdio.h>

#include "runtime/base/assert.h"

bool
sim_alone_run(struct sim_alone *alone, const struct sim_alone_case *what)
{
    struct sim_worker *worker = &alone->worker;
    const struct sim_worker_kind *kind = what->kind != NULL ? what->kind : &sim_worker_usual;
    if (!sim_worker_init(worker, kind, &sim_shared_for_reading, what->hang_ms)) {
        (void)snprintf(worker->error, sizeof(worker->error), "no memory for a worker");
        return false;
    }
    worker->loud = what->loud;
    worker->shared->job = (struct sim_job){
            .scenario = what->scenario,
            .options = *what->options,
            .first = what->seed,
            .count = 1,
            .how = what->how,
            .tape = what->tape,
            .texts = true,
            .explain = what->explain,
            .keep_all = true,
            .another_first = what->with_past,
    };
    if (!sim_worker_give(worker)) {
        return false;
    }
    while (worker->busy) {
        (void)sim_workers_wait(worker, 1, -1);
    }
    return !worker->failed;
}

void
sim_alone_done(struct sim_alone *alone)
{
    sim_worker_fini(&alone->worker);
}

const struct sim_outcome *
sim_alone_outcome(const struct sim_alone *alone)
{
    rt_assert(sim_shared_results(alone->worker.shared)->kept_count == 1);
    return &alone->worker.shared->kept[0].outcome;
}

const struct sim_recorder *
sim_alone_recorder(const struct sim_alone *alone)
{
    return &alone->worker.shared->recorder;
}

const uint8_t *
sim_alone_tape(const struct sim_alone *alone, size_t *ret_size)
{
    const struct sim_shared *shared = alone->worker.shared;
    *ret_size = shared->kept[0].tape_length;
    return shared->tapes + shared->kept[0].tape_offset;
}

struct sim_tape
sim_alone_deviations(struct sim_alone *alone)
{
    struct sim_shared *shared = alone->worker.shared;
    struct sim_tape tape = {shared->copy, 0, shared->memory.tape.capacity};
    size_t size = 0;
    const uint8_t *bytes = sim_alone_tape(alone, &size);
    rt_err err = sim_tape_decode(&tape, bytes, size);
    rt_assert(err == RT_OK);
    return tape;
}

bool
sim_same_end(const struct sim_outcome *a, const struct sim_outcome *b)
{
    if (!sim_outcome_same(a, b)) {
        return false;
    }
    return a->digest == 0 || b->digest == 0 || a->digest == b->digest;
}
