/*
 * astray.h -- how far an actor comes, on the way to where waits like this one are ended.
 *
 * A wait that does not end has its like: in the run that passes, or earlier in this one. There a
 * line ends it, and functions that call each other lead to that line. Who should end this wait goes
 * that way here too, up to some point: the last of these functions that is executed since the
 * wait could have ended. There it goes another way, or blocks before it comes to the line, or
 * comes to it and wakes another. That place says more than the last line of the step that owes the
 * wake.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/cause/fate.h"

/* What is to be looked at: all borrowed. */
struct sim_astray_question {
    const struct sim_wait *wait; /* That does not end; NULL: the others say all. */
    bool polled; /* The task of the evidence was woken: how far is it to where it was polled? */
    /* Where a loop is woken in the passing run, that is not here; no frames: not known. */
    const struct sim_walk_stop *wake;
    uint64_t wake_step;
    uint32_t wake_id; /* By which actor: the stable id. */
    uint64_t from;    /* The steps here that count. */
    uint64_t to;
};

/* False: nothing is found. */
bool sim_astray_find(const struct sim_fate_evidence *evidence,
        const struct sim_astray_question *question, struct sim_astray *ret);
