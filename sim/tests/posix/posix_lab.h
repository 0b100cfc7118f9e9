/*
 * posix_lab.h -- a function as the first thread of a program, in a world.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/tests/lab.h"
#include "sim/thread/thread.h"

/* Runs `fn` as the only thread, with the seeds 1 to `seeds`; each run has to end with `verdict`. */
void posix_lab_run(void (*fn)(void), uint32_t seeds, enum sim_verdict verdict);

/* … and what the last run said when it failed. */
const char *posix_lab_message(void);

/* Another thread, for the thread that calls it; and waiting for its end. */
struct sim_thread *posix_lab_spawn(void (*fn)(void));
void posix_lab_join(struct sim_thread *thread);
