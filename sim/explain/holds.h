/*
 * holds.h -- what each actor holds, and what it has to answer, computed from events.
 *
 *      taken      a permit, or a lock: from its CONSUME to the PUT that gives it back
 *      granted    what a lock of the user's was reported to give (bind/foreign.h): until released
 *      handed     a message to a shard (runtime/shard): from its SUBMIT until it is answered
 *      to end     the end of a thread, for which others wait: until it ends
 *      takes      what is in a channel, for space in which others wait: by who alone takes from it,
 *                 in this run or in the one that passes
 *
 * Of a semaphore only that is held which is given back by those who took it: where another actor
 * puts a permit in, permits are news, and taking one is no debt.
 *
 * Ownership. It owns its table (malloc) and borrows the actor table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/ledger.h"

struct sim_hold {
    uint64_t event; /* It began with this one. */
    uint64_t units; /* That are left. */
    uint32_t object;
    uint32_t part;  /* Which actor holds it; SIM_PART_NONE: not known. */
    bool to_end;    /* It is the end of that actor. */
    bool handed;    /* It has to be answered, not given back. */
    bool takes;     /* It is to be taken out of a channel, by that actor alone. */
    bool is_signal; /* No hold: permits of this one are not given back by those who took them. */
};

struct sim_holds {
    const struct sim_actor_table *actor_table;
    struct sim_hold *all; /* Those that have not ended, in the order in which they began. */
    uint32_t count;
    uint32_t capacity;
};

/* `passing`: the run that passes; NULL: there is none. */
void sim_holds_make(struct sim_holds *holds, const struct sim_actor_table *actor_table,
        const struct sim_actor_table *passing);
void sim_holds_free(struct sim_holds *holds);

/* The open wait of `part` that this hold keeps waiting; NULL: there is none. */
const struct sim_wait *sim_hold_wait(
        const struct sim_hold *hold, const struct sim_ledger *ledger, uint32_t part);

#define SIM_HOLDS_CHAIN 8u

/*
 * Follows which actor waits for which from `part`: `ret` (capacity SIM_HOLDS_CHAIN) are the holds
 * on the way, each by the actor that the one before waits for. Returns how many; 0: it waits for
 * none.
 * *ret_circle: the first of them that the last holder waits for again; UINT32_MAX: no circle.
 */
uint32_t sim_holds_chain(const struct sim_holds *holds, const struct sim_ledger *ledger,
        uint32_t part, const struct sim_hold **ret, uint32_t *ret_circle);
