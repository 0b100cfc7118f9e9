/*
 * output.h -- what a run prints to stdout becomes events.
 *
 * In a process that runs scenarios `stdout` is a stream of ours, line by line: each
 * line is an event `out` with its text, in the run's columns and nowhere else. The
 * descriptor 1 itself is left to who started rewake.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CORE_PROCESS_OUTPUT_H
#define SIM_CORE_PROCESS_OUTPUT_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Replaces `stdout`, once in a process; called by a worker before its first run. False when the
 * system has no memory for a stream. */
bool sim_output_init(void);

/* A run begins: nothing has been printed. Called by the world; without sim_output_init: no-op. */
void sim_output_begin(void);

/* The code of the run is over: what was printed without a line end is a line too. Called before the
 * run's last event. */
void sim_output_end(void);

/* Nothing has been printed that is not an event yet. */
bool sim_output_is_empty(void);

#ifdef __cplusplus
}
#endif
#endif
