/*
 * dpor.h -- what the files of this folder share: the tree, the run in progress, who sleeps in it.
 *
 *   dpor.c      the walk: which run comes next, what is answered, what there is to say of it
 *   races.c     what a run teaches: which orders are to be tried, and where
 *   sleep_set.c  who has been tried already, and need not be while nothing conflicts with it
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_SEARCH_DPOR_DPOR_H
#define SIM_SEARCH_DPOR_DPOR_H

#include "sim/search/dpor/known.h"
#include "sim/search/dpor/seen.h"
#include "sim/search/dpor/trace.h"
#include "sim/search/dpor/wakeup.h"
#include "sim/search/strategy.h"

#define DPOR_NODES 16384u
#define DPOR_IDS (1u << 17)
#define DPOR_RECORDS (1u << 17)
#define DPOR_SLEEP_SET 512u

/* A choice of the run in progress. */
struct dpor_node {
    bool runs;    /* It is asked who runs. */
    bool written; /* `open` is. */
    uint8_t n;
    uint8_t index;
    uint32_t above; /* The nearest node that asks who runs, itself included; DPOR_NONE: none. */
    uint32_t transition; /* That it begins, or in which it is asked. */
    /* Only where it is asked who runs; a bit for each alternative. */
    uint32_t ids;     /* Of the alternatives, from here on. */
    uint32_t records; /* Of the alternatives that are done, one after the other, … */
    uint32_t open;    /* … and of the one in progress. */
    uint32_t tree;    /* Wakeup tree: how runs through here are still to go on. */
    uint32_t zone;    /* Where the tree that led here ended, or the path begins. */
    uint64_t asleep;  /* When it was first met. */
    uint64_t done;
    uint64_t ended; /* Of those, who ended the run at once. */
};

/* A record is a head {id of the actor, accesses and DPOR_GLOBAL} and the accesses. */
#define DPOR_GLOBAL (UINT32_C(1) << 31)

struct dpor {
    struct sim_strategy strategy;
    bool under_way; /* A run has begun and not ended. */
    bool exhausted;
    bool differs;
    bool cut;
    uint64_t runs;
    uint64_t redundant;
    uint32_t deepest;
    uint32_t depth; /* Nodes on the path. */
    /* The run. */
    uint32_t position;
    uint32_t coming; /* Node that chose the transition to come; DPOR_NONE: nobody was asked. */
    uint32_t guide;  /* Wakeup tree of the transitions to come, behind the path. */
    bool led;        /* The path ends with what a tree said, or with other data. */
    bool settled;    /* The last transition is accounted for. */
    bool blocked;    /* Only sleep set stood ready. */
    bool tail;       /* There is no room: from here on all is 0. */
    bool cancelled;  /* Somebody was, in the last transition. */
    uint32_t sleeper_count;
    uint32_t sleep_set[DPOR_SLEEP_SET]; /* Records. */
    uint32_t records_used;
    uint32_t ids_used;
    struct dpor_node nodes[DPOR_NODES];
    uint32_t ids[DPOR_IDS];
    struct sim_access records[DPOR_RECORDS];
    struct dpor_trace trace;
    struct dpor_known known;
    struct dpor_seen seen;
    struct dpor_branches branches;
};

_Static_assert(sizeof(struct dpor) <= SIM_STRATEGY_BYTES_MAX, "it must fit what is lent");

/* The alternative of `node` that is `actor`; node->n: none. */
static inline uint32_t
dpor_alternative(const struct dpor *dpor, const struct dpor_node *node, uint32_t actor)
{
    uint32_t i = 0;
    while (i < node->n && dpor->ids[node->ids + i] != actor) {
        i++;
    }
    return i;
}

/* A bit for each of n alternatives. */
static inline uint64_t
dpor_all_of(uint32_t n)
{
    return n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

/* sleep_set.c: where the records of a path of `depth` nodes end; … */
uint32_t dpor_records_end(const struct dpor *dpor, uint32_t depth);
/* … what the alternative in progress did, joined to what it did with other data; … */
void dpor_record(struct dpor *dpor, struct dpor_node *node, struct dpor_footprint footprint);
/* … the alternative in progress is done, and its record closed; … */
void dpor_record_close(struct dpor *dpor, struct dpor_node *node);
/* … what `actor`, who sleeps at `node` or is done there, would touch. */
struct dpor_footprint dpor_recorded(
        const struct dpor *dpor, const struct dpor_node *node, uint32_t actor);

/* sleep_set.c: whether `actor` sleeps now; who was tried at `node` sleeps from here on; whoever
 * conflicts with what has happened wakes up. */
bool dpor_is_asleep(const struct dpor *dpor, uint32_t actor);
void dpor_put_to_sleep(struct dpor *dpor, const struct dpor_node *node);
void dpor_rouse(struct dpor *dpor, const struct dpor_transition *transition);

/* races.c: the run ended in its last transition, and others could not go on. */
void dpor_note_end(struct dpor *dpor);

/* races.c: the run is over, and all of it accounted for: what else is to be tried. */
void dpor_learn(struct dpor *dpor);

#endif
