/*
 * held.c -- what the blocked tasks wait for is held, and is not given back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/explain/cause/priv.h"

/* Functions of what was executed with it. */
#define WALKED_MAX 5u

struct chain {
    const struct sim_hold *holds[SIM_HOLDS_CHAIN];
    uint32_t count;
    uint32_t circle; /* UINT32_MAX: none. */
    uint32_t waiter;
};

/* An actor that could still give it back would have to make progress first. */
static bool
is_kept(const struct sim_evidence *evidence, const struct chain *chain)
{
    rt_assert(chain->count <= SIM_HOLDS_CHAIN);
    if (chain->count == 0) {
        return false;
    }
    const struct sim_hold *last = chain->holds[chain->count - 1];
    return chain->circle != UINT32_MAX || last->handed ||
           (!last->takes && evidence->ledger->actor_table->parts[last->part].finished);
}

/* The first chain that ends where nothing moves: of the actor that the verdict names, or of any. */
static bool
find_chain(const struct sim_evidence *evidence, struct chain *ret)
{
    const struct sim_actor_table *actor_table = evidence->ledger->actor_table;
    uint32_t named = evidence->wake_outcome->part;
    for (uint32_t i = 0; evidence->holds != NULL && i <= actor_table->count; i++) {
        ret->waiter = i == 0 ? named : i - 1;
        if (ret->waiter == SIM_PART_NONE || actor_table->parts[ret->waiter].finished) {
            continue;
        }
        ret->count = sim_holds_chain(
                evidence->holds, evidence->ledger, ret->waiter, ret->holds, &ret->circle);
        if (is_kept(evidence, ret)) {
            return true;
        }
    }
    return false;
}

const struct sim_hold *
sim_cause_held(const struct sim_evidence *evidence)
{
    struct chain chain;
    rt_assert(evidence->ledger != NULL);
    return sim_outcome_is_stall(evidence->outcome) && find_chain(evidence, &chain)
                   ? chain.holds[chain.count - 1]
                   : NULL;
}

/* What was executed with it: what was entered last is first. */
static void
add_walked(const struct sim_evidence *evidence, uint32_t part, struct sim_cause *cause)
{
    struct sim_walked walked[SIM_PATH_FUNCTIONS];
    uint32_t count = evidence->held != NULL
                             ? sim_path_functions(evidence->places, &evidence->held->path, walked)
                             : 0;
    for (uint32_t i = 0; i < count && cause->at_count < WALKED_MAX; i++) {
        if (!sim_place_is_runtime(&walked[i].place) && walked[i].entered != UINT32_MAX) {
            cause->at[cause->at_count++] = (struct sim_location){.place = walked[i].place,
                    .step = sim_trace_step(evidence->held, walked[i].last),
                    .part = part,
                    .traced = true};
        }
    }
    cause->lost_count = cause->at_count;
}

/* Only the circle itself; those that wait for it from outside are no part of it. */
static void
keep_circle(struct chain *chain)
{
    uint32_t from = chain->circle;
    rt_assert(from < chain->count);
    for (uint32_t i = from; i < chain->count; i++) {
        chain->holds[i - from] = chain->holds[i];
    }
    chain->count -= from;
    chain->waiter = chain->holds[chain->count - 1]->part;
}

/* Where they wait, then where it was taken. */
static void
add_holds(const struct sim_evidence *evidence, const struct chain *chain, struct sim_cause *cause)
{
    uint32_t waiter = chain->waiter;
    rt_assert(chain->count <= SIM_HOLDS_CHAIN);
    for (uint32_t i = 0; i < chain->count; i++) {
        cause->holds[i] = chain->holds[i];
        cause->hold_waits[i] = sim_hold_wait(chain->holds[i], evidence->ledger, waiter);
        rt_assert(cause->hold_waits[i] != NULL);
        if (cause->circle) {
            sim__cause_add_event(evidence, cause, cause->hold_waits[i]->store_event);
        }
        waiter = chain->holds[i]->part;
    }
    for (uint32_t i = 0; i < chain->count; i++) {
        const struct sim_hold *hold = chain->holds[i];
        if (hold->to_end || hold->takes) {
            continue;
        }
        const struct sim_event *event =
                sim_actor_table_event(evidence->ledger->actor_table, hold->event);
        sim__location_set(&cause->hold_taken[i], sim_actor_table_place(event->await, event->site),
                event->step, hold->part);
        sim__cause_add_event(evidence, cause, hold->event);
    }
}

bool
sim__cause_held(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    struct chain chain;
    rt_assert(cause->at_count == 0);
    if (!find_chain(evidence, &chain)) {
        return false;
    }
    cause->kind = SIM_CAUSE_NOT_A_WAKE;
    cause->circle = chain.circle != UINT32_MAX;
    if (cause->circle) {
        keep_circle(&chain);
    } else {
        add_walked(evidence, chain.holds[chain.count - 1]->part, cause);
    }
    cause->hold_count = chain.count;
    cause->hold_waiter = chain.waiter;
    add_holds(evidence, &chain, cause);
    return cause->at_count > 0;
}
