/*
 * steps.c -- two tables of footprints.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/dpor/steps.h"

#include <string.h>

/* Above this load lookups get long, and without a free place they would not end. */
#define FULL(capacity) ((capacity)*3 / 4)

#define ASKED_MAX 16u

/* ---- Unions. --------------------------------------------------------------------------------- */

static uint64_t
union_key(uint32_t actor, uint32_t nth)
{
    return (uint64_t)actor << 32 | nth;
}

static uint32_t
union_place(const struct dpor_steps *steps, uint64_t key)
{
    rt_assert(steps->unions_used <= FULL(DPOR_UNION_STEPS));
    uint32_t place = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 40) % DPOR_UNION_STEPS;
    while (steps->unions[place].key != 0 && steps->unions[place].key != key) {
        place = (place + 1) % DPOR_UNION_STEPS;
    }
    return place;
}

/* Moves the accesses of `step` to the end of the pool, where one more fits. False: it is full. */
static bool
grow_union(struct dpor_steps *steps, struct dpor_step *step)
{
    rt_assert(step->first + step->count <= steps->union_accesses_used);
    if (step->first + step->count != steps->union_accesses_used) {
        if (steps->union_accesses_used + step->count >= DPOR_STEPS_ACCESSES) {
            return false;
        }
        memcpy(steps->union_accesses + steps->union_accesses_used,
                steps->union_accesses + step->first, step->count * sizeof(struct sim_access));
        step->first = steps->union_accesses_used;
        steps->union_accesses_used += step->count;
    }
    return steps->union_accesses_used < DPOR_STEPS_ACCESSES && step->count < UINT16_MAX;
}

static void
add_to_union(struct dpor_steps *steps, struct dpor_step *step, struct sim_access access)
{
    if (sim_access_merge(steps->union_accesses + step->first, step->count, access)) {
        return;
    }
    if (!grow_union(steps, step)) {
        step->global = true;
        return;
    }
    rt_assert(step->first + step->count == steps->union_accesses_used);
    steps->union_accesses[steps->union_accesses_used++] = access;
    step->count++;
}

static void
learn_union(struct dpor_steps *steps, const struct dpor_trace *trace,
        const struct dpor_transition *transition)
{
    uint64_t key = union_key(transition->actor, transition->nth);
    struct dpor_step *step = &steps->unions[union_place(steps, key)];
    if (step->key == 0 && steps->unions_used == FULL(DPOR_UNION_STEPS)) {
        return;
    }
    if (step->key == 0) {
        *step = (struct dpor_step){.key = key, .first = steps->union_accesses_used};
        steps->unions_used++;
    }
    rt_assert(step->key == key);
    rt_assert(transition->first + transition->count <= trace->accesses);
    step->global = step->global || transition->global;
    for (uint32_t i = 0; i < transition->count && !step->global; i++) {
        add_to_union(steps, step, trace->all[transition->first + i]);
    }
}

struct dpor_footprint
dpor_steps_superset(const struct dpor_steps *steps, uint32_t actor, uint32_t nth)
{
    const struct dpor_step *step = &steps->unions[union_place(steps, union_key(actor, nth))];
    if (actor == 0 || step->key == 0) {
        return (struct dpor_footprint){NULL, 0, true};
    }
    rt_assert(step->first + step->count <= steps->union_accesses_used);
    return (struct dpor_footprint){steps->union_accesses + step->first, step->count, step->global};
}

/* ---- By what determines a step. -------------------------------------------------------------- */

/* A prefix of a run: all transitions before i, and some of the later ones. */
struct prefix {
    const struct dpor_trace *trace;
    uint32_t i;
    const uint64_t *among; /* NULL: no later ones. */
    /* A cache of versions: consecutive lookups ask for the same. */
    uint32_t asked;
    struct sim_access accesses[ASKED_MAX];
    uint64_t versions[ASKED_MAX];
};

static bool
contains(const struct prefix *prefix, uint32_t k)
{
    return k < prefix->i || (prefix->among != NULL && dpor_has(prefix->among, k));
}

/* A hash of the steps of the prefix that conflict with `access`. */
static uint64_t
version_of(const struct prefix *prefix, struct sim_access access)
{
    const struct dpor_trace *trace = prefix->trace;
    uint64_t version = 0;
    uint32_t end = prefix->among != NULL ? trace->count : prefix->i;
    rt_assert(end >= prefix->i);
    for (uint32_t k = 0; k < end; k++) {
        const struct dpor_transition *transition = &trace->transitions[k];
        const struct sim_access *all = trace->all + transition->first;
        for (uint32_t a = 0; a < transition->count && contains(prefix, k); a++) {
            version += sim_accesses_conflict(all[a], access) ? dpor_mix(transition->name) : 0;
        }
    }
    return version;
}

/* The key of the step of transition j after the prefix. */
static uint64_t
key_of(const struct prefix *prefix, uint32_t j)
{
    const struct dpor_transition *transition = &prefix->trace->transitions[j];
    uint64_t before = 0;
    rt_assert(j < prefix->trace->count && !contains(prefix, j));
    for (uint32_t k = 0; k < j; k++) {
        const struct dpor_transition *each = &prefix->trace->transitions[k];
        before = each->actor == transition->actor && contains(prefix, k) ? each->name : before;
    }
    uint64_t own = union_key(transition->actor, transition->nth);
    uint64_t key = dpor_mix(dpor_mix(own + prefix->trace->data) + before);
    return key != 0 ? key : 1;
}

