/*
 * worker_priv.h -- what the files of the parent's side share.
 *
 *   worker.c  a worker and its process: starting, giving a job, waiting
 *   reap.c    how a run ended whose process is gone, and which runs are repeated
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/engine/worker/worker.h"

/* ---- worker.c -------------------------------------------------------------------------------- */

/* The worker cannot continue: `what` happened, and the system's `error` (0: none). False. */
bool sim__worker_fail(struct sim_worker *worker, const char *what, int error);

/* Ends the process: an idle one by closing its line, a busy one by force. Answers its status. */
int sim__worker_end(struct sim_worker *worker);

/* Continues with what is left of the job, in a new process if there is none. False: nothing is
 * left, or the worker has failed. */
bool sim__worker_continue(struct sim_worker *worker);

/* How long a step may take in real time. */
uint32_t sim__worker_patience_ms(const struct sim_worker *worker);

/* ---- reap.c ---------------------------------------------------------------------------------- */

/* Ends a process that is gone, or that stands still (`verdict`: hang), in the middle of its job.
 * True: another one continues. */
bool sim__worker_reap(struct sim_worker *worker, enum sim_verdict verdict);

/* The mapping is not valid, and the process is gone: its runs are repeated, a process for each.
 * True: another one continues. */
bool sim__worker_repeat_alone(struct sim_worker *worker);

/* No process works on the job any more. True: the job is over; false: runs are repeated. */
bool sim__worker_conclude(struct sim_worker *worker);
