/*
 * drawn.h -- the deciding number, by its value and by the line that draws it.
 *
 * A decision is known as the n-th choice of an actor, and one of a few alternatives; the program
 * that is read knows a call of sim_pick or sim_range, and what came of it. Both runs are made once
 * more to see that.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/base/page.h"
#include "sim/core/code/symbols.h"
#include "sim/core/decide/draws.h"
#include "sim/engine/worker/single.h"
#include "sim/explain/view/actor_table.h"

struct sim_deciding_number {
    bool found;               /* It is a number. */
    bool both;                /* The run beside comes to draw it too. */
    struct sim_number below;  /* In the run that has the decision, … */
    struct sim_number beside; /* … and in the one beside it. */
    uint64_t step;            /* In which it is drawn, in both; 0: before the first. */
    struct sim_place place;   /* Who draws it, of the reader's own lines; function "": not known. */
};

/* Makes `with`, whose tape has `deviation`, and `without`. Not found where it is no number. */
void sim_deciding_number_find(const struct sim_run_spec *with, const struct sim_run_spec *without,
        const struct sim_deviation *deviation, uint32_t hang_ms, struct sim_budget *budget,
        struct sim_places *places, struct sim_deciding_number *ret);
