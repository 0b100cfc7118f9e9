/*
 * omitted.c -- conditions of a reader, decided the other way.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/cause/omitted.h"

#include "runtime/base/assert.h"
#include "sim/explain/cause/guard.h"
#include "sim/explain/cause/priv.h"

/* In which step `part` blocks next, from `step` on; UINT64_MAX: it does not. */
static uint64_t
blocks_next(const struct sim_ledger *ledger, uint32_t part, uint64_t step)
{
    uint64_t next = UINT64_MAX;
    for (uint32_t i = 0; i < ledger->count; i++) {
        const struct sim_wait *wait = &ledger->waits[i];
        bool later = wait->part == part && wait->store_step > step && wait->store_step < next;
        next = later ? wait->store_step : next;
    }
    const struct sim_actor_table *actor_table = ledger->actor_table;
    for (uint64_t i = actor_table->first; i < actor_table->end; i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        bool later = event->kind == SIM_EVENT_BLOCK && event->step > step && event->step < next &&
                     sim_actor_table_part_of(actor_table, i) == part;
        next = later ? event->step : next;
    }
    return next;
}

/* The step of the last report, or where none is on record, of the last read. */
static uint64_t
reported_in(const struct sim_unnotified *unnotified)
{
    const struct sim_noted_call *call = unnotified->reported.event != SIM_EVENT_NONE
                                                ? &unnotified->reported
                                                : &unnotified->moved;
    return call->event != SIM_EVENT_NONE ? call->at[0].step : 0;
}

/* Without those that are decided on what never changes. */
static void
drop_settled(const struct sim_fate_evidence *evidence, struct sim_branches *branches)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < branches->count; i++) {
        uint32_t jump = sim_branch_index(evidence->here, &branches->all[i]);
        if (!sim_guard_is_settled(evidence, jump)) {
            branches->all[kept++] = branches->all[i];
        }
    }
    branches->count = kept;
}

/* Of a scenario a later turn counts only where the run passes: it may be about something else. */
bool
sim_omission_find(const struct sim_fate_evidence *evidence, const struct sim_unnotified *unnotified,
        struct sim_omission *ret)
{
    uint32_t actor_id = sim_actor_table_id(evidence->failing->actor_table, unnotified->part);
    uint64_t from = reported_in(unnotified);
    struct sim_branches branches = {.object = unnotified->silence.object};
    struct sim_branches later = {.object = evidence->shown ? 0 : unnotified->silence.object};
    struct sim_switched switched;
    *ret = (struct sim_omission){.passes = false};
    if (from == 0 || actor_id == 0) {
        return false;
    }
    uint64_t blocks = blocks_next(evidence->failing, unnotified->part, from);
    sim_branches_add_of(evidence->here, actor_id, from, blocks, &branches);
    sim_branches_add_of(
            evidence->here, actor_id, blocks, UINT64_MAX, evidence->shown ? &later : &branches);
    drop_settled(evidence, &branches);
    drop_settled(evidence, &later);
    sim_branches_find(evidence->runs, evidence->places, evidence->code, &branches, &switched);
    if (!switched.found && !switched.reads) {
        sim_branches_find(evidence->runs, evidence->places, evidence->code, &later, &switched);
    }
    uint32_t jump = switched.found || switched.reads
                            ? sim_branch_index(evidence->here, &switched.branch)
                            : UINT32_MAX;
    if (jump != UINT32_MAX) {
        ret->passes = switched.found;
        (void)sim_guard_describe(evidence, jump, &ret->guard);
    }
    return jump != UINT32_MAX;
}
