/*
 * tape.h -- the deviations of a run, in the order in which they were made.
 *
 * After the end of its tape a run is the baseline, so every prefix of a tape is a
 * tape. Only a run writes tapes that are kept: they hold what was done, which may
 * differ from what a strategy answered.
 *
 * Format, in tokens and in the database: LEB128 varints, one group a deviation:
 * stream, ordinal, kind, n, index, id. The stream and id are 32-bit hashes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sim_deviation {
    uint32_t stream;
    uint32_t ordinal;
    uint32_t id; /* Of the alternative taken; 0 when it has none. */
    uint8_t kind;
    uint8_t n;
    uint8_t index; /* 1 .. n-1 */
    uint8_t reserved;
};

/* Deviations in the caller's memory. */
struct sim_tape {
    struct sim_deviation *entries;
    uint32_t count;
    uint32_t capacity;
};

/* Appends; false when the tape is full, and nothing has changed. */
bool sim_tape_append(struct sim_tape *tape, const struct sim_deviation *deviation);

/* The most bytes that sim_tape_encode writes. */
size_t sim_tape_encoded_max(const struct sim_tape *tape);

/* Writes the tape to `bytes`, of sim_tape_encoded_max, and returns how many were used. */
size_t sim_tape_encode(const struct sim_tape *tape, uint8_t *bytes);

/* Reads `size` untrusted bytes into the caller's `tape`. RT_E_INVALID when they are not a tape
 * (cut, kind or index out of range, number too long), RT_E_FULL when it does not fit; *tape is
 * empty then. */
RT_MUST_CHECK rt_err sim_tape_decode(struct sim_tape *tape, const uint8_t *bytes, size_t size);

#ifdef __cplusplus
}
#endif
