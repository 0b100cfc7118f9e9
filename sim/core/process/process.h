/*
 * process.h -- what a run did to the process in which others follow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CORE_PROCESS_PROCESS_H
#define SIM_CORE_PROCESS_PROCESS_H

#include <stdbool.h>

/*
 * True when a run has closed or replaced a descriptor since the last call: the caller then checks
 * that its own are still open. Called after each run, so it makes no system call.
 */
bool sim_process_descriptors_touched(void);

#endif
