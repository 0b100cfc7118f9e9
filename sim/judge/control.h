/*
 * control.h -- a run again by its own tape, without some of its decisions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/core/decide/strategies.h"
#include "sim/judge/judge.h"

struct sim_control {
    struct sim_replay replay; /* Its strategy makes the run. */
    struct sim_tape tape;     /* Owned. */
    uint32_t *sorted;         /* Owned. */
};

/* By the first `most` entries of `tape`, borrowed for the call, but for those of kinds that are
 * `left_out`. sim_control_fini must follow. */
static inline void
sim_control_init(struct sim_control *control, const struct sim_tape *tape, uint32_t most,
        bool (*left_out)(uint32_t kind))
{
    uint32_t count = tape->count < most ? tape->count : most;
    rt_assert(left_out != NULL);
    control->tape = (struct sim_tape){
            sim_heap_new((size_t)count + 1, sizeof(*tape->entries)), 0, count + 1};
    control->sorted = sim_heap_new((size_t)count + 1, sizeof(*control->sorted));
    for (uint32_t i = 0; i < count; i++) {
        if (!left_out(tape->entries[i].kind)) {
            (void)sim_tape_append(&control->tape, &tape->entries[i]);
        }
    }
    rt_assert(control->tape.count <= count);
    sim_replay_init(&control->replay, &control->tape, true, control->sorted);
}

static inline void
sim_control_fini(struct sim_control *control)
{
    free(control->tape.entries);
    free(control->sorted);
}
