/*
 * output.h -- what a run prints to stdout becomes events.
 *
 * In a process that runs scenarios `stdout` is a stream that makes each line an event
 * `out` with its text, shown in the run's columns only. Descriptor 1 is not affected.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CORE_PROCESS_OUTPUT_H
#define SIM_CORE_PROCESS_OUTPUT_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Replaces `stdout`, once in a process; called by a worker before its first run. */
void sim_output_init(void);

/* A run begins: nothing has been printed. Called by the world; without sim_output_init: no-op. */
void sim_output_begin(void);

/* The code of the run is over: output without a line end becomes a line too. Called before the
 * run's last event. */
void sim_output_end(void);

/* True when all output has become events. */
bool sim_output_is_empty(void);

#ifdef __cplusplus
}
#endif
#endif
