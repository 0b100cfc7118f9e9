/*
 * flow.h -- how a failure happened, as a few source locations in the order of time.
 *
 * Of a lost wake-up: where a slot was woken that had no waker yet, where the waker was stored,
 * where it was replaced or erased, and the step that should have woken the task. Of a deadlock:
 * where each task waits. Read from the events of the run; a run without events has no flow.
 *
 * Ownership. Strings belong to the flow; report_flow_done frees them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "sim/store/read.h"

/* Locations of one flow; a deadlock of more tasks is cut. */
#define REPORT_FLOW_MAX 16u

struct report_flow_place {
    int64_t step;
    char *file;
    char *function;
    int64_t line;
    char *text; /* "'consumer' stores its waker in slot 0.1, waiting for: something" */
};

struct report_flow {
    struct report_flow_place places[REPORT_FLOW_MAX];
    size_t count;
};

/* Reads that of run:`run`. report_flow_done must follow in any case. */
RT_MUST_CHECK enum sim_store_err report_flow_read(
        struct sim_store *store, int64_t run, struct report_flow *ret_flow);
void report_flow_done(struct report_flow *flow);
