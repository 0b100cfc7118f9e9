/*
 * spread.h -- one number between 0 and 1 from which a whole run is read, spread evenly over seeds.
 *
 * A draw out of weights splits the number's interval: it falls into the part of one of them,
 * and goes on as its place in that part, as in arithmetic coding. So a run that makes its draws
 * this way is one leaf of a tree whose leaves lie side by side in [0, 1), each as wide as it
 * is probable:
 *
 *      0 ├──────── a ────────┼───── b ─────┼── c ──┤ 1
 *        ├─ aa ─┼─ ab ┼─ ac ─┤
 *
 * Seed s begins at s times the golden ratio, modulo 1. The numbers of consecutive seeds leave no
 * gap for long (they are a Weyl sequence): a leaf of probability p is met about once in each 1/p
 * seeds, and not, as with independent numbers, with gaps many times that. What a sweep of N runs
 * has not met is therefore seldom likelier than 1/N. Over all seeds each leaf is as probable as
 * before.
 *
 * The low bits, which a narrowing makes meaningless, are drawn again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_SEARCH_SPREAD_H
#define SIM_SEARCH_SPREAD_H

#include "sim/core/strategies.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sim_spread {
    uint64_t at;   /* In units of 2^-64. */
    uint64_t rest; /* Below the number that was told last. */
    uint64_t key;
    uint32_t drawn;
};

/* Begins a run; `stream`: a number of the strategy's own. */
static inline void
sim_spread_begin(struct sim_spread *spread, uint64_t seed, uint32_t stream)
{
    spread->at = seed * UINT64_C(0x9e3779b97f4a7c15) + ((uint64_t)stream << 32);
    spread->key = sim_stream_key(seed, stream);
    spread->drawn = 0;
    spread->rest = 0;
}

/* A number below `total` (not 0). Between two of them, sim_spread_narrow. */
static inline uint64_t
sim_spread_look(struct sim_spread *spread, uint64_t total)
{
    __extension__ unsigned __int128 product = (unsigned __int128)spread->at * total;
    spread->rest = (uint64_t)product;
    return (uint64_t)(product >> 64);
}

/* The number was `offset` behind the beginning of a part of `width`, into which it goes. */
static inline void
sim_spread_narrow(struct sim_spread *spread, uint64_t offset, uint64_t width)
{
    __extension__ unsigned __int128 place = (unsigned __int128)offset << 64 | spread->rest;
    spread->at = (uint64_t)(place / width);
    spread->at ^= sim_stream_draw(spread->key, spread->drawn++) & 0xffff;
}

/* A number below `n` (not 0), all alike. */
static inline uint32_t
sim_spread_below(struct sim_spread *spread, uint32_t n)
{
    uint32_t drawn = (uint32_t)sim_spread_look(spread, n);
    sim_spread_narrow(spread, 0, 1);
    return drawn;
}

#ifdef __cplusplus
}
#endif
#endif
