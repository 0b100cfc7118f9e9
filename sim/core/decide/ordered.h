/*
 * ordered.h -- the baseline run, except that some steps come after others.
 *
 * For exchanging steps that do not depend on each other: the caller gives the pairs that do, and
 * the run is the baseline that keeps these in order. The tape begins with pairs of entries of
 * kind RUN:
 *
 *      stream: an actor's in-run index   ordinal: n   its n-th step, from 0, …
 *      stream: another's                 ordinal: m   … comes after the m-th step of that one
 *
 * sorted by the first of the two; all other deviations follow, of any kind but RUN, and are
 * taken leniently. It picks the first enabled actor whose next step has to wait for no other
 * step, else the head of the queue. So an order that cannot be kept is kept as far as possible.
 *
 * It counts steps by the run's events, so the run must be recorded; a judge follows the tape
 * that it wrote.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/core/decide/strategies.h"

/* SIM_ACTORS_MAX, and the world. */
#define SIM_ORDERED_ACTORS 4096u

struct sim_ordered {
    struct sim_replay replay;          /* First: it begins with the strategy. */
    struct sim_tape rest;              /* What is taken leniently. */
    const struct sim_deviation *pairs; /* Borrowed. */
    uint32_t count;                    /* Of pairs. */
    uint32_t steps[SIM_ORDERED_ACTORS];
};

/* Borrows `tape`, and `sorted`, which holds tape->count indices. */
void sim_ordered_init(struct sim_ordered *ordered, const struct sim_tape *tape, uint32_t *sorted);
