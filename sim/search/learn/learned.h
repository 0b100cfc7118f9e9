/*
 * learned.h -- learned statistics, frozen for the runs of an epoch.
 *
 * A sweep is divided into *epochs*: four of one run, then two each of 2, 4 … up to
 * SIM_EPOCH_RUNS_MAX. A run of epoch e sees the statistics of epochs up to e-2 and nothing else
 * (sim/search/README.md), but for the first four: each sees those of the epoch before.
 *
 *      epoch      0   1   2   3   4   5 …
 *      teaches    └───────▶2   └──────▶5        three copies are enough: while e+1 is made,
 *                     └───────▶3                e and e+1 are read and e+2 is written
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/search/learn/corpus.h"
#include "sim/search/learn/facts.h"

#define SIM_LEARNED_FACTS (1u << 15)
#define SIM_EPOCH_RUNS_MAX 1024u
#define SIM_STRATEGIES_MAX 32u

/* The runs of a strategy. */
struct sim_learned_yield {
    uint64_t drawn; /* So many, … */
    uint64_t added; /* … the first to cover so many points. */
};

/* Read only while runs are made. */
struct sim_learned {
    uint64_t runs; /* That the statistics are of. */
    struct sim_learned_yield yields[SIM_STRATEGIES_MAX];
    struct sim_facts facts;
    struct sim_corpus corpus;
};

/* The parent's statistics, and the copies that workers read. */
struct sim_epochs {
    struct sim_learned master;  /* The parent's: all that is merged so far. */
    struct sim_learned *copies; /* Three, in a mapping that workers share and cannot write. */
    uint64_t closed;            /* Epochs that are merged completely. */
    uint32_t orders;            /* Partial orders among the master's facts. */
};

/* Makes the mapping, before any worker is forked. */
void sim_epochs_init(struct sim_epochs *epochs);
void sim_epochs_fini(struct sim_epochs *epochs);

/* Forgets all, for a new sweep; no worker is running. */
void sim_epochs_clear(struct sim_epochs *epochs);

/* Epoch `closed` is merged completely: writes the copy for the epoch after the next one, and, of
 * the first four, also for the next. */
void sim_epochs_close(struct sim_epochs *epochs);

/* Whether runs of `epoch` may be made now. */
bool sim_epochs_is_open(const struct sim_epochs *epochs, uint64_t epoch);

/* The statistics for runs of `epoch`, which is open. */
const struct sim_learned *sim_epochs_of(const struct sim_epochs *epochs, uint64_t epoch);

/* Counts a run by `strategy`, the first to cover `added` points; in order of index. */
void sim_epochs_count(struct sim_epochs *epochs, uint32_t strategy, uint64_t added);

/* Whether processes forked from now on inherit the mapping (at first not). */
void sim_epochs_inherit(const struct sim_epochs *epochs, bool inherit);

/* In a worker: makes the mapping read-only. */
void sim_epochs_seal(const struct sim_epochs *epochs);

/* The epoch of run `index`, and the index of the first run of the next one. */
uint64_t sim_epoch_of(uint64_t index, uint64_t *ret_end);
