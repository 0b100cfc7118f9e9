/*
 * facts.c -- a table with open addressing, over borrowed memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/learn/facts.h"

#include <string.h>

#include "runtime/base/assert.h"

/* Of the index, where there are few facts: a page. */
#define PLACES_MIN 1024u

size_t
sim_facts_size(uint32_t capacity)
{
    return capacity * sizeof(struct sim_fact) + 2 * (size_t)capacity * sizeof(uint32_t);
}

void
sim_facts_lay_out(struct sim_facts *facts, void *memory, uint32_t capacity)
{
    rt_assert(capacity >= 2);
    rt_assert((capacity & (capacity - 1)) == 0);
    uint32_t places = capacity < PLACES_MIN / 2 ? 2 * capacity : PLACES_MIN;
    *facts = (struct sim_facts){.entries = memory, .capacity = capacity, .mask = places - 1};
    facts->index = (uint32_t *)(void *)(facts->entries + capacity);
}

void
sim_facts_init(struct sim_facts *facts, void *memory, uint32_t capacity)
{
    sim_facts_lay_out(facts, memory, capacity);
    memset(facts->index, 0, (facts->mask + (size_t)1) * sizeof(*facts->index));
}

static uint32_t
place_of(const struct sim_facts *facts, uint32_t kind, uint64_t a, uint32_t b)
{
    uint64_t word = a ^ ((uint64_t)b << 32 | (uint64_t)b >> 7) ^ (uint64_t)kind << 57;
    word *= UINT64_C(0x9e3779b97f4a7c15);
    word ^= word >> 29;
    word *= UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)(word >> 32) & facts->mask;
}

/* The place of the fact in the index, or the free one for it. */
static uint32_t
find(const struct sim_facts *facts, uint32_t kind, uint64_t a, uint32_t b)
{
    uint32_t place = place_of(facts, kind, a, b);
    while (facts->index[place] != 0) {
        const struct sim_fact *fact = &facts->entries[facts->index[place] - 1];
        if (fact->a == a && fact->b == b && fact->kind == kind) {
            break;
        }
        place = (place + 1) & facts->mask;
    }
    return place;
}

/* Makes the index of all entries, at most half of it used. */
static void
set_index(struct sim_facts *facts, uint32_t places)
{
    while (places < 2 * facts->count) {
        places *= 2;
    }
    rt_assert(places <= 2 * facts->capacity);
    facts->mask = places - 1;
    memset(facts->index, 0, places * sizeof(*facts->index));
    for (uint32_t i = 0; i < facts->count; i++) {
        const struct sim_fact *fact = &facts->entries[i];
        facts->index[find(facts, fact->kind, fact->a, fact->b)] = i + 1;
    }
}

void
sim_facts_clear(struct sim_facts *facts)
{
    sim_facts_init(facts, facts->entries, facts->capacity);
}

/* The entry, made if it is missing; NULL when the table is full. */
static struct sim_fact *
entry_of(struct sim_facts *facts, uint32_t kind, uint64_t a, uint32_t b, bool *ret_new)
{
    uint32_t place = find(facts, kind, a, b);
    *ret_new = facts->index[place] == 0;
    if (!*ret_new) {
        return &facts->entries[facts->index[place] - 1];
    }
    if (facts->count == facts->capacity) {
        facts->lost++;
        return NULL;
    }
    rt_assert(2 * facts->count <= facts->mask + 1); /* Else a lookup gets long. */
    struct sim_fact *fact = &facts->entries[facts->count++];
    *fact = (struct sim_fact){.a = a, .b = b, .kind = kind};
    facts->index[place] = facts->count;
    if (2 * facts->count > facts->mask + 1) {
        set_index(facts, 2 * (facts->mask + 1));
    }
    return fact;
}

bool
sim_facts_note(struct sim_facts *facts, enum sim_fact_kind kind, uint64_t a, uint32_t b,
        uint64_t run, uint64_t amount)
{
    bool is_new = false;
    struct sim_fact *fact = entry_of(facts, (uint32_t)kind, a, b, &is_new);
    if (fact == NULL) {
        return false;
    }
    if (is_new) {
        fact->first = run;
    }
    if (is_new || fact->last != run) {
        fact->runs++;
        fact->now = 0;
        facts->of_run = sim_facts_of_run(facts, run) + 1;
        facts->run = run;
    }
    rt_assert(fact->first <= run && fact->last <= run);
    fact->last = run;
    fact->sum += amount;
    fact->now += amount;
    fact->most = fact->now > fact->most ? fact->now : fact->most;
    return is_new;
}

static void
add(struct sim_fact *fact, const struct sim_fact *more)
{
    fact->last = more->last;
    fact->runs += more->runs;
    fact->sum += more->sum;
    fact->most = more->most > fact->most ? more->most : fact->most;
    fact->now = more->now;
}

bool
sim_facts_add(struct sim_facts *facts, const struct sim_fact *more)
{
    bool is_new = false;
    struct sim_fact *fact = entry_of(facts, more->kind, more->a, more->b, &is_new);
    if (fact != NULL && is_new) {
        *fact = *more;
    } else if (fact != NULL) {
        add(fact, more);
    }
    return fact != NULL && is_new;
}

void
sim_facts_copy(struct sim_facts *to, const struct sim_facts *from)
{
    rt_assert(to->capacity >= from->count);
    sim_facts_clear(to);
    memcpy(to->entries, from->entries, from->count * sizeof(*to->entries));
    to->count = from->count;
    to->lost = from->lost;
    set_index(to, to->mask + 1);
}

const struct sim_fact *
sim_facts_find(const struct sim_facts *facts, enum sim_fact_kind kind, uint64_t a, uint32_t b)
{
    if (facts->count == 0) {
        return NULL; /* Perhaps there is no table at all. */
    }
    uint32_t place = find(facts, (uint32_t)kind, a, b);
    return facts->index[place] != 0 ? &facts->entries[facts->index[place] - 1] : NULL;
}
