/*
 * corpus.c -- adding to a corpus of fixed size, and replacing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/learn/corpus.h"

#include <string.h>

#include "runtime/base/assert.h"

void
sim_corpus_init(struct sim_corpus *corpus, struct sim_corpus_memory *memory)
{
    *corpus = (struct sim_corpus){.tapes = memory->tapes, .sets = memory->sets};
}

/* The slot for one more that covered `added` new points; NULL: all others covered more. */
static struct sim_corpus_tape *
slot_for(struct sim_corpus *corpus, uint64_t added)
{
    rt_assert(corpus->count <= SIM_CORPUS_TAPES);
    if (corpus->count < SIM_CORPUS_TAPES) {
        return &corpus->tapes[corpus->count++];
    }
    struct sim_corpus_tape *least = &corpus->tapes[0];
    for (uint32_t i = 1; i < corpus->count; i++) {
        struct sim_corpus_tape *tape = &corpus->tapes[i];
        if (tape->added < least->added || (tape->added == least->added && tape->run < least->run)) {
            least = tape;
        }
    }
    return least->added <= added ? least : NULL;
}

void
sim_corpus_add(struct sim_corpus *corpus, uint64_t run, uint64_t added, const uint8_t *bytes,
        size_t length)
{
    if (length > SIM_CORPUS_BYTES) {
        return;
    }
    struct sim_corpus_tape *tape = slot_for(corpus, added);
    if (tape != NULL) {
        tape->run = run;
        tape->added = added;
        tape->length = (uint32_t)length;
        rt_assert(length == 0 || bytes != NULL);
        if (length > 0) { /* The tape of the baseline run is empty, and `bytes` may be NULL. */
            memcpy(tape->bytes, bytes, length);
        }
    }
}

/* The set of `run`, begun if it is missing; NULL: all others covered more. */
static struct sim_corpus_set *
set_of(struct sim_corpus *corpus, uint64_t run, uint64_t added)
{
    const struct sim_corpus_set begun = {.run = run, .added = added};
    struct sim_corpus_set *least = NULL;
    for (uint32_t i = 0; i < corpus->set_count; i++) {
        struct sim_corpus_set *set = &corpus->sets[i];
        if (set->run == run) {
            return set;
        }
        if (least == NULL || set->added < least->added ||
                (set->added == least->added && set->run < least->run)) {
            least = set;
        }
    }
    if (corpus->set_count < SIM_CORPUS_SETS) {
        least = &corpus->sets[corpus->set_count++];
    } else if (least == NULL || least->added > added) {
        return NULL;
    }
    *least = begun;
    return least;
}

void
sim_corpus_add_constraint(struct sim_corpus *corpus, uint64_t run, uint64_t added,
        const struct sim_corpus_pair *constraint)
{
    rt_assert(corpus->set_count <= SIM_CORPUS_SETS);
    struct sim_corpus_set *set = set_of(corpus, run, added);
    if (set != NULL && set->count < SIM_CORPUS_CONSTRAINTS) {
        set->constraints[set->count++] = *constraint;
    }
}

void
sim_corpus_copy(struct sim_corpus *to, const struct sim_corpus *from)
{
    uint32_t had = to->count; /* Later slots are an earlier sweep's. */
    to->count = from->count;
    to->set_count = from->set_count;
    memcpy(to->sets, from->sets, from->set_count * sizeof(*to->sets));
    for (uint32_t i = 0; i < from->count; i++) {
        struct sim_corpus_tape *tape = &to->tapes[i];
        const struct sim_corpus_tape *other = &from->tapes[i];
        /* Most are unchanged since the last copy. */
        rt_assert(other->length <= SIM_CORPUS_BYTES);
        if (i >= had || tape->run != other->run || tape->added != other->added ||
                tape->length != other->length) {
            tape->run = other->run;
            tape->added = other->added;
            tape->length = other->length;
            memcpy(tape->bytes, other->bytes, other->length);
        }
    }
}
