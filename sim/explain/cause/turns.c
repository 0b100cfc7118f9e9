/*
 * turns.c -- the same turn of the same one in both runs, and what is done in it in one alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/cause/priv.h"

#include <string.h>

#include "runtime/base/assert.h"

bool
sim__same_name(const struct sim_actor_table *a, uint32_t part_a, const struct sim_actor_table *b,
        uint32_t part_b)
{
    rt_assert(part_a < a->count);
    rt_assert(part_b < b->count);
    const char *name = a->parts[part_a].name;
    const char *other = b->parts[part_b].name;
    return name != NULL && other != NULL && strcmp(name, other) == 0;
}

/* How often `part` was polled up to `event`, that one included. */
static uint32_t
polls_up_to(const struct sim_actor_table *actor_table, uint32_t part, uint64_t event)
{
    rt_assert(part < actor_table->count);
    rt_assert(event >= actor_table->first);
    uint32_t count = 0;
    for (uint64_t i = actor_table->first; i < actor_table->end && i <= event; i++) {
        count += sim_actor_table_event(actor_table, i)->kind == RT_PROBE_POLL &&
                 sim_actor_table_part_of(actor_table, i) == part;
    }
    return count;
}

/* The event of its n-th poll; SIM_EVENT_NONE. */
static uint64_t
nth_poll(const struct sim_actor_table *actor_table, uint32_t part, uint32_t nth)
{
    rt_assert(part < actor_table->count);
    for (uint64_t i = actor_table->first; i < actor_table->end && nth > 0; i++) {
        nth -= sim_actor_table_event(actor_table, i)->kind == RT_PROBE_POLL &&
               sim_actor_table_part_of(actor_table, i) == part;
        if (nth == 0) {
            return i;
        }
    }
    return SIM_EVENT_NONE;
}

/* Whether that turn does the same at the same line; what is kept counts as stored. */
static bool
does(const struct sim_actor_table *actor_table, uint32_t part, uint64_t poll,
        const struct sim_event *wanted)
{
    rt_assert(poll >= actor_table->first);
    rt_assert(poll < actor_table->end);
    uint32_t step = sim_actor_table_event(actor_table, poll)->step;
    for (uint64_t i = poll;
            i < actor_table->end && sim_actor_table_event(actor_table, i)->step == step; i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        uint32_t kind = event->kind == RT_PROBE_KEEP ? RT_PROBE_STORE : event->kind;
        if (kind == wanted->kind && event->site == wanted->site && event->await == wanted->await &&
                sim_actor_table_part_of(actor_table, i) == part) {
            return true;
        }
    }
    return false;
}

static bool
add_in_turn(
        const struct sim_evidence *evidence, struct sim_cause *cause, uint32_t like, uint64_t turn)
{
    rt_assert(turn != SIM_EVENT_NONE);
    rt_assert(evidence->passing != NULL);
    const struct sim_actor_table *passing = evidence->passing->actor_table;
    const struct sim_actor_table *actor_table = evidence->ledger->actor_table;
    uint32_t step = sim_actor_table_event(passing, turn)->step;
    for (uint64_t i = turn; i < passing->end && sim_actor_table_event(passing, i)->step == step;
            i++) {
        const struct sim_event *event = sim_actor_table_event(passing, i);
        bool asks = event->kind == RT_PROBE_ARM || event->kind == RT_PROBE_STORE;
        if (asks && sim_actor_table_part_of(passing, i) == like &&
                !does(actor_table, evidence->wake_outcome->part, evidence->wake_outcome->poll,
                        event)) {
            sim__cause_add_site(cause, event->await, event->step, like);
            sim__cause_add_site(cause, event->site, event->step, like);
            if (cause->at_count > 0) {
                return true;
            }
        }
    }
    return false;
}

bool
sim__cause_add_armed(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(evidence->ledger != NULL);
    const struct sim_wake_outcome *wake_outcome = evidence->wake_outcome;
    const struct sim_actor_table *actor_table = evidence->ledger->actor_table;
    if (evidence->passing == NULL || wake_outcome->poll == SIM_EVENT_NONE) {
        return false;
    }
    const struct sim_actor_table *passing = evidence->passing->actor_table;
    uint32_t nth = polls_up_to(actor_table, wake_outcome->part, wake_outcome->poll);
    for (uint32_t like = 1; like < passing->count; like++) {
        uint64_t turn = sim__same_name(actor_table, wake_outcome->part, passing, like)
                                ? nth_poll(passing, like, nth)
                                : SIM_EVENT_NONE;
        if (turn != SIM_EVENT_NONE) {
            return add_in_turn(evidence, cause, like, turn);
        }
    }
    return false;
}
