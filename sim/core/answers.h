/*
 * answers.h -- a fuzzer's bytes as a strategy, and a run written down as such bytes.
 *
 *      byte 0   kind      whose next occasions it counts: the low half; one that is none is skipped
 *      byte 1   zeros     so many occasions of that kind are answered 0 first
 *      byte 2   answer    then one is answered so: modulo its n, so that 0 is 0
 *
 * Three bytes an answer, and so on to the end; one or two bytes that are left over mean nothing,
 * and when a kind has no more answers all its occasions are answered 0. So any bytes are a run,
 * none at all are the baseline one, and fewer bytes are a simpler one.
 *
 * Each kind is a tape of its own: an answer about a fault that is moved, taken away or put in
 * leaves every answer about who runs where it was. Within a kind answers follow each other, so
 * bytes from the middle of one input mean something in another one. An occasion is counted where
 * there is more than one alternative, whoever's it is. More than 255 zeros are bridged by
 * answers 0, of which each is one more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CORE_ANSWERS_H
#define SIM_CORE_ANSWERS_H

#include "sim/core/choice.h"
#include "sim/core/tape.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of an answer. */
#define SIM_ANSWER_SIZE 3u

/*
 * Answers as they are worked with: of a deviation `kind`, `ordinal` (occasions of this kind in the
 * run before it, whoever's) and `index` (the answer, below 256) count, the rest is 0. Those of one
 * kind stand in the order of their ordinals.
 */

/* How many answers `size` bytes can hold. */
static inline uint32_t
sim_answers_in(size_t size)
{
    return (uint32_t)(size / SIM_ANSWER_SIZE);
}

/* Reads any bytes into `tape`, whose memory is lent; answers 0 are left out. What there is no room
 * for is left out as well: those occasions are answered 0. */
void sim_answers_read(struct sim_tape *tape, const uint8_t *bytes, size_t size);

/* Writes answers to `bytes`, which hold `capacity`, and returns how many bytes were used. Answers
 * that do not fit are left out, from the end. */
size_t sim_answers_write(const struct sim_tape *tape, uint8_t *bytes, size_t capacity);

/* ---- As a strategy. -------------------------------------------------------------------------- */

struct sim_answers {
    struct sim_strategy strategy;
    const struct sim_tape *tape;
    uint32_t asked[SIM_KINDS]; /* Occasions of the kind so far. */
    uint32_t next[SIM_KINDS];  /* Its next answer: a place in the tape, or its end. */
};

/* Borrows `tape`, as sim_answers_read has left it. */
void sim_answers_init(struct sim_answers *answers, const struct sim_tape *tape);

/* ---- And back. ------------------------------------------------------------------------------- */

/* What another strategy answers, written down as answers. */
struct sim_decision_log {
    struct sim_strategy strategy;
    struct sim_strategy *inner; /* Borrowed. */
    struct sim_tape tape;       /* Lent, with capacity. */
    uint32_t asked[SIM_KINDS];
    bool full; /* There was no room for the rest. */
};

/* Stands in front of `inner`, which begins and ends with it; the memory of `tape` is lent. */
void sim_decision_log_init(
        struct sim_decision_log *decision_log, struct sim_strategy *inner, struct sim_tape tape);

#ifdef __cplusplus
}
#endif
#endif
