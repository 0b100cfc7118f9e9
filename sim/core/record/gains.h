/*
 * gains.h -- what a stretch of a run achieved: completions, consumptions, progress.
 *
 * The judge compares two replays of one run, one with a spurious poll and one without
 * (judge/progress.h): a task was blocked although it could make progress if the first gains
 * something that the second does not. So during these replays each gain is recorded here, by kind
 * and object, with its time.
 *
 * A gain is the end of a task or of a loop (not a cancellation), something consumed (bytes, an
 * item, an event, a permit), or progress that the scenario reports. A permit of a mutex or a
 * semaphore that is released in the poll that took it is not a gain.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SIM_GAINS_MAX 4096u

enum sim_gain_kind {
    SIM_GAIN_COMPLETED, /* Of a task, by its object. */
    SIM_GAIN_RETURNED,  /* Of a loop, by its actor's index. */
    SIM_GAIN_CONSUMED,  /* By the object it was taken from. */
    SIM_GAIN_PROGRESS   /* By site. */
};

struct sim_gain {
    uint32_t kind;
    uint32_t of;
    uint64_t at_ns;
    uint64_t amount;
    uint64_t step; /* With `actor`: the poll that gained it. */
    uint32_t actor;
};

/* Empty when all zero. Gains beyond SIM_GAINS_MAX are dropped, and `full` is set. */
struct sim_gains {
    uint32_t count;
    bool full;
    struct sim_gain all[SIM_GAINS_MAX];
};

void sim_gains_clear(struct sim_gains *gains);

void sim_gains_add(struct sim_gains *gains, const struct sim_gain *gain);

/* `amount` was put back into `of`: removes what the same poll (`step`, `actor`) had consumed of
 * it. */
void sim_gains_put_back(
        struct sim_gains *gains, uint32_t of, uint64_t amount, uint64_t step, uint32_t actor);

/* How many there are of that kind and object. */
uint32_t sim_gains_count(const struct sim_gains *gains, uint32_t kind, uint32_t of);

/* Whether the gain at `place` is the first one of its kind and object. */
bool sim_gains_is_first(const struct sim_gains *gains, uint32_t place);

/* Whether `with` has more than `without` of some kind and object. */
bool sim_gains_more(const struct sim_gains *with, const struct sim_gains *without);

/*
 * Whether a gain of that kind and object is earlier in `with` than in `without`, by more than
 * `slack_ns`. They are matched from the last one backwards. False where `with` has fewer than
 * `without`.
 */
bool sim_gains_earlier(const struct sim_gains *with, const struct sim_gains *without,
        uint64_t slack_ns, uint32_t kind, uint32_t of);
