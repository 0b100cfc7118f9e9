/*
 * species.c -- counting in a table that halves its sample when it is full.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/cover/species.h"

#include <string.h>

#include "runtime/base/assert.h"

void
sim_species_init(struct sim_species *species, struct sim_species_entry *entries, uint32_t capacity)
{
    rt_assert(capacity >= 16);
    rt_assert((capacity & (capacity - 1)) == 0);
    *species = (struct sim_species){.entries = entries, .capacity = capacity};
}

void
sim_species_clear(struct sim_species *species)
{
    if (species->used > 0) {
        memset(species->entries, 0, species->capacity * sizeof(*species->entries));
    }
    sim_species_init(species, species->entries, species->capacity);
}

/* A hash, not 0: its low bits decide whether it is kept, its high bits in which slot. */
static uint64_t
spread(uint64_t which)
{
    which = (which ^ which >> 32) * UINT64_C(0xd6e8feb86659fd93);
    which = (which ^ which >> 32) * UINT64_C(0xd6e8feb86659fd93);
    which ^= which >> 32;
    return which != 0 ? which : 1;
}

static bool
is_kept(const struct sim_species *species, uint64_t number)
{
    return (number & ((UINT64_C(1) << species->level) - 1)) == 0;
}

static struct sim_species_entry *
place_of(const struct sim_species *species, uint64_t number)
{
    uint32_t at = (uint32_t)(number >> 32) & (species->capacity - 1);
    while (species->entries[at].species != 0 && species->entries[at].species != number) {
        at = (at + 1) & (species->capacity - 1);
    }
    return &species->entries[at];
}

/* An entry has so many runs now, instead of `before`; 0: it is not there. */
static void
recount(struct sim_species *species, uint64_t before, uint64_t now)
{
    species->once += now == 1;
    species->once -= before == 1;
    species->twice += now == 2;
    species->twice -= before == 2;
    species->used += now > 0;
    species->used -= before > 0;
}

/* Removes the entries that are not kept any more, in place, and reinserts those after a hole. */
static void
drop_half(struct sim_species *species)
{
    rt_assert(species->level < 63);
    species->level++;
    for (uint32_t i = 0; i < species->capacity; i++) {
        struct sim_species_entry *entry = &species->entries[i];
        if (entry->species != 0 && !is_kept(species, entry->species)) {
            recount(species, entry->runs, 0);
            *entry = (struct sim_species_entry){0, 0};
        }
    }
    /* Twice around: the second round fixes entries that the first has moved across the end. */
    for (uint32_t i = 0; i < 2 * species->capacity; i++) {
        struct sim_species_entry *entry = &species->entries[i & (species->capacity - 1)];
        struct sim_species_entry moved = *entry;
        if (moved.species != 0) {
            *entry = (struct sim_species_entry){0, 0};
            *place_of(species, moved.species) = moved;
        }
    }
}

static void
add(struct sim_species *species, uint64_t number, uint64_t runs)
{
    if (!is_kept(species, number)) {
        return;
    }
    rt_assert(species->used < species->capacity); /* Else a search might not end. */
    struct sim_species_entry *entry = place_of(species, number);
    recount(species, entry->runs, entry->runs + runs);
    *entry = (struct sim_species_entry){number, entry->runs + runs};
    while (species->used > species->capacity / 4 * 3) {
        drop_half(species);
    }
}

void
sim_species_note(struct sim_species *species, uint64_t which, uint64_t runs)
{
    species->runs += runs;
    add(species, spread(which), runs);
}

void
sim_species_merge(struct sim_species *species, const struct sim_species *more)
{
    while (species->level < more->level) {
        drop_half(species);
    }
    species->runs += more->runs;
    for (uint32_t i = 0; i < more->capacity; i++) {
        if (more->entries[i].species != 0) {
            add(species, more->entries[i].species, more->entries[i].runs);
        }
    }
}

struct sim_census
sim_species_census(const struct sim_species *species)
{
    rt_assert(species->once + species->twice <= species->used);
    return (struct sim_census){
            .runs = species->runs,
            .seen = (uint64_t)species->used << species->level,
            .once = (uint64_t)species->once << species->level,
            .twice = (uint64_t)species->twice << species->level,
            .level = species->level,
    };
}

uint32_t
sim_census_unseen_ppm(const struct sim_census *census)
{
    if (census->runs == 0 || census->once >= census->runs) {
        return 1000000;
    }
    return (uint32_t)(census->once * UINT64_C(1000000) / census->runs);
}

uint64_t
sim_census_chao1(const struct sim_census *census)
{
    uint64_t once = census->once;
    /* Of the two factors the even one is halved: exact, and no overflow below 2^32 species. */
    uint64_t pairs =
            once == 0 ? 0 : (once % 2 == 0 ? once / 2 * (once - 1) : (once - 1) / 2 * once);
    return census->seen + pairs / (census->twice + 1);
}
