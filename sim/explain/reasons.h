/*
 * reasons.h -- what is asked once the cause is found: why did what is to blame do no more?
 *
 * The cause names a step or a call. What is ready and not reported, what became of the wake of the
 * passing run, what was refused or merged, and by which condition a step went the way that it went
 * is asked here, by replays and by what the reader's code executes; what is found becomes part of
 * explanation->cause, or takes its place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/explain.h"

/* ---- explain.c: what all questions are asked of. --------------------------------------------- */

/* Borrows all from the explanation. */
struct sim_runs sim__runs_of(const struct sim_explanation *explanation);
struct sim_evidence sim__evidence_of(const struct sim_explanation *explanation);

/* Makes a run with the failing one's options and that tape; `ret` has its record, with names, and
 * must be finished (sim_single_fini). False: there is no budget left, or it could not be made. */
bool sim__explain_run(
        struct sim_explanation *explanation, const struct sim_tape *tape, struct sim_single *ret);

/* ---- reasons.c ------------------------------------------------------------------------------- */

/* What the reader's code executes in the failing run, and in the passing one where there is one;
 * once. False: the first was not walked. */
bool sim__reasons_walk(struct sim_explanation *explanation);

/* The step in which a task was woken that was not polled again; 0: there is none. */
uint64_t sim__forgotten_step(const struct sim_explanation *explanation);

/* All of it, each question where those before have left something open. */
void sim__reasons_find(struct sim_explanation *explanation);

/* Both runs, for the questions of cause/fate.h. `runs` is borrowed. */
struct sim_fate_evidence sim__fate_evidence_of(
        const struct sim_explanation *explanation, const struct sim_runs *runs);

/* What no run that passes does leads, where all else that is known is how it differs from one run.
 */
void sim__reasons_unusual(struct sim_explanation *explanation);

/* ---- choices.c ------------------------------------------------------------------------------- */

/* Where the actor stands that each choice keeps from continuing; where one waits to the end; in
 * which line a wait ends for nothing. */
void sim__choices_find(struct sim_explanation *explanation);
