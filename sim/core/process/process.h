/*
 * process.h -- what a run did to the process that it has only borrowed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CORE_PROCESS_PROCESS_H
#define SIM_CORE_PROCESS_PROCESS_H

#include <stdbool.h>

/*
 * True when a run has closed or replaced a descriptor since the last call: whoever needs one had
 * better look whether it is still its own. Asked after each run, so it is no system call.
 */
bool sim_process_descriptors_touched(void);

#endif
