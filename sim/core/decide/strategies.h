/*
 * strategies.h -- random, baseline, foremost, replay.
 *
 * random    Each draw is a pure function of seed, stream and ordinal, so streams are
 *           independent of each other.
 * baseline  Always 0.
 * foremost  The baseline, but that actor goes first whenever it can whose in-run index is the seed.
 * replay    Runs a tape. *Strict*: the next deviation must be at its occasion, with
 *           its kind, n and alternative; the first that does not fit is kept
 *           (sim_replay_mismatch). *Lenient*: a deviation is found by stream and
 *           ordinal, taken by the alternative's id, else by its index, else ignored.
 *           *Branch*: lenient up to the last deviation, random from there on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/core/decide/choice.h"
#include "sim/core/decide/tape.h"

struct sim_random {
    struct sim_strategy strategy;
};

struct sim_baseline {
    struct sim_strategy strategy;
};

struct sim_foremost {
    struct sim_strategy strategy;
    uint32_t actor;
};

struct sim_replay {
    struct sim_strategy strategy;
    const struct sim_tape *tape; /* Borrowed. */
    bool lenient;
    bool mismatched;
    bool parted; /* Branch: the last entry's occasion was reached. */
    bool ended;  /* Its first run has ended: `fitted` is about that one. */
    bool fitted;
    uint32_t position; /* Strict: deviations used so far. */
    uint32_t mismatch_position;
    uint32_t ignored; /* Lenient: deviations that fitted nowhere (known at the end). */
    uint32_t taken;
    char mismatch[192]; /* What did not fit, one sentence. */
    uint32_t *sorted;   /* Lenient: indices of the tape by (stream, ordinal). Borrowed. */
};

void sim_random_init(struct sim_random *random);
void sim_baseline_init(struct sim_baseline *baseline);
void sim_foremost_init(struct sim_foremost *foremost);

/* Borrows `tape`, and when lenient `sorted`, which holds tape->count indices; else it is NULL. */
void sim_replay_init(
        struct sim_replay *replay, const struct sim_tape *tape, bool lenient, uint32_t *sorted);

/*
 * A run that branches off another: lenient up to the occasion of the tape's last entry, which may
 * also answer 0; what follows is drawn as `random` draws it, with the run's own seed. A run that
 * does not reach the occasion is lenient to its end. `tape` is not empty.
 */
void sim_replay_init_branch(
        struct sim_replay *replay, const struct sim_tape *tape, uint32_t *sorted);

/* What a lenient replay answers: for strategies that begin with one. */
uint32_t sim__lenient_choose(struct sim_strategy *strategy, const struct sim_choice *choice);

/* After the run: NULL when the whole tape fitted, else one sentence on the first misfit. Of the
 * first run that ended: a judge replays prefixes of it, which no whole tape fits. */
const char *sim_replay_mismatch(const struct sim_replay *replay);

/* The key of `stream` under `seed`: Philox4x32-10 (Random123) once. Pinned by known answers. */
uint64_t sim_stream_key(uint64_t seed, uint32_t stream);

/* Draw number `ordinal` of the stream with `key`: a SplitMix64 finisher over key + ordinal * odd.
 * Pinned by known answers. */
static inline uint64_t
sim_stream_draw(uint64_t key, uint32_t ordinal)
{
    uint64_t x = key + (uint64_t)ordinal * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}
