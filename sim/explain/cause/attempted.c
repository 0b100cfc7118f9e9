/*
 * attempted.c -- who came to wake a loop, as places.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/explain/cause/priv.h"

/* The innermost place of a stack that is the reader's. */
static struct sim_location
location_of(const struct sim_evidence *evidence, const struct sim_actor_table *actor_table,
        const struct sim_walk_stop *stop, bool returns, uint64_t step, uint32_t id)
{
    rt_assert(stop != NULL);
    struct sim_cause all = {.kind = SIM_CAUSE_NOT_A_WAKE};
    uint32_t count = stop->frame_count <= SIM_WALK_FRAMES ? stop->frame_count : 0;
    struct sim_location location = {.part = SIM_PART_NONE};
    sim__cause_add_frames(evidence, &all, stop->frames, count, returns, step, SIM_PART_NONE);
    if (all.at_count > 0) {
        location = all.at[0];
    }
    location.part = sim_actor_table_of_id(actor_table, id);
    return location;
}

void
sim__cause_attempted(const struct sim_evidence *evidence, struct sim_attempted_wake *ret_attempted)
{
    rt_assert(ret_attempted != NULL);
    const struct sim_attempt *attempt = evidence->attempt;
    *ret_attempted = (struct sim_attempted_wake){.instead = {.part = SIM_PART_NONE}};
    if (attempt == NULL || attempt->step == 0 || evidence->passing == NULL) {
        return;
    }
    const struct sim_actor_table *actor_table = evidence->ledger->actor_table;
    const struct sim_actor_table *passing = evidence->passing->actor_table;
    ret_attempted->known = true;
    if (attempt->has_turned) {
        ret_attempted->at = (struct sim_location){.place = attempt->turned,
                .step = attempt->step,
                .part = sim_actor_table_of_id(actor_table, attempt->by_id)};
    }
    if (attempt->instead_id != 0) {
        ret_attempted->instead = location_of(
                evidence, actor_table, &attempt->instead, true, attempt->step, attempt->instead_id);
    }
    if (attempt->flag_step != 0) {
        ret_attempted->flag = location_of(
                evidence, actor_table, &attempt->flag, false, attempt->flag_step, attempt->flag_id);
    }
    if (attempt->clear_step != 0) {
        ret_attempted->clear = location_of(
                evidence, passing, &attempt->clear, false, attempt->clear_step, attempt->clear_id);
    }
}

void
sim__cause_blocked_at(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(evidence->outcome != NULL);
    const struct sim_analysis *analysis = evidence->analysis;
    bool asked = cause->by_counterfactual != SIM_COUNTERFACTUAL_NONE;
    uint32_t actor = asked ? evidence->counterfactual->actor : evidence->outcome->actor;
    for (uint32_t i = 0; analysis != NULL && i < analysis->trace_count && i < SIM_ANALYSIS_TRACES;
            i++) {
        if (analysis->traces[i].actor == actor) {
            const struct sim_walk_stop *blocked = &analysis->traces[i].path.blocked;
            cause->blocked_at = location_of(evidence, evidence->ledger->actor_table, blocked, false,
                    evidence->counterfactual->step, 0);
        }
    }
}
