/*
 * exhaustive.h -- every run there is, depth first.
 *
 *          o            A node is a choice with n alternatives; the path from the top is the run
 *         / \           in progress. sim_exhaustive_next takes the deepest node that has an
 *        o   o          alternative left, and drops all below it. Below the path all answers are
 *       /   / \         0, and each new choice becomes a node.
 *      .   .   .
 *
 * Bounds. `deviations`: answers other than 0 in a run. `depth`: choices of a run that are varied;
 * all others are answered 0. Within them each run is made exactly once, the baseline first.
 *
 * After: iterative context bounding (Musuvathi, Qadeer, PLDI 2007) counts preemptions; delay
 * bounding (Emmi, Qadeer, Rakamaric, POPL 2011) counts departures from a deterministic scheduler.
 * A deviation is such a departure, at every kind of choice and not of the schedule alone.
 *
 * Ownership. The path is borrowed memory that may outlive the process: a run whose process died
 * counts as made, and the walk continues after it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_SEARCH_EXHAUSTIVE_H
#define SIM_SEARCH_EXHAUSTIVE_H

#include "sim/core/decide/choice.h"

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
    struct sim_tree_node *path; /* Borrowed. */
    uint32_t capacity;
    uint32_t deviations_max; /* SIM_UNBOUNDED: any number. */
    uint32_t depth_max;
    uint32_t depth;      /* Nodes on the path. */
    uint32_t position;   /* Of the next choice, also below the path. */
    uint32_t fixed;      /* So many nodes at the top never change: the share of one worker. */
    uint32_t deviations; /* On the path. */
    uint32_t deepest;    /* The most choices that a run had. */
    bool resumes;        /* The common beginning of two runs may be executed once. */
    bool begun;          /* At least one run has begun. */
    bool exhausted;
    bool cut;     /* A choice was deeper than depth_max, or than the capacity. */
    bool differs; /* A choice was not the one that the run before made there: no tree. */
    uint64_t runs;
};

/*
 * A walk that has not begun. *Borrows* `path`, of `capacity` nodes. `depth_max` is at most
 * `capacity`.
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
