/*
 * spread.h -- one number between 0 and 1 from which a whole run is read, spread evenly over seeds.
 *
 * A weighted draw splits the interval in proportion to the weights; the number falls into one part,
 * and its position in that part is the number for the next draw, as in arithmetic coding. So a run
 * is one leaf of a tree whose leaves lie side by side in [0, 1), each as wide as it is probable:
 *
 *      0 ├──────── a ────────┼───── b ─────┼── c ──┤ 1
 *        ├─ aa ─┼─ ab ┼─ ac ─┤
 *
 * Seed s begins at s times the golden ratio, modulo 1 (a Weyl sequence): a leaf of probability p is
 * reached about once in each 1/p consecutive seeds, where independent numbers would leave gaps many
 * times that long. So a leaf that a sweep of N runs has missed is seldom likelier than 1/N. Over
 * all seeds each leaf is as probable as with independent numbers.
 *
 * The low bits, which a narrowing makes meaningless, are redrawn.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/core/decide/strategies.h"

struct sim_spread {
    uint64_t at;   /* In units of 2^-64. */
    uint64_t rest; /* The fraction of the last sim_spread_peek. */
    uint64_t key;
    uint32_t drawn;
};

/* Begins a run; `stream`: a number that only this strategy has. */
static inline void
sim_spread_begin(struct sim_spread *spread, uint64_t seed, uint32_t stream)
{
    spread->at = seed * UINT64_C(0x9e3779b97f4a7c15) + ((uint64_t)stream << 32);
    spread->key = sim_stream_key(seed, stream);
    spread->drawn = 0;
    spread->rest = 0;
}

/* A number below `total` (not 0). sim_spread_narrow must follow. */
static inline uint64_t
sim_spread_peek(struct sim_spread *spread, uint64_t total)
{
    __extension__ unsigned __int128 product = (unsigned __int128)spread->at * total;
    spread->rest = (uint64_t)product;
    return (uint64_t)(product >> 64);
}

/* Narrows the interval to the part that was drawn: it has `width`, and the number was `offset`
 * above its beginning. */
static inline void
sim_spread_narrow(struct sim_spread *spread, uint64_t offset, uint64_t width)
{
    __extension__ unsigned __int128 place = (unsigned __int128)offset << 64 | spread->rest;
    spread->at = (uint64_t)(place / width);
    spread->at ^= sim_stream_draw(spread->key, spread->drawn++) & 0xffff;
}

/* A number below `n` (not 0), all equally probable. */
static inline uint32_t
sim_spread_below(struct sim_spread *spread, uint32_t n)
{
    uint32_t drawn = (uint32_t)sim_spread_peek(spread, n);
    sim_spread_narrow(spread, 0, 1);
    return drawn;
}
