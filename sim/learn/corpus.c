/*
 * corpus.c -- who is taken, and who makes room.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/learn/corpus.h"

#include <string.h>

void
sim_corpus_init(struct sim_corpus *corpus, struct sim_corpus_tape *memory)
{
    *corpus = (struct sim_corpus){.tapes = memory};
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
        if (length > 0) { /* The dullest run has an empty tape, which may lie nowhere. */
            memcpy(tape->bytes, bytes, length);
        }
    }
}

void
sim_corpus_copy(struct sim_corpus *to, const struct sim_corpus *from)
{
    to->count = from->count;
    for (uint32_t i = 0; i < from->count; i++) {
        struct sim_corpus_tape *tape = &to->tapes[i];
        const struct sim_corpus_tape *other = &from->tapes[i];
        /* Most have stayed since the last time. */
        if (tape->run != other->run || tape->fresh != other->fresh ||
                tape->length != other->length) {
            tape->run = other->run;
            tape->fresh = other->fresh;
            tape->length = other->length;
            memcpy(tape->bytes, other->bytes, other->length);
        }
    }
}
