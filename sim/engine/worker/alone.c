/*
 * alone.c -- a single-run worker with one candidate, and everything written down.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/engine/worker/alone.h"

bool
sim_alone_run(struct sim_alone *alone, const struct sim_alone_case *what)
{
    const struct sim_candidate candidate = {
            .scenario = what->scenario,
            .options = what->options,
            .seed = what->seed,
            .how = what->how,
            .tape = what->tape,
            .texts = true,
            .explain = what->explain,
            .with_past = what->with_past,
            .decision_log = what->decision_log,
            .trap = what->trap,
            .study = what->study,
            .study_of = what->study_of,
    };
    if (!sim_single_init(&alone->single, what->kind, &sim_shared_for_reading, what->hang_ms)) {
        return false;
    }
    alone->single.budget = what->budget;
    alone->single.worker.loud = what->loud;
    alone->single.worker.core = what->core;
    alone->single.worker.hurry = what->hurry;
    return sim_single_run(&alone->single, &candidate) != NULL;
}

void
sim_alone_done(struct sim_alone *alone)
{
    sim_single_fini(&alone->single);
}

const struct sim_outcome *
sim_alone_outcome(const struct sim_alone *alone)
{
    return sim_single_outcome(&alone->single);
}

const struct sim_recorder *
sim_alone_recorder(const struct sim_alone *alone)
{
    return sim_single_recorder(&alone->single);
}

const uint8_t *
sim_alone_tape(const struct sim_alone *alone, size_t *ret_size)
{
    return sim_single_tape(&alone->single, ret_size);
}

struct sim_tape
sim_alone_deviations(struct sim_alone *alone)
{
    return sim_single_deviations(&alone->single);
}

bool
sim_same_end(const struct sim_outcome *a, const struct sim_outcome *b)
{
    if (!sim_outcome_same(a, b)) {
        return false;
    }
    return a->digest == 0 || b->digest == 0 || a->digest == b->digest;
}
