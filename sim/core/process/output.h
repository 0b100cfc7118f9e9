/*
 * output.h -- what a run prints becomes events.
 *
 * In a process that runs scenarios `stdout` is a stream that makes each line an event
 * `out` with its text, shown in the run's columns only. Descriptor 1 is not affected.
 *
 * Of a program (sim/program) stderr is caught too, and an event carries a hash of the line and the
 * stream, so that runs which print different lines differ. Its streams are made while it is
 * loaded: then their memory is an image (core/memory/image.h), and begins each run as new.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The number of a descriptor, less 1. */
enum sim_output_number { SIM_OUTPUT_STDOUT, SIM_OUTPUT_STDERR, SIM_OUTPUTS };

/* Replaces `stdout`, once in a process; called by a worker before its first run. With a program:
 * also `stderr`. */
void sim_output_init(void);

/* Makes the streams of a program, which is being loaded. */
void sim_output_of_program(void);

/* A stream of the program; NULL: there is none. */
FILE *sim_output_stream(enum sim_output_number number);

/* The run prints `size` bytes, as by write(). */
void sim_output_write(enum sim_output_number number, const char *bytes, size_t size);

/* A run begins: nothing has been printed. Called by the world; without sim_output_init: no-op. */
void sim_output_begin(void);

/* The code of the run is over: output without a line end becomes a line too. Called before the
 * run's last event. */
void sim_output_end(void);

/* True when all output has become events. */
bool sim_output_is_empty(void);
