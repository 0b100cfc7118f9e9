/*
 * answers.h -- a fuzzer's bytes as a strategy, and a run recorded as such bytes.
 *
 *      byte 0   kind      enum sim_kind, the low half; an answer of an unknown kind is skipped
 *      byte 1   zeros     this many occasions of that kind are answered 0 first
 *      byte 2   answer    the answer to the next one, modulo its n
 *
 * Each answer takes three bytes; one or two bytes left over at the end mean nothing, and when a
 * kind has no more answers all its occasions are answered 0. So any bytes are a run, no bytes are
 * the baseline run, and fewer bytes are a simpler run.
 *
 * Each kind has a separate tape: an answer to FAULT that is moved, removed or inserted leaves
 * every answer to RUN where it was. Within a kind answers follow each other, so bytes from the
 * middle of one input mean something in another one. An occasion of any actor is counted where
 * there is more than one alternative. More than 255 zeros are bridged by answers 0, each of which
 * is one more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/core/decide/choice.h"
#include "sim/core/decide/tape.h"

/* Bytes of an answer. */
#define SIM_ANSWER_SIZE 3u

/*
 * Answers in memory: of a deviation `kind`, `ordinal` (occasions of this kind in the run before
 * it, of any actor) and `index` (the answer, below 256) count, the rest is 0. Answers of one kind
 * are sorted by their ordinals.
 */

/* How many answers `size` bytes can hold. */
static inline uint32_t
sim_answers_in(size_t size)
{
    return (uint32_t)(size / SIM_ANSWER_SIZE);
}

/* Reads any bytes into the caller's `tape`. Answers 0, and those that do not fit, are left out:
 * their occasions are answered 0. */
void sim_answers_read(struct sim_tape *tape, const uint8_t *bytes, size_t size);

/* Writes answers to `bytes`, which hold `capacity`, and returns how many bytes were used. Answers
 * that do not fit are left out, from the end. */
size_t sim_answers_write(const struct sim_tape *tape, uint8_t *bytes, size_t capacity);

/* ---- As a strategy. -------------------------------------------------------------------------- */

struct sim_answers {
    struct sim_strategy strategy;
    const struct sim_tape *tape;
    uint32_t asked[SIM_KINDS]; /* Occasions of the kind so far. */
    uint32_t next[SIM_KINDS];  /* Index of its next answer in the tape, or the tape's end. */
};

/* Borrows `tape`, as sim_answers_read has left it. */
void sim_answers_init(struct sim_answers *answers, const struct sim_tape *tape);

/* ---- And back. ------------------------------------------------------------------------------- */

/* Records what another strategy answers. */
struct sim_decision_log {
    struct sim_strategy strategy;
    struct sim_strategy *inner; /* Borrowed. */
    struct sim_strategy *maker; /* Of this run: `inner`, or what it delegates to. */
    struct sim_tape tape;       /* The caller's memory, with capacity. */
    uint32_t asked[SIM_KINDS];
    bool full; /* The rest did not fit. */
};

/* Wraps `inner`, which begins and ends with it; the memory of `tape` is the caller's. */
void sim_decision_log_init(
        struct sim_decision_log *decision_log, struct sim_strategy *inner, struct sim_tape tape);
