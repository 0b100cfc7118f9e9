/*
 * diff.h -- where two recorded runs part.
 *
 * The hashes of chunks are chained, so the first that differs names the chunk of
 * 128 events in which the runs part, however long they are; within it the events
 * themselves are compared. Names and texts are in no hash and are not compared.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "runtime/base/error.h"
#include "sim/base/page.h"
#include "sim/core/record/recorder.h"

enum sim_diff {
    SIM_DIFF_SAME,
    SIM_DIFF_EVENT, /* The event at `event` differs. */
    SIM_DIFF_ENDS,  /* One run has ended at `event`, and the other continues. */
    SIM_DIFF_LOST   /* They part in events from .. to-1, which a ring no longer has. */
};

struct sim_difference {
    uint64_t event;
    uint64_t from;
    uint64_t to;
    uint32_t kind; /* enum sim_diff */
};

/* Finds the first difference. Both recorders must have ended. */
void sim_diff_find(const struct sim_recorder *a, const struct sim_recorder *b,
        struct sim_difference *ret_difference);

/*
 * Adds it in words: the few steps before, then what each of the two did. `name_a` and `name_b` are
 * what the reader calls them. At most 100 columns wide.
 */
void sim_diff_put(struct sim_page *page, const struct sim_recorder *a, const char *name_a,
        const struct sim_recorder *b, const char *name_b);

/*
 * Adds what one of them does at `event`, as words without an end of line: its step, whose it is,
 * what happens. "the run has ended" behind its last event; nothing where a ring has lost it.
 */
void sim_diff_put_event(struct sim_page *page, const struct sim_recorder *run, uint64_t event);
