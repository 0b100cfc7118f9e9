/*
 * model_priv.h -- what the two halves of the model share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/tests/truth/model.h"

/* The operation is over: the next one begins. */
void truth__end_operation(struct truth_of *of);

/* Notes a wait of `actor` that is `over`, and returns that. */
bool truth__passed(
        const struct truth_program *program, uint32_t actor, struct truth_gains *gains, bool over);

/* Whether a loop or worker that has not ended can take a step. */
bool truth__loop_can_step(const struct truth_state *state, uint32_t actor);
