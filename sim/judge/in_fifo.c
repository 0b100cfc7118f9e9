/*
 * in_fifo.c -- does the failure need another run order?
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "runtime/base/assert.h"
#include "sim/core/decide/strategies.h"
#include "sim/judge/judge.h"

/* A copy of `tape` without the deviations of who runs. The caller frees its entries. */
static bool
without_order(const struct sim_tape *tape, struct sim_tape *ret)
{
    ret->entries = calloc((size_t)tape->count + 1, sizeof(*ret->entries));
    ret->capacity = tape->count + 1;
    ret->count = 0;
    for (uint32_t i = 0; ret->entries != NULL && i < tape->count; i++) {
        if (tape->entries[i].kind != SIM_KIND_RUN) {
            (void)sim_tape_append(ret, &tape->entries[i]);
        }
    }
    return ret->entries != NULL;
}

bool
sim_judge_in_fifo(struct sim_world *world, const struct sim_case *what, const struct sim_tape *tape,
        const struct sim_outcome *outcome)
{
    struct sim_tape fifo;
    struct sim_replay replay;
    bool same = false;
    uint32_t *sorted = calloc((size_t)tape->count + 1, sizeof(*sorted));
    if (without_order(tape, &fifo) && sorted != NULL) {
        sim_replay_init(&replay, &fifo, true, sorted);
        struct sim_case in_order = *what;
        in_order.strategy = &replay.strategy;
        struct sim_outcome again;
        struct sim_recording nothing = {false, false};
        struct sim_recorder recorder = world->recorder;
        struct sim_tape written = world->decider.tape;
        world->decider.tape = (struct sim_tape){NULL, 0, 0};
        sim_judge(world, &in_order, nothing, &again);
        world->recorder = recorder;
        world->decider.tape = written;
        same = again.verdict == outcome->verdict && again.oracle == outcome->oracle;
    }
    free(fifo.entries);
    free(sorted);
    return same;
}
