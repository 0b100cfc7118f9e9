/*
 * seen.c -- footprints of steps, by what determined them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/dpor/seen.h"

#include <stddef.h>

#include "runtime/base/assert.h"

/* Above this load lookups get long. */
#define STEPS_FULL (DPOR_SEEN_STEPS * 3 / 4)

#define ASKED_MAX 16u

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

static void
prefix_init(
        struct prefix *prefix, const struct dpor_trace *trace, uint32_t i, const uint64_t *among)
{
    rt_assert(i <= trace->count);
    prefix->trace = trace;
    prefix->i = i;
    prefix->among = among;
    prefix->asked = 0;
}

static bool
contains(const struct prefix *prefix, uint32_t k)
{
    return k < prefix->i || (prefix->among != NULL && (prefix->among[k / 64] >> k % 64 & 1) != 0);
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
    uint64_t own = (uint64_t)transition->actor << 32 | transition->nth;
    uint64_t key = dpor_mix(dpor_mix(own + prefix->trace->data) + before);
    return key != 0 ? key : 1;
}

/* As version_of, by the cache. */
static uint64_t
version_in(struct prefix *prefix, struct sim_access access)
{
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
matches(const struct dpor_seen *seen, const struct dpor_seen_step *step, struct prefix *prefix)
{
    rt_assert(step->first + step->count <= seen->accesses_used);
    for (uint32_t a = step->first; a < step->first + step->count; a++) {
        if (version_in(prefix, seen->accesses[a]) != seen->versions[a]) {
            return false;
        }
    }
    return true;
}

/* The next step from *place on with `key` that matches the prefix; NULL: none, *place is free. */
static const struct dpor_seen_step *
find(const struct dpor_seen *seen, struct prefix *prefix, uint64_t key, uint32_t *place)
{
    rt_assert(seen->steps_used <= STEPS_FULL); /* Else the search might not end. */
    for (; seen->steps[*place].key != 0; *place = (*place + 1) % DPOR_SEEN_STEPS) {
        const struct dpor_seen_step *step = &seen->steps[*place];
        if (step->key == key && matches(seen, step, prefix)) {
            return step;
        }
    }
    return NULL;
}

static bool
touches_the_same(const struct dpor_seen *seen, const struct dpor_seen_step *step,
        const struct dpor_trace *trace, const struct dpor_transition *transition)
{
    bool same = step->count == transition->count && step->global == transition->global;
    rt_assert(transition->first + transition->count <= trace->accesses);
    for (uint32_t a = 0; a < step->count && same; a++) {
        struct sim_access one = seen->accesses[step->first + a];
        struct sim_access other = trace->all[transition->first + a];
        same = one.resource == other.resource && one.mode == other.mode;
    }
    return same;
}

static void
add(struct dpor_seen *seen, const struct prefix *prefix, const struct dpor_transition *transition,
        uint64_t key, uint32_t place)
{
    if (seen->steps_used == STEPS_FULL ||
            seen->accesses_used + transition->count > DPOR_SEEN_ACCESSES) {
        return;
    }
    rt_assert(key != 0 && seen->steps[place].key == 0);
    seen->steps[place] = (struct dpor_seen_step){.key = key,
            .first = seen->accesses_used,
            .count = (uint16_t)transition->count,
            .global = transition->global};
    for (uint32_t a = 0; a < transition->count; a++) {
        struct sim_access access = prefix->trace->all[transition->first + a];
        seen->accesses[seen->accesses_used] = access;
        seen->versions[seen->accesses_used] = version_of(prefix, access);
        seen->accesses_used++;
    }
    seen->steps_used++;
}

void
dpor_seen_learn(struct dpor_seen *seen, const struct dpor_trace *trace, uint32_t j)
{
    const struct dpor_transition *transition = &trace->transitions[j];
    struct prefix prefix;
    prefix_init(&prefix, trace, j, NULL);
    uint64_t key = key_of(&prefix, j);
    uint32_t place = (uint32_t)(key % DPOR_SEEN_STEPS);
    if (trace->all_conflict || transition->actor == 0 || transition->count > UINT16_MAX) {
        return;
    }
    const struct dpor_seen_step *step = find(seen, &prefix, key, &place);
    while (step != NULL && !touches_the_same(seen, step, trace, transition)) {
        place = (place + 1) % DPOR_SEEN_STEPS;
        step = find(seen, &prefix, key, &place);
    }
    if (step == NULL) {
        add(seen, &prefix, transition, key, place);
    }
}

bool
dpor_seen_find(const struct dpor_seen *seen, const struct dpor_trace *trace, uint32_t i,
        const uint64_t among[DPOR_WORDS], uint32_t j, struct dpor_footprint *ret)
{
    struct prefix prefix;
    prefix_init(&prefix, trace, i, among);
    rt_assert(i < j && !contains(&prefix, i));
    uint64_t key = key_of(&prefix, j);
    uint32_t place = (uint32_t)(key % DPOR_SEEN_STEPS);
    const struct dpor_seen_step *step = find(seen, &prefix, key, &place);
    if (step == NULL) {
        return false;
    }
    *ret = (struct dpor_footprint){seen->accesses + step->first, step->count, step->global};
    place = (place + 1) % DPOR_SEEN_STEPS;
    /* With other data it may have done something else. */
    return find(seen, &prefix, key, &place) == NULL;
}
