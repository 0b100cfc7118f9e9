/*
 * meanwhile.c -- memory that one has read, others change, and the one reads or writes again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/cause/meanwhile.h"

#include <string.h>

#include "runtime/base/assert.h"
#include "sim/explain/cause/priv.h"
#include "sim/explain/cause/reads.h"

/* The instructions of one actor around its absence: it has executed none in [from, to). */
struct absence {
    uint32_t actor_id;
    uint32_t from;
    uint32_t to;
};

/* The first step of `part` from `step` on; 0: there is none. */
static uint64_t
next_step(const struct sim_actor_table *actor_table, uint32_t part, uint64_t step)
{
    uint64_t i = sim_actor_table_step_first(actor_table, step);
    for (; i < actor_table->end; i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        if (event->kind == SIM_EVENT_STEP && event->actor == actor_table->parts[part].actor) {
            return event->step;
        }
    }
    return 0;
}

static struct absence
find_absence(const struct sim_executed *here, uint32_t actor_id, uint64_t step, uint64_t until)
{
    struct absence absence = {.actor_id = actor_id, .from = 0, .to = here->count};
    for (uint32_t i = 0; i < here->count; i++) {
        if (here->all[i].step < step) {
            absence.from = i + 1;
        } else if (here->all[i].actor_id == actor_id ||
                   (until != 0 && here->all[i].step >= until)) {
            absence.to = i;
            break;
        }
    }
    return absence;
}

/* The last read by that actor before, or the next use after, of what `write` changes; UINT32_MAX.
 */
static uint32_t
use_before(const struct sim_executed *here, const struct absence *absence, uint32_t write)
{
    for (uint32_t i = absence->from; i-- > 0;) {
        const struct sim_instruction *one = &here->all[i];
        if (one->actor_id == absence->actor_id && one->address != 0 &&
                sim__overlap(one, &here->all[write])) {
            return one->reads && !one->writes ? i
                                              : UINT32_MAX; /* What it adds to it does not know. */
        }
    }
    return UINT32_MAX;
}

static uint32_t
use_after(const struct sim_executed *here, const struct absence *absence, uint32_t write)
{
    for (uint32_t i = absence->to; i < here->count; i++) {
        const struct sim_instruction *one = &here->all[i];
        if (one->actor_id == absence->actor_id && one->address != 0 &&
                sim__overlap(one, &here->all[write])) {
            return i;
        }
    }
    return UINT32_MAX;
}

/* Both say more than one; a read before than a use after: what was read is out of date. */
static uint32_t
weight_of(const struct sim_conflict *conflict)
{
    return (conflict->before.step != 0 ? 2u : 0u) + (conflict->after.step != 0 ? 1u : 0u);
}

static bool
is_same(const struct sim_conflict *a, const struct sim_conflict *b)
{
    return sim__is_same_line(&a->change.place, &b->change.place) ||
           (a->before.step != 0 && sim__is_same_line(&a->before.place, &b->before.place));
}

/* The weightiest, of those the first. */
static void
add(struct sim_meanwhile *meanwhile, const struct sim_conflict *conflict)
{
    uint32_t at = 0;
    while (at < meanwhile->count && !is_same(&meanwhile->all[at], conflict) &&
            weight_of(&meanwhile->all[at]) >= weight_of(conflict)) {
        at++;
    }
    if (at < meanwhile->count && is_same(&meanwhile->all[at], conflict)) {
        if (weight_of(conflict) > weight_of(&meanwhile->all[at])) {
            meanwhile->all[at] = *conflict;
        }
        return;
    }
    if (at == SIM_CONFLICTS_MAX) {
        return;
    }
    uint32_t moved = meanwhile->count < SIM_CONFLICTS_MAX ? meanwhile->count - at
                                                          : SIM_CONFLICTS_MAX - 1 - at;
    memmove(&meanwhile->all[at + 1], &meanwhile->all[at], moved * sizeof(meanwhile->all[0]));
    meanwhile->all[at] = *conflict;
    meanwhile->count += meanwhile->count < SIM_CONFLICTS_MAX;
}

static void
find_conflict(const struct sim_fate_evidence *evidence, const struct absence *absence,
        uint32_t write, struct sim_meanwhile *ret)
{
    const struct sim_executed *here = evidence->here;
    uint32_t before = use_before(here, absence, write);
    uint32_t after = use_after(here, absence, write);
    struct sim_conflict conflict = {
            .change = sim__located(evidence, evidence->failing, here, write)};
    if (before != UINT32_MAX) {
        conflict.before = sim__located(evidence, evidence->failing, here, before);
    }
    if (after != UINT32_MAX) {
        conflict.after = sim__located(evidence, evidence->failing, here, after);
    }
    bool reads = after != UINT32_MAX && here->all[after].reads && !here->all[after].writes;
    if (weight_of(&conflict) > (reads ? 0u : 1u) && conflict.change.place.line != 0) {
        sim__name_memory(evidence, here->all[write].address, conflict.name);
        add(ret, &conflict);
    }
}

void
sim_meanwhile_find(const struct sim_fate_evidence *evidence, uint32_t part, uint64_t step,
        struct sim_meanwhile *ret)
{
    const struct sim_executed *here = evidence->here;
    uint32_t actor_id =
            part != SIM_PART_NONE ? sim_actor_table_id(evidence->failing->actor_table, part) : 0;
    *ret = (struct sim_meanwhile){.held = {.step = 0}};
    if (actor_id == 0) {
        return;
    }
    uint64_t until = next_step(evidence->failing->actor_table, part, step);
    const struct absence absence = find_absence(here, actor_id, step, until);
    uint32_t last = absence.from;
    while (last-- > 0 && here->all[last].actor_id != actor_id) {
    }
    if (absence.from >= absence.to || last == UINT32_MAX || !here->all[last].leaves) {
        return; /* No other runs meanwhile; it has not begun, or has returned. */
    }
    struct sim_location held = sim__located(evidence, evidence->failing, here, last);
    if (held.place.line == 0) {
        return;
    }
    ret->held = held;
    ret->held.step = step;
    ret->until = until;
    for (uint32_t i = absence.from; i < absence.to; i++) {
        const struct sim_instruction *one = &here->all[i];
        if (one->writes && one->before != one->after && !sim__is_on_stack(one)) {
            find_conflict(evidence, &absence, i, ret);
        }
    }
}
