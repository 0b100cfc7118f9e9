/*
 * play.h -- a program as a scenario of the simulator.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/rewake.h"
#include "sim/tests/truth/program.h"

/* Its runs play the program that truth_play_program was given last. Not registered. */
extern const struct sim_scenario truth_scenario;

/* Borrowed until the last run. */
void truth_play_program(const struct truth_program *program);

/*
 * Loops and workers report what they do by SET events of cells, with these values: an operation is
 * done (its place is added); a wait has returned (4 * first + second descriptor, + 1 each, are
 * added; 0: none); the end of a worker. Of a task the events POLL and POLLED are enough.
 */
#define TRUTH_MARK_OP 1000
#define TRUTH_MARK_WAIT 100
#define TRUTH_MARK_END 999
