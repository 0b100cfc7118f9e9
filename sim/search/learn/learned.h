/*
 * learned.h -- what earlier runs taught, frozen for the runs of an epoch.
 *
 * Runs of a sweep are counted off in *epochs*: a few of one run, then of 2, 4 … up to
 * SIM_EPOCH_RUNS_MAX. A run of epoch e sees what epochs up to e-2 taught, and nothing
 * else: so one epoch is under way while the next one begins, on any number of
 * workers, and every run sees the same whoever makes it (sim/search/README.md). Only the
 * first four epochs, a run each, see what the one before taught: each waits for it.
 *
 *      epoch      0   1   2   3   4   5 …
 *      teaches    └───────▶2   └──────▶5        three copies are enough: while e+1 is made,
 *                     └───────▶3                e and e+1 are read and e+2 is written
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_SEARCH_LEARN_LEARNED_H
#define SIM_SEARCH_LEARN_LEARNED_H

#include "sim/search/learn/corpus.h"
#include "sim/search/learn/facts.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SIM_LEARNED_FACTS (1u << 15)
#define SIM_EPOCH_RUNS_MAX 1024u
#define SIM_ARMS_MAX 32u

/* Read only while runs are made. */
struct sim_learned {
    uint64_t runs;                /* That taught this. */
    uint64_t drawn[SIM_ARMS_MAX]; /* So many of them were drawn by this strategy, … */
    uint64_t news[SIM_ARMS_MAX];  /* … which were the first to cover so many elements. */
    struct sim_facts facts;
    struct sim_corpus corpus;
};

/* What the parent knows, and the copies that workers read. */
struct sim_learned_book {
    struct sim_learned master;  /* The parent's own, with what is merged so far. */
    struct sim_learned *copies; /* Three, in a mapping that workers share and cannot write. */
    size_t size;                /* Of the mapping. */
    uint64_t closed;            /* Epochs that are merged whole. */
    uint32_t orders;            /* Partial orders among the master's facts. */
};

/* Makes the mapping, before any worker is forked. False: the system has no room. */
bool sim_learned_book_init(struct sim_learned_book *book);
void sim_learned_book_fini(struct sim_learned_book *book);

/* Forgets all, for a new sweep; no worker is at work. */
void sim_learned_book_clear(struct sim_learned_book *book);

/* Epoch `closed` is merged whole: writes the copy for the epoch after the next, and, among the
 * first, for the next. */
void sim_learned_book_close(struct sim_learned_book *book);

/* Whether runs of `epoch` may be made now. */
bool sim_learned_book_is_open(const struct sim_learned_book *book, uint64_t epoch);

/* What a run of `epoch`, which is open, may see. */
const struct sim_learned *sim_learned_book_of(const struct sim_learned_book *book, uint64_t epoch);

/* One more run, drawn by `arm`; it was the first to cover `news` elements. In order of index. */
void sim_learned_book_count(struct sim_learned_book *book, uint32_t arm, uint64_t news);

/* Whether processes forked from now on get the mapping (not at first). */
void sim_learned_book_lend(const struct sim_learned_book *book, bool lent);

/* In a worker: it can read and not write. */
void sim_learned_book_seal(const struct sim_learned_book *book);

/* The epoch of run `index`, and the index of the first run of the next one. */
uint64_t sim_epoch_of(uint64_t index, uint64_t *ret_end);

#ifdef __cplusplus
}
#endif
#endif
