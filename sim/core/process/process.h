/*
 * process.h -- what a run did to the process in which others follow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>

/*
 * True when a run has closed or replaced a descriptor since the last call: the caller then checks
 * that its own are still open. Called after each run, so it makes no system call.
 */
bool sim_process_descriptors_touched(void);

/* As the calls of the C library, and noted: what sim/posix calls outside of simulated threads. */
int sim_process_close(int fd);
int sim_process_dup2(int fd, int fd2);
int sim_process_dup3(int fd, int fd2, int flags);
int sim_process_close_range(unsigned int first, unsigned int last, int flags);
void sim_process_closefrom(int first);
