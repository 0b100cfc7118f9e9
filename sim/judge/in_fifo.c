/*
 * in_fifo.c -- does the failure need another run order?
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/judge/control.h"

static bool
is_order(uint32_t kind)
{
    return kind == SIM_KIND_RUN;
}

bool
sim_judge_in_fifo(struct sim_world *world, const struct sim_case *what, const struct sim_tape *tape,
        const struct sim_outcome *outcome)
{
    struct sim_control control;
    struct sim_outcome again;
    rt_assert(outcome->verdict != SIM_VERDICT_PASS);
    sim_control_init(&control, tape, UINT32_MAX - 1, is_order);
    struct sim_case in_order = *what;
    in_order.strategy = &control.replay.strategy;
    struct sim_recorder recorder = world->recorder;
    struct sim_tape written = world->decider.tape;
    world->decider.tape = (struct sim_tape){NULL, 0, 0};
    sim_judge(world, &in_order, (struct sim_recording){false, false}, &again);
    world->recorder = recorder;
    world->decider.tape = written;
    sim_control_fini(&control);
    return again.verdict == outcome->verdict && again.oracle == outcome->oracle;
}
