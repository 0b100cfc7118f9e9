/*
 * corpus.c -- who is taken, and who makes room.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/learn/corpus.h"

#include <string.h>

void
sim_corpus_init(struct sim_corpus *corpus, struct sim_corpus_memory *memory)
{
    *corpus = (struct sim_corpus){.tapes = memory->tapes, .sets = memory->sets};
}

/* The place for one more that has shown `fresh`; NULL: all of them have shown more. */
static struct sim_corpus_tape *
room_for(struct sim_corpus *corpus, uint64_t fresh)
{
    if (corpus->count < SIM_CORPUS_TAPES) {
        return &corpus->tapes[corpus->count++];
    }
    struct sim_corpus_tape *least = &corpus->tapes[0];
    for (uint32_t i = 1; i < corpus->count; i++) {
        struct sim_corpus_tape *tape = &corpus->tapes[i];
        if (tape->fresh < least->fresh || (tape->fresh == least->fresh && tape->run < least->run)) {
            least = tape;
        }
    }
    return least->fresh <= fresh ? least : NULL;
}

void
sim_corpus_add(struct sim_corpus *corpus, uint64_t run, uint64_t fresh, const uint8_t *bytes,
        size_t length)
{
    if (length > SIM_CORPUS_BYTES) {
        return;
    }
    struct sim_corpus_tape *tape = room_for(corpus, fresh);
    if (tape != NULL) {
        tape->run = run;
        tape->fresh = fresh;
        tape->length = (uint32_t)length;
        if (length > 0) { /* The baseline run has an empty tape, which may lie nowhere. */
            memcpy(tape->bytes, bytes, length);
        }
    }
}

/* The set of `run`, begun if need be; NULL: all that are there have shown more. */
static struct sim_corpus_set *
set_of(struct sim_corpus *corpus, uint64_t run, uint64_t fresh)
{
    const struct sim_corpus_set begun = {.run = run, .fresh = fresh};
    struct sim_corpus_set *least = NULL;
    for (uint32_t i = 0; i < corpus->set_count; i++) {
        struct sim_corpus_set *set = &corpus->sets[i];
        if (set->run == run) {
            return set;
        }
        if (least == NULL || set->fresh < least->fresh ||
                (set->fresh == least->fresh && set->run < least->run)) {
            least = set;
        }
    }
    if (corpus->set_count < SIM_CORPUS_SETS) {
        least = &corpus->sets[corpus->set_count++];
    } else if (least == NULL || least->fresh > fresh) {
        return NULL;
    }
    *least = begun;
    return least;
}

void
sim_corpus_wish(
        struct sim_corpus *corpus, uint64_t run, uint64_t fresh, const struct sim_corpus_pair *wish)
{
    struct sim_corpus_set *set = set_of(corpus, run, fresh);
    if (set != NULL && set->count < SIM_CORPUS_WISHES) {
        set->wishes[set->count++] = *wish;
    }
}

void
sim_corpus_copy(struct sim_corpus *to, const struct sim_corpus *from)
{
    uint32_t had = to->count; /* What lies behind is an earlier sweep's. */
    to->count = from->count;
    to->set_count = from->set_count;
    memcpy(to->sets, from->sets, from->set_count * sizeof(*to->sets));
    for (uint32_t i = 0; i < from->count; i++) {
        struct sim_corpus_tape *tape = &to->tapes[i];
        const struct sim_corpus_tape *other = &from->tapes[i];
        /* Most have stayed since the last time. */
        if (i >= had || tape->run != other->run || tape->fresh != other->fresh ||
                tape->length != other->length) {
            tape->run = other->run;
            tape->fresh = other->fresh;
            tape->length = other->length;
            memcpy(tape->bytes, other->bytes, other->length);
        }
    }
}
