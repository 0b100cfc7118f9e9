/*
 * enabled.h -- the enabled actors, in the order in which they were enabled.
 *
 *      ring   [ . . . | a b c d | . . . . . ]      a window that moves to the right
 *                     ^head   ^head + count        and back to the start at the end
 *
 * Everything here is on the path of every step, and inline for that reason alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/assert.h"
#include "sim/core/actor.h"

/* Twice as long as needed: the window moves back once in SIM_ACTORS_MAX pushes at most. */
#define SIM_ENABLED_RING (2 * (SIM_ACTORS_MAX + 1))

/* This many entries after the ring may be read and written, for moves of one size. */
#define SIM_ENABLED_SLACK 64u

struct sim_enabled {
    uint16_t *ring; /* Indices of actors; SIM_ENABLED_RING + SIM_ENABLED_SLACK of them. */
    uint32_t head;
    uint32_t count;
    bool fronted; /* Some were put at the head: the head is not the one that waits longest. */
};

/* actor.c: moves the window back to the start of the ring. */
void sim__enabled_rewind(struct sim_enabled *enabled);

/* actor.c: moves a window that begins at the start of the ring away from there. */
void sim__enabled_make_front(struct sim_enabled *enabled);

/* actor.c: closes the gap at place `k` of the window. */
void sim__enabled_close(struct sim_enabled *enabled, uint32_t k);

static inline void
sim__enabled_push(struct sim_enabled *enabled, uint32_t index)
{
    if (__builtin_expect(enabled->head + enabled->count == SIM_ENABLED_RING, 0)) {
        sim__enabled_rewind(enabled);
    }
    enabled->ring[enabled->head + enabled->count++] = (uint16_t)index;
}

/* The next head: for an actor that has never stopped being enabled. */
static inline void
sim__enabled_push_front(struct sim_enabled *enabled, uint32_t index)
{
    if (__builtin_expect(enabled->head == 0, 0)) {
        sim__enabled_make_front(enabled);
    }
    enabled->fronted = true;
    enabled->ring[--enabled->head] = (uint16_t)index;
    enabled->count++;
}

/* Takes out the one at place `k`. The first two share one branch: which of two is picked is random,
 * and the processor cannot predict it. */
static inline uint32_t
sim__enabled_take(struct sim_enabled *enabled, uint32_t k)
{
    rt_assert(k < enabled->count);
    uint16_t *window = enabled->ring + enabled->head;
    uint32_t index = window[k];
    if (k < 2) {
        window[k] = window[0];
        enabled->head++;
    } else {
        sim__enabled_close(enabled, k);
    }
    enabled->count--;
    return index;
}
