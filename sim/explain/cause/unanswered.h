/*
 * unanswered.h -- what was asked for, and did not happen.
 *
 *      refused    a call was refused, and is not made again; what it was about is then lost
 *      unheard    an event was posted, and reached no subscriber
 *      empty      a wake was sent to a slot whose waker had been erased
 *      merged     two notifications became one, and only one thing was done for it
 *      left       an actor sleeps, and not all that was put into its channel was taken
 *      uncancelled  an operation was pushed to a ring after the cancel that was meant to end it
 *
 * Each is an event that the run has recorded, or a count of them. Whether it matters is seen in the
 * run that passes: it has fewer of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/cause/cause.h"

/* `passing` NULL: there is no run that passes. `stalls`: something is waited for; else that two
 * notifications are one says nothing, as who is notified looks at what there is. False: nothing
 * such, or as much there. */
bool sim_unanswered_find(const struct sim_ledger *failing, const struct sim_ledger *passing,
        bool stalls, struct sim_unanswered *ret);
