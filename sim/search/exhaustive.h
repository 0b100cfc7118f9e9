/*
 * exhaustive.h -- every run there is, depth first.
 *
 *          o            A node is a choice that was asked, with n alternatives; the path from
 *         / \           the top is the run in progress. `begin` takes the deepest node that has
 *        o   o          an alternative left, and cuts off what lies below it; behind the path
 *       /   / \         all is 0, and each new choice becomes a node.
 *      .   .   .
 *
 * Bounds. `deviations`: answers other than 0 in a run. `depth`: choices of a run that are varied;
 * behind it all is 0. Within them each run is made exactly once, the baseline first.
 *
 * After: iterative context bounding (Musuvathi, Qadeer, PLDI 2007) counts preemptions; delay
 * bounding (Emmi, Qadeer, Rakamaric, POPL 2011) counts departures from a deterministic scheduler,
 * which is what a deviation is here, of every kind of choice and not of the schedule alone.
 *
 * Ownership. The path is memory that somebody lends, which may outlive the process: a run that
 * ended with its process is taken for made, and the walk goes on behind it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_SEARCH_EXHAUSTIVE_H
#define SIM_SEARCH_EXHAUSTIVE_H

#include "sim/core/choice.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A choice on the path, and its answer. */
struct sim_tree_node {
    uint8_t index;
    uint8_t n;
};

#define SIM_UNBOUNDED UINT32_MAX

struct sim_exhaustive {
    struct sim_strategy strategy;
    struct sim_resumption resumption;
    struct sim_tree_node *path; /* Lent. */
    uint32_t capacity;
    uint32_t deviations_max; /* SIM_UNBOUNDED: any number. */
    uint32_t depth_max;
    uint32_t depth;      /* Nodes on the path. */
    uint32_t position;   /* Of the next choice; behind the path it counts on. */
    uint32_t fixed;      /* So many nodes at the top never change: the part of one worker. */
    uint32_t deviations; /* On the path. */
    uint32_t deepest;    /* The most choices that a run had. */
    bool resumes;        /* What two runs have in common may be made once. */
    bool begun;          /* A run has. */
    bool exhausted;
    bool cut;     /* Somewhere a choice lay deeper than depth_max, or than there is room. */
    bool differs; /* A choice was not what the run before met in its place: no tree. */
    uint64_t runs;
};

/*
 * A walk that has not begun. `path` is lent, with room for `capacity` nodes. `depth_max` is brought
 * down to `capacity`.
 */
void sim_exhaustive_init(struct sim_exhaustive *exhaustive, struct sim_tree_node *path,
        uint32_t capacity, uint32_t deviations_max, uint32_t depth_max);

/*
 * Turns to the next run; true when there is one, and it may be run. Called before each, the first
 * included. False, for good: the space is exhausted, within the bounds; or `differs`.
 */
bool sim_exhaustive_next(struct sim_exhaustive *exhaustive);

#ifdef __cplusplus
}
#endif
#endif
