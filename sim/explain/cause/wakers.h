/*
 * wakers.h -- which calls end waits like that of a blocked actor, in many runs that pass, and what
 * became of these calls here.
 *
 * Of each wait at the same line that another actor has ended in a run that passes, the call of the
 * reader's is noted, with the conditions that led to it, the nearest first, and the ways that the
 * woken actor goes then. In the failing run
 *
 *      it comes while the actor waits, and wakes another        the wake is taken
 *      it comes while the actor waits, and wakes none           … swallowed
 *      it comes less often than in runs that pass, and such     its actor has turned off there:
 *      a condition is decided the other way meanwhile           decided as there, it passes
 *      it came before, and nothing was notified of it           the wake is swallowed
 *      it came before, when the actor did not wait              … early
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/cause/fate.h"

struct sim_wakers;

/* Of the actors that are blocked at the end of the failing run; from malloc. */
struct sim_wakers *sim_wakers_new(const struct sim_fate_evidence *evidence);
void sim_wakers_free(struct sim_wakers *wakers);

/* Notes what ends such waits in a run that passes; its events have lines (explain/lines.h). */
void sim_wakers_learn(struct sim_wakers *wakers, const struct sim_ledger *ledger,
        const struct sim_executed *executed);

/* What has become of the wake of one of them: EARLY, TAKEN, SWALLOWED or TURNED. False: that is not
 * known. */
bool sim_wakers_find(const struct sim_wakers *wakers, const struct sim_fate_evidence *evidence,
        struct sim_fate *ret);
