/*
 * omitted.c -- conditions of a reader, decided the other way.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/cause/omitted.h"

#include "runtime/base/assert.h"
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

bool
sim_omission_find(const struct sim_fate_evidence *evidence, const struct sim_unnotified *unnotified,
        struct sim_omission *ret)
{
    uint32_t actor_id = sim_actor_table_id(evidence->failing->actor_table, unnotified->part);
    uint64_t from = reported_in(unnotified);
    struct sim_branches branches = {.object = unnotified->silence.object};
    struct sim_switched switched;
    *ret = (struct sim_omission){.passes = false};
    if (from == 0 || actor_id == 0) {
        return false;
    }
    uint64_t blocks = blocks_next(evidence->failing, unnotified->part, from);
    sim_branches_add_of(evidence->here, actor_id, from, blocks, &branches);
    sim_branches_add_of(evidence->here, actor_id, blocks, UINT64_MAX, &branches);
    sim_branches_find(evidence->runs, evidence->places, evidence->code, &branches, &switched);
    if (switched.found || switched.reads) {
        *ret = (struct sim_omission){.passes = switched.found,
                .condition = {.place = switched.place,
                        .step = switched.branch.step,
                        .part = unnotified->part}};
    }
    return switched.found || switched.reads;
}
