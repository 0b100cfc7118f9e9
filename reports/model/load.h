/*
 * load.h -- events and texts of a run, out of the database and back into a recorder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/core/record/recorder.h"
#include "sim/store/read.h"

/*
 * Reads what is stored of run `number`. The recorder points to memory from malloc:
 * report_recorder_free. A run without stored events has none. Errors: SYSTEM no memory.
 */
RT_MUST_CHECK enum sim_store_err report_recorder_load(
        struct sim_store *store, int64_t number, struct sim_recorder *ret_recorder);
void report_recorder_free(struct sim_recorder *recorder);
