/*
 * results.c -- the first call that returns something else.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/cause/results.h"

#include "runtime/base/assert.h"
#include "sim/core/code/source.h"
#include "sim/explain/cause/priv.h"
#include "sim/explain/cause/reads.h"

/* One that reads bytes, and has. What a write returns is how much its caller wanted, mostly. */
static bool
has_read(const struct sim_call *call)
{
    bool reads = call->number == SIM_CALL_read || call->number == SIM_CALL_readv ||
                 (call->number >= SIM_CALL_recv && call->number <= SIM_CALL_recvmmsg);
    return reads && call->error == 0;
}

/* The `nth` such call of `part` as `like`, from 1 on; SIM_EVENT_NONE: there are not so many. */
static uint64_t
nth_like(const struct sim_actor_table *actor_table, uint32_t part, const struct sim_call *like,
        uint32_t nth)
{
    for (uint64_t i = actor_table->first; i < actor_table->end; i++) {
        const struct sim_call call = sim_call_of(sim_actor_table_event(actor_table, i));
        if (has_read(&call) && call.number == like->number && call.fd == like->fd &&
                sim_actor_table_part_of(actor_table, i) == part && --nth == 0) {
            return i;
        }
    }
    return SIM_EVENT_NONE;
}

/* How many such calls as the event `index` its actor has made up to that one. */
static uint32_t
nth_of(const struct sim_actor_table *actor_table, uint64_t index)
{
    const struct sim_call like = sim_call_of(sim_actor_table_event(actor_table, index));
    uint32_t part = sim_actor_table_part_of(actor_table, index);
    uint32_t nth = 1;
    while (nth_like(actor_table, part, &like, nth) < index) {
        nth++;
    }
    return nth;
}

/* The first call of `part` whose like returns another number. SIM_EVENT_NONE: none. */
static uint64_t
first_odd(const struct sim_fate_evidence *evidence, uint32_t part, uint64_t *ret_passing)
{
    const struct sim_actor_table *here = evidence->failing->actor_table;
    const struct sim_actor_table *there = evidence->passing->actor_table;
    uint32_t like_part = sim__part_like(there, here, part);
    for (uint64_t i = here->first; i < here->end && like_part != SIM_PART_NONE; i++) {
        const struct sim_call call = sim_call_of(sim_actor_table_event(here, i));
        if (!has_read(&call) || sim_actor_table_part_of(here, i) != part) {
            continue;
        }
        uint64_t like = nth_like(there, like_part, &call, nth_of(here, i));
        if (like == SIM_EVENT_NONE) {
            return SIM_EVENT_NONE;
        }
        *ret_passing = sim_call_of(sim_actor_table_event(there, like)).value;
        if (*ret_passing != call.value) {
            return i;
        }
    }
    return SIM_EVENT_NONE;
}

/* The last call before that made the end of what `event` reads: in whose step that became ready. */
static struct sim_noted_call
ending_call(const struct sim_actor_table *actor_table, uint64_t event)
{
    uint32_t object = sim_actor_table_event(actor_table, event)->object;
    struct sim_noted_call ready = sim__last_noted(actor_table, object, SIM_EVENT_READY, event);
    uint64_t step = ready.at[0].step;
    for (uint64_t i = sim_actor_table_step_first(actor_table, step);
            ready.event != SIM_EVENT_NONE && i != SIM_EVENT_NONE && i < event; i++) {
        const struct sim_call call = sim_call_of(sim_actor_table_event(actor_table, i));
        if (sim_actor_table_event(actor_table, i)->step != step) {
            break;
        }
        if (call.number == SIM_CALL_close || call.number == SIM_CALL_shutdown) {
            return sim__noted(actor_table, i);
        }
    }
    return sim__no_call;
}

/* The first condition of the reader's that the actor decides from step `step` on. */
static struct sim_location
next_condition(const struct sim_fate_evidence *evidence, uint32_t actor_id, uint64_t step)
{
    struct sim_place place;
    for (uint32_t i = 0; i < evidence->here->count; i++) {
        const struct sim_instruction *one = &evidence->here->all[i];
        if (one->actor_id == actor_id && one->step >= step && one->jump &&
                sim_places_at(evidence->places, one->pc, false, &place, 1) > 0 &&
                sim_place_is_readers(&place)) {
            return sim__located(evidence, evidence->failing, evidence->here, i);
        }
    }
    return (struct sim_location){.step = 0};
}

/* The last line from step `step` on in which the actor calls something, and in which it does not
 * wait in the end. */
static struct sim_location
last_call_line(const struct sim_fate_evidence *evidence, uint32_t actor_id, uint64_t step)
{
    struct sim_place waits = {.line = 0};
    struct sim_place inner;
    struct sim_place place;
    for (uint32_t i = evidence->here->count; i-- > 0;) {
        const struct sim_instruction *one = &evidence->here->all[i];
        if (one->actor_id != actor_id || !sim__reader_at(evidence, one->pc, &place)) {
            continue;
        }
        waits = waits.line == 0 ? place : waits;
        if (one->step < step) {
            break;
        }
        bool calls = one->call || (sim_places_at(evidence->places, one->pc, false, &inner, 1) > 0 &&
                                          !sim_place_is_readers(&inner));
        if (calls && !sim__is_same_line(&place, &waits) &&
                !sim_source_ends_block(place.file, place.line)) {
            return sim__located(evidence, evidence->failing, evidence->here, i);
        }
    }
    return (struct sim_location){.step = 0};
}

bool
sim_result_find(const struct sim_fate_evidence *evidence, uint32_t part,
        const struct sim_location *loops, struct sim_odd_result *ret)
{
    const struct sim_actor_table *actor_table = evidence->failing->actor_table;
    const struct sim_wait *wait = sim_ledger_open_of(evidence->failing, part, NULL);
    uint32_t actor_id = sim_actor_table_id(actor_table, part);
    rt_assert(evidence->passing != NULL);
    *ret = (struct sim_odd_result){.loops = loops != NULL};
    uint64_t event = actor_id != 0 && (loops != NULL || wait != NULL)
                             ? first_odd(evidence, part, &ret->passing_value)
                             : SIM_EVENT_NONE;
    if (event == SIM_EVENT_NONE) {
        return false;
    }
    uint64_t step = sim_actor_table_event(actor_table, event)->step;
    ret->call = sim__noted(actor_table, event);
    ret->end = sim_call_of(sim_actor_table_event(actor_table, event)).value == 0
                       ? ending_call(actor_table, event)
                       : sim__no_call;
    if (loops != NULL) {
        ret->waits = *loops;
        ret->next = next_condition(evidence, actor_id, step);
    } else {
        sim__find_sleeps(evidence, wait, &ret->waits);
        ret->next = last_call_line(evidence, actor_id, step);
    }
    ret->known = ret->next.step != 0;
    return ret->known;
}