/* As version_of, by the cache. */
static uint64_t
version_in(struct prefix *prefix, struct sim_access access)
{
    rt_assert(prefix->asked <= ASKED_MAX);
    for (uint32_t i = 0; i < prefix->asked; i++) {
        if (prefix->accesses[i].resource == access.resource &&
                prefix->accesses[i].mode == access.mode) {
            return prefix->versions[i];
        }
    }
    uint64_t version = version_of(prefix, access);
    if (prefix->asked < ASKED_MAX) {
        prefix->accesses[prefix->asked] = access;
        prefix->versions[prefix->asked++] = version;
    }
    return version;
}

static bool
matches(const struct dpor_steps *steps, const struct dpor_step *step, struct prefix *prefix)
{
    rt_assert(step->first + step->count <= steps->exact_accesses_used);
    for (uint32_t a = step->first; a < step->first + step->count; a++) {
        if (version_in(prefix, steps->exact_accesses[a]) != steps->versions[a]) {
            return false;
        }
    }
    return true;
}

/* The next step from *place on with `key` that matches the prefix; NULL: none, *place is free. */
static const struct dpor_step *
find(const struct dpor_steps *steps, struct prefix *prefix, uint64_t key, uint32_t *place)
{
    rt_assert(steps->exact_used <= FULL(DPOR_EXACT_STEPS));
    for (; steps->exact[*place].key != 0; *place = (*place + 1) % DPOR_EXACT_STEPS) {
        const struct dpor_step *step = &steps->exact[*place];
        if (step->key == key && matches(steps, step, prefix)) {
            return step;
        }
    }
    return NULL;
}

static bool
touches_the_same(const struct dpor_steps *steps, const struct dpor_step *step,
        const struct dpor_trace *trace, const struct dpor_transition *transition)
{
    bool same = step->count == transition->count && step->global == transition->global;
    rt_assert(transition->first + transition->count <= trace->accesses);
    for (uint32_t a = 0; a < step->count && same; a++) {
        struct sim_access one = steps->exact_accesses[step->first + a];
        struct sim_access other = trace->all[transition->first + a];
        same = one.resource == other.resource && one.mode == other.mode;
    }
    return same;
}

static void
add_exact(struct dpor_steps *steps, const struct prefix *prefix,
        const struct dpor_transition *transition, uint64_t key, uint32_t place)
{
    if (steps->exact_used == FULL(DPOR_EXACT_STEPS) ||
            steps->exact_accesses_used + transition->count > DPOR_STEPS_ACCESSES) {
        return;
    }
    rt_assert(key != 0 && steps->exact[place].key == 0);
    steps->exact[place] = (struct dpor_step){.key = key,
            .first = steps->exact_accesses_used,
            .count = (uint16_t)transition->count,
            .global = transition->global};
    for (uint32_t a = 0; a < transition->count; a++) {
        struct sim_access access = prefix->trace->all[transition->first + a];
        steps->versions[steps->exact_accesses_used] = version_of(prefix, access);
        steps->exact_accesses[steps->exact_accesses_used++] = access;
    }
    steps->exact_used++;
}

static void
learn_exact(struct dpor_steps *steps, const struct dpor_trace *trace, uint32_t j)
{
    const struct dpor_transition *transition = &trace->transitions[j];
    struct prefix prefix = {.trace = trace, .i = j};
    uint64_t key = key_of(&prefix, j);
    uint32_t place = (uint32_t)(key % DPOR_EXACT_STEPS);
    if (trace->all_conflict || transition->count > UINT16_MAX) {
        return;
    }
    rt_assert(transition->actor != 0); /* A move of the clock is no step. */
    const struct dpor_step *step = find(steps, &prefix, key, &place);
    while (step != NULL && !touches_the_same(steps, step, trace, transition)) {
        place = (place + 1) % DPOR_EXACT_STEPS;
        step = find(steps, &prefix, key, &place);
    }
    if (step == NULL) {
        add_exact(steps, &prefix, transition, key, place);
    }
}

void
dpor_steps_learn(struct dpor_steps *steps, const struct dpor_trace *trace, uint32_t j)
{
    rt_assert(j < trace->count);
    if (trace->transitions[j].actor != 0) {
        learn_union(steps, trace, &trace->transitions[j]);
        learn_exact(steps, trace, j);
    }
}

bool
dpor_steps_exact(const struct dpor_steps *steps, const struct dpor_trace *trace, uint32_t i,
        const uint64_t among[DPOR_WORDS], uint32_t j, struct dpor_footprint *ret)
{
    struct prefix prefix = {.trace = trace, .i = i, .among = among};
    rt_assert(i < j && !contains(&prefix, i));
    uint64_t key = key_of(&prefix, j);
    uint32_t place = (uint32_t)(key % DPOR_EXACT_STEPS);
    const struct dpor_step *step = find(steps, &prefix, key, &place);
    if (step == NULL) {
        return false;
    }
    rt_assert(step->key == key && step->first + step->count <= steps->exact_accesses_used);
    *ret = (struct dpor_footprint){steps->exact_accesses + step->first, step->count, step->global};
    place = (place + 1) % DPOR_EXACT_STEPS;
    /* With other data it may have done something else. */
    return find(steps, &prefix, key, &place) == NULL;
}
