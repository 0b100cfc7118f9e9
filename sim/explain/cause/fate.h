/*
 * fate.h -- what became of the wake that ends a wait in the run that passes.
 *
 * The nearest run that passes is the failing one but for one decision. So a wait that does not end
 * here has its like there, and there a line of the program ends it. That line is looked for here,
 * in what its actor executes:
 *
 *      it comes before the wait begins                  the wake is early
 *      it comes, and wakes another actor                the wake is taken
 *      it is come to, and nothing is written there      the wake is swallowed
 *      it is not come to                                its actor has turned off before that: by
 *                                                       the first condition that it decides
 *                                                       otherwise
 *
 * Where the judge has found that a wake alone is missing, the failing run says more: another was
 * woken in the same place.
 *
 * Where the like does not wait at all, the waiting actor itself has turned off. Of a condition the
 * read is named whose value differs, with the lines that wrote it in both runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/cause/cause.h"
#include "sim/explain/look/executed.h"

/* Both runs, and what they execute. All is borrowed. Without the passing one `lost` must be. */
struct sim_fate_evidence {
    const struct sim_ledger *failing;
    const struct sim_ledger *passing; /* With `there`; NULL: there is none. */
    const struct sim_executed *here;
    const struct sim_executed *there;
    struct sim_places *places;
    uint32_t part; /* Of the failing run: whose wait comes first; SIM_PART_NONE: any. */
    /* The judge has seen that `part` lacks a wake alone: only its wait counts. */
    bool lost;
    bool late;          /* The same: woken, but too late. */
    uint64_t horizon;   /* The first event that came after the failure. */
    uint32_t owed_part; /* … and whose step should have woken it; SIM_PART_NONE: not known. */
    uint64_t owed_step;
    uint64_t woken_step; /* When it was woken, and not polled after that; 0: it was not. */
    /* Where the passing run does what is waited for, and not here; no line: not known. */
    struct sim_location due;
    bool shown; /* Only what a trial or an event shows counts: something else is known already. */
    const struct sim_runs *runs;       /* For trials. */
    const struct sim_unusual *unusual; /* Conditions that are not are not tried; NULL: all are. */
    struct sim_code *code;
};

/* Adds what the run of that table has recorded of atomic operations, which a program that was built
 * with `rewake cc` calls, to what it executes. */
void sim_fate_add_atomics(struct sim_executed *executed, const struct sim_actor_table *actor_table);

/*
 * Of a run that stalls: a condition that another actor than `part` decides otherwise than the same
 * time there, and decided as there, this run passes. False: there is none. Both runs are needed.
 */
bool sim_fate_find_differing(const struct sim_fate_evidence *evidence, struct sim_fate *ret);

/* The like of `wait`, of the failing run, in the passing one; NULL: it does not wait so often. */
const struct sim_wait *sim_fate_like(
        const struct sim_fate_evidence *evidence, const struct sim_wait *wait);

/* SIM_FATE_NONE: nothing is found. */
void sim_fate_find(const struct sim_fate_evidence *evidence, struct sim_fate *ret);
