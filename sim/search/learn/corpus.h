/*
 * corpus.h -- tapes and constraint sets of runs that covered something new, for strategies that
 * vary them.
 *
 * A fixed number of slots of a fixed size. When all are taken, a new one replaces the one that
 * covered least, the oldest of several; so the content is a function of the runs and their order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_CORPUS_TAPES 128u
#define SIM_CORPUS_BYTES 8192u /* Of one encoded tape; longer ones are not taken. */

struct sim_corpus_tape {
    uint64_t run;    /* Its index in the sweep. */
    uint64_t added;  /* Coverage points that it was the first to cover. */
    uint32_t length; /* In bytes (sim_tape_encode). */
    uint32_t reserved;
    uint8_t bytes[SIM_CORPUS_BYTES];
};

#define SIM_CORPUS_SETS 64u
#define SIM_CORPUS_CONSTRAINTS 4u /* Of one set, at most. */

/* "Line `read` sees the write of line `write`", or, when negative, that it does not (rf.h). */
struct sim_corpus_pair {
    uint32_t write;
    uint32_t read;
    uint32_t negative;
};

/* The constraints of a run that covered something new. */
struct sim_corpus_set {
    uint64_t run;
    uint64_t added;
    uint32_t count;
    struct sim_corpus_pair constraints[SIM_CORPUS_CONSTRAINTS];
};

struct sim_corpus_memory {
    struct sim_corpus_tape tapes[SIM_CORPUS_TAPES];
    struct sim_corpus_set sets[SIM_CORPUS_SETS];
};

struct sim_corpus {
    uint32_t count;
    uint32_t set_count;
    struct sim_corpus_tape *tapes; /* Borrowed. */
    struct sim_corpus_set *sets;   /* Likewise. */
};

/* An empty corpus. *Borrows* `memory`. */
void sim_corpus_init(struct sim_corpus *corpus, struct sim_corpus_memory *memory);

/* Copies the tape of a run that covered `added` new points, unless it is too long or all others
 * covered more. */
void sim_corpus_add(struct sim_corpus *corpus, uint64_t run, uint64_t added, const uint8_t *bytes,
        size_t length);

/* Copies a constraint of a run that covered `added` new points. Consecutive ones of one run make a
 * set; beyond SIM_CORPUS_CONSTRAINTS they are left out. */
void sim_corpus_add_constraint(struct sim_corpus *corpus, uint64_t run, uint64_t added,
        const struct sim_corpus_pair *constraint);

/* Makes `to` a copy of `from`. */
void sim_corpus_copy(struct sim_corpus *to, const struct sim_corpus *from);
