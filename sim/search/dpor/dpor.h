/*
 * dpor.h -- what the files of this folder share: the tree, the run in progress, its sleep set.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "runtime/base/assert.h"
#include "sim/search/dpor/steps.h"
#include "sim/search/dpor/wakeup.h"
#include "sim/search/strategy.h"

#define DPOR_NODES 16384u
#define DPOR_IDS (1u << 17)
#define DPOR_RECORDS (1u << 17)
#define DPOR_SLEEP_SET 512u

/* A choice of the run in progress. */
struct dpor_node {
    bool runs;    /* The choice of the next actor; else a datum. */
    bool written; /* The record at `open` has been begun. */
    uint8_t n;
    uint8_t index;
    uint32_t above;      /* The nearest node with `runs`, itself included; DPOR_NONE: none. */
    uint32_t transition; /* The one that it begins, or in which the datum is chosen. */
    /* Only where `runs`; sets have a bit for each alternative. */
    uint32_t ids;     /* Index of the first alternative's actor id. */
    uint32_t records; /* Of the alternatives that are done, one after the other, … */
    uint32_t open;    /* … and of the one in progress. */
    uint32_t tree;    /* Wakeup tree: the continuations from here that are still to be run. */
    uint32_t zone;    /* The node at which the tree that led here ended, or 0. */
    uint64_t asleep;  /* When a run first reached the node. */
    uint64_t done;
    uint64_t ended; /* Of those, the ones that ended the run at once. */
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
    uint32_t chosen_at; /* Node that chose the next transition; DPOR_NONE: it was no choice. */
    uint32_t guide;     /* Wakeup tree of the next transitions, below the path. */
    bool directed;      /* The last answer of the path is a tree's, or another datum. */
    bool accounted;     /* The footprint of the last transition has been recorded. */
    bool blocked;       /* All enabled actors are in the sleep set. */
    bool tail;          /* Out of capacity: all further answers are 0. */
    bool cancelled;     /* The last transition cancelled a task. */
    uint32_t sleep_count;
    uint32_t sleep_set[DPOR_SLEEP_SET]; /* Records. */
    uint32_t records_used;
    uint32_t ids_used;
    struct dpor_node nodes[DPOR_NODES];
    uint32_t ids[DPOR_IDS];
    struct sim_access records[DPOR_RECORDS];
    struct dpor_trace trace;
    struct dpor_steps steps;
    struct dpor_branches branches;
};

_Static_assert(sizeof(struct dpor) <= SIM_STRATEGY_BYTES_MAX, "it must fit a strategy's memory");

/* The alternative of `node` that is `actor`; node->n: none. */
static inline uint32_t
dpor_alternative(const struct dpor *dpor, const struct dpor_node *node, uint32_t actor)
{
    rt_assert(node->runs);
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
    rt_assert(n > 0 && n <= SIM_ALTERNATIVES_MAX);
    return n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

/* ---- sleep_set.c ----------------------------------------------------------------------------- */

/* Returns where the records of a path of `depth` nodes end. */
uint32_t dpor_records_end(const struct dpor *dpor, uint32_t depth);
/* Adds `footprint` to the record of the alternative in progress at `node`. */
void dpor_record(struct dpor *dpor, struct dpor_node *node, struct dpor_footprint footprint);
/* Closes the record of the alternative in progress, which is done. */
void dpor_record_close(struct dpor *dpor, struct dpor_node *node);
/* Returns what `actor`, asleep or done at `node`, would touch. */
struct dpor_footprint dpor_recorded(
        const struct dpor *dpor, const struct dpor_node *node, uint32_t actor);

/* Whether `actor` is in the sleep set. */
bool dpor_is_asleep(const struct dpor *dpor, uint32_t actor);
/* Adds all actors that are done at `node`. */
void dpor_sleep_add(struct dpor *dpor, const struct dpor_node *node);
/* Removes the actor of `transition`, and all whose next step conflicts with it. */
void dpor_sleep_wake(struct dpor *dpor, const struct dpor_transition *transition);

/* ---- races.c --------------------------------------------------------------------------------- */

/* Notes that the last transition ended the run while others could have continued. */
void dpor_note_end(struct dpor *dpor);

/* Learns from a run that is over which other orders have to be tried. */
void dpor_learn(struct dpor *dpor);
