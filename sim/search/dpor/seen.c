/*
 * seen.c -- steps that were taken before, by what they found.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/dpor/seen.h"

#include <stddef.h>

/* So full that a search for a place gets long. */
#define STEPS_FULL (DPOR_SEEN_STEPS * 3 / 4)

#define ASKED_MAX 16u

/* Part of a run: what came before i, and some of what came after it. */
struct part {
    const struct dpor_trace *trace;
    uint32_t i;
    const uint64_t *among; /* NULL: nothing after it. */
    /* What was asked of it: steps that are looked through one after the other ask for the same. */
    uint32_t asked;
    struct sim_access accesses[ASKED_MAX];
    uint64_t versions[ASKED_MAX];
};

static void
part_init(struct part *part, const struct dpor_trace *trace, uint32_t i, const uint64_t *among)
{
    part->trace = trace;
    part->i = i;
    part->among = among;
    part->asked = 0;
}

static bool
holds(const struct part *part, uint32_t k)
{
    return k < part->i || (part->among != NULL && (part->among[k / 64] >> k % 64 & 1) != 0);
}

/* Who of the part touched it in conflict with `access`. */
static uint64_t
version_of(const struct part *part, struct sim_access access)
{
    const struct dpor_trace *trace = part->trace;
    uint64_t version = 0;
    uint32_t end = part->among != NULL ? trace->count : part->i;
    for (uint32_t k = 0; k < end; k++) {
        const struct dpor_transition *transition = &trace->transitions[k];
        const struct sim_access *all = trace->all + transition->first;
        for (uint32_t a = 0; a < transition->count && holds(part, k); a++) {
            version += sim_accesses_conflict(all[a], access) ? dpor_mix(transition->name) : 0;
        }
    }
    return version;
}

/* Of the step of transition j after the part: who it is, and how it stands. */
static uint64_t
key_of(const struct part *part, uint32_t j)
{
    const struct dpor_transition *transition = &part->trace->transitions[j];
    uint64_t before = 0;
    for (uint32_t k = 0; k < j; k++) {
        const struct dpor_transition *each = &part->trace->transitions[k];
        before = each->actor == transition->actor && holds(part, k) ? each->name : before;
    }
    uint64_t own = (uint64_t)transition->actor << 32 | transition->nth;
    uint64_t key = dpor_mix(dpor_mix(own + part->trace->data) + before);
    return key != 0 ? key : 1;
}

/* As version_of, once for each. */
static uint64_t
version_in(struct part *part, struct sim_access access)
{
    for (uint32_t i = 0; i < part->asked; i++) {
        if (part->accesses[i].resource == access.resource &&
                part->accesses[i].mode == access.mode) {
            return part->versions[i];
        }
    }
    uint64_t version = version_of(part, access);
    if (part->asked < ASKED_MAX) {
        part->accesses[part->asked] = access;
        part->versions[part->asked++] = version;
    }
    return version;
}

static bool
is_the_same(const struct dpor_seen *seen, const struct dpor_seen_step *step, struct part *part)
{
    for (uint32_t a = step->first; a < step->first + step->count; a++) {
        if (version_in(part, seen->accesses[a]) != seen->versions[a]) {
            return false;
        }
    }
    return true;
}

/* The next step with `key` from *place on, after the same part; NULL: there is none, and *place is
 * free. */
static const struct dpor_seen_step *
find(const struct dpor_seen *seen, struct part *part, uint64_t key, uint32_t *place)
{
    for (; seen->steps[*place].key != 0; *place = (*place + 1) % DPOR_SEEN_STEPS) {
        const struct dpor_seen_step *step = &seen->steps[*place];
        if (step->key == key && is_the_same(seen, step, part)) {
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
    for (uint32_t a = 0; a < step->count && same; a++) {
        struct sim_access one = seen->accesses[step->first + a];
        struct sim_access other = trace->all[transition->first + a];
        same = one.resource == other.resource && one.mode == other.mode;
    }
    return same;
}

static void
add(struct dpor_seen *seen, const struct part *part, const struct dpor_transition *transition,
        uint64_t key, uint32_t place)
{
    if (seen->steps_used == STEPS_FULL ||
            seen->accesses_used + transition->count > DPOR_SEEN_ACCESSES) {
        return;
    }
    seen->steps[place] = (struct dpor_seen_step){.key = key,
            .first = seen->accesses_used,
            .count = (uint16_t)transition->count,
            .global = transition->global};
    for (uint32_t a = 0; a < transition->count; a++) {
        struct sim_access access = part->trace->all[transition->first + a];
        seen->accesses[seen->accesses_used] = access;
        seen->versions[seen->accesses_used] = version_of(part, access);
        seen->accesses_used++;
    }
    seen->steps_used++;
}

void
dpor_seen_learn(struct dpor_seen *seen, const struct dpor_trace *trace, uint32_t j)
{
    const struct dpor_transition *transition = &trace->transitions[j];
    struct part part;
    part_init(&part, trace, j, NULL);
    uint64_t key = key_of(&part, j);
    uint32_t place = (uint32_t)(key % DPOR_SEEN_STEPS);
    if (trace->all_conflict || transition->actor == 0 || transition->count > UINT16_MAX) {
        return;
    }
    const struct dpor_seen_step *step = find(seen, &part, key, &place);
    while (step != NULL && !touches_the_same(seen, step, trace, transition)) {
        place = (place + 1) % DPOR_SEEN_STEPS;
        step = find(seen, &part, key, &place);
    }
    if (step == NULL) {
        add(seen, &part, transition, key, place);
    }
}

bool
dpor_seen_find(const struct dpor_seen *seen, const struct dpor_trace *trace, uint32_t i,
        const uint64_t among[DPOR_WORDS], uint32_t j, struct dpor_footprint *ret)
{
    struct part part;
    part_init(&part, trace, i, among);
    uint64_t key = key_of(&part, j);
    uint32_t place = (uint32_t)(key % DPOR_SEEN_STEPS);
    const struct dpor_seen_step *step = find(seen, &part, key, &place);
    if (step == NULL) {
        return false;
    }
    *ret = (struct dpor_footprint){seen->accesses + step->first, step->count, step->global};
    place = (place + 1) % DPOR_SEEN_STEPS;
    /* With other data it may have done something else. */
    return find(seen, &part, key, &place) == NULL;
}
