/*
 * species.h -- how many different runs there were, and how many more there may be.
 *
 * A *species* is a class of runs: here those with the same partial-order hash. Two classical
 * estimates follow from the number of species that were seen once, twice and more often:
 *
 *      Good-Turing   once / runs             how likely it is that the next run is of a new one
 *      Chao1         seen + once(once-1) / 2(twice+1)   at least so many there are (bias-corrected)
 *
 * Both hold for runs that were drawn alike and independently, so only those of a sampler that
 * does not learn may be counted.
 *
 * When its memory is full, the counter keeps only species whose number has one more low bit 0 than
 * before, about half of them; `level` counts how often, and results are scaled by 2^level. So
 * counters can be merged in any order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Capacity for the species of a sweep; beyond it they are sampled. */
#define SIM_RUN_SPECIES (1u << 16)

struct sim_species_entry {
    uint64_t species; /* 0: the slot is free. */
    uint64_t runs;
};

struct sim_species {
    struct sim_species_entry *entries;
    uint32_t capacity; /* A power of two, at least 16. */
    uint32_t used;
    uint32_t level; /* Only species with so many low bits 0 are kept. */
    uint64_t runs;  /* Noted, of kept species or not. */
    uint32_t once;  /* Kept species that were seen in one run only … */
    uint32_t twice; /* … and in two. */
};

/* An empty counter. *Borrows* `entries`, which are zeroed. */
void sim_species_init(
        struct sim_species *species, struct sim_species_entry *entries, uint32_t capacity);

/* Forgets all. */
void sim_species_clear(struct sim_species *species);

/* Counts `runs` more runs of the species `which`, which may be 0. */
void sim_species_note(struct sim_species *species, uint64_t which, uint64_t runs);

/* Adds the counts of `more`. */
void sim_species_merge(struct sim_species *species, const struct sim_species *more);

/* The counts, scaled by 2^level. */
struct sim_census {
    uint64_t runs;
    uint64_t seen;  /* Different species. */
    uint64_t once;  /* Of those, seen in one run only … */
    uint64_t twice; /* … and in two. */
    uint32_t level;
};

struct sim_census sim_species_census(const struct sim_species *species);

/* Good-Turing: how likely the next run is of a new species, in millionths; 1,000,000 before the
 * first run. */
uint32_t sim_census_unseen_ppm(const struct sim_census *census);

/* Chao1: how many species there are at least, seen and unseen. */
uint64_t sim_census_chao1(const struct sim_census *census);
