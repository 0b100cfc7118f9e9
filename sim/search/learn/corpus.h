/*
 * corpus.h -- tapes and constraint sets of runs that showed something new, for strategies that
 * vary them.
 *
 * A fixed number of places of a fixed size. When all are taken, a newcomer takes the place
 * of the one that had shown least, the oldest of several; so what is kept is a
 * function of the runs and their order alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_SEARCH_LEARN_CORPUS_H
#define SIM_SEARCH_LEARN_CORPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SIM_CORPUS_TAPES 128u
#define SIM_CORPUS_BYTES 8192u /* Of one encoded tape; longer ones are not taken. */

struct sim_corpus_tape {
    uint64_t run;    /* Its index in the sweep. */
    uint64_t fresh;  /* It was the first to cover so many elements. */
    uint32_t length; /* In bytes (sim_tape_encode). */
    uint32_t reserved;
    uint8_t bytes[SIM_CORPUS_BYTES];
};

#define SIM_CORPUS_SETS 64u
#define SIM_CORPUS_WISHES 4u /* Of one set, at most. */

/* "Line `read` finds what line `write` left", or, when negative, that it does not (rf.h). */
struct sim_corpus_pair {
    uint32_t write;
    uint32_t read;
    uint32_t negative;
};

/* What a run wanted that showed something new. */
struct sim_corpus_set {
    uint64_t run;
    uint64_t fresh;
    uint32_t count;
    struct sim_corpus_pair wishes[SIM_CORPUS_WISHES];
};

struct sim_corpus_memory {
    struct sim_corpus_tape tapes[SIM_CORPUS_TAPES];
    struct sim_corpus_set sets[SIM_CORPUS_SETS];
};

struct sim_corpus {
    uint32_t count;
    uint32_t set_count;
    struct sim_corpus_tape *tapes; /* Lent. */
    struct sim_corpus_set *sets;   /* Likewise. */
};

/* An empty corpus over `memory`, which is lent. */
void sim_corpus_init(struct sim_corpus *corpus, struct sim_corpus_memory *memory);

/* Takes a copy of the tape, unless it is too long, or all that are there have shown more. */
void sim_corpus_add(struct sim_corpus *corpus, uint64_t run, uint64_t fresh, const uint8_t *bytes,
        size_t length);

/* Takes the constraint of a run that has shown `fresh`; those of one run are told one behind the
 * other, and make a set. What is more than one set holds is left out. */
void sim_corpus_wish(struct sim_corpus *corpus, uint64_t run, uint64_t fresh,
        const struct sim_corpus_pair *wish);

/* Makes `to` hold what `from` holds. */
void sim_corpus_copy(struct sim_corpus *to, const struct sim_corpus *from);

#ifdef __cplusplus
}
#endif
#endif
