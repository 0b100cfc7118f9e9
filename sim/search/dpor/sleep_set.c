/*
 * sleep_set.c -- the actors that have been tried already, with the footprint of their next step: it
 * was recorded when they were tried, and stays the same while they are asleep.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/dpor/dpor.h"

/* ---- Records of footprints. ------------------------------------------------------------------ */

static uint32_t
length(const struct dpor *dpor, uint32_t record)
{
    rt_assert(record < dpor->records_used);
    return dpor->records[record].mode & ~DPOR_GLOBAL;
}

static struct dpor_footprint
footprint_of(const struct dpor *dpor, uint32_t record)
{
    rt_assert(record + 1 + length(dpor, record) <= dpor->records_used);
    return (struct dpor_footprint){.accesses = dpor->records + record + 1,
            .count = length(dpor, record),
            .global = (dpor->records[record].mode & DPOR_GLOBAL) != 0};
}

uint32_t
dpor_records_end(const struct dpor *dpor, uint32_t depth)
{
    uint32_t above = depth > 0 ? dpor->nodes[depth - 1].above : DPOR_NONE;
    if (above == DPOR_NONE) {
        return 0;
    }
    const struct dpor_node *node = &dpor->nodes[above];
    rt_assert(above < depth && node->runs && node->records <= node->open);
    return node->written ? node->open + 1 + length(dpor, node->open) : node->open;
}

static void
add_access(struct dpor *dpor, struct dpor_node *node, struct sim_access access)
{
    struct sim_access *head = dpor->records + node->open;
    uint32_t count = length(dpor, node->open);
    rt_assert(node->open + 1 + count == dpor->records_used); /* It is the last record. */
    if (sim_access_merge(head + 1, count, access)) {
        return;
    }
    if (dpor->records_used == DPOR_RECORDS) {
        head->mode |= DPOR_GLOBAL;
        return;
    }
    head[count + 1] = access;
    head->mode++;
    dpor->records_used++;
}

void
dpor_record(struct dpor *dpor, struct dpor_node *node, struct dpor_footprint footprint)
{
    if (!node->written) {
        if (node->open >= DPOR_RECORDS) {
            dpor->cut = true;
            dpor->tail = true;
            return;
        }
        dpor->records[node->open] =
                (struct sim_access){.resource = dpor->ids[node->ids + node->index], .mode = 0};
        rt_assert(node->open == dpor->records_used);
        dpor->records_used = node->open + 1;
        node->written = true;
    }
    if (footprint.global) {
        dpor->records[node->open].mode |= DPOR_GLOBAL;
    }
    for (uint32_t i = 0; i < footprint.count; i++) {
        add_access(dpor, node, footprint.accesses[i]);
    }
}

void
dpor_record_close(struct dpor *dpor, struct dpor_node *node)
{
    if (!node->written) {
        dpor_record(dpor, node, (struct dpor_footprint){.global = true});
    }
    if (!node->written) {
        return; /* Out of capacity: the alternative is not put into the sleep set. */
    }
    node->open += 1 + length(dpor, node->open);
    rt_assert(node->open == dpor->records_used);
    node->written = false;
}

/* The record of `actor` at `node` itself; DPOR_NONE: there is none. */
static uint32_t
find(const struct dpor *dpor, const struct dpor_node *node, uint32_t actor)
{
    rt_assert(node->open <= dpor->records_used);
    for (uint32_t record = node->records; record < node->open; record += 1 + length(dpor, record)) {
        if (dpor->records[record].resource == actor) {
            return record;
        }
    }
    return DPOR_NONE;
}

struct dpor_footprint
dpor_recorded(const struct dpor *dpor, const struct dpor_node *node, uint32_t actor)
{
    uint32_t at = (uint32_t)(node - dpor->nodes);
    rt_assert(at < dpor->depth && node->zone <= at);
    while (at != DPOR_NONE && at >= node->zone) {
        uint32_t record = find(dpor, &dpor->nodes[at], actor);
        if (record != DPOR_NONE) {
            return footprint_of(dpor, record);
        }
        at = at > 0 ? dpor->nodes[at - 1].above : DPOR_NONE;
    }
    return (struct dpor_footprint){.global = true};
}

/* ---- The sleep set. -------------------------------------------------------------------------- */

bool
dpor_is_asleep(const struct dpor *dpor, uint32_t actor)
{
    rt_assert(dpor->sleep_count <= DPOR_SLEEP_SET);
    for (uint32_t i = 0; i < dpor->sleep_count; i++) {
        if (dpor->records[dpor->sleep_set[i]].resource == actor) {
            return true;
        }
    }
    return false;
}

/* Beyond the capacity an actor is not added, and tried again below. */
void
dpor_sleep_add(struct dpor *dpor, const struct dpor_node *node)
{
    rt_assert(node->runs && node->records <= node->open);
    for (uint32_t record = node->records; record < node->open; record += 1 + length(dpor, record)) {
        if (dpor->sleep_count < DPOR_SLEEP_SET) {
            dpor->sleep_set[dpor->sleep_count++] = record;
        }
    }
}

void
dpor_sleep_wake(struct dpor *dpor, const struct dpor_transition *transition)
{
    struct dpor_footprint happened = dpor_footprint_of(&dpor->trace, transition);
    uint32_t left = 0;
    rt_assert(dpor->sleep_count <= DPOR_SLEEP_SET);
    for (uint32_t i = 0; i < dpor->sleep_count; i++) {
        uint32_t record = dpor->sleep_set[i];
        bool same = dpor->records[record].resource == transition->actor;
        if (!same && !dpor_conflict(happened, footprint_of(dpor, record))) {
            dpor->sleep_set[left++] = record;
        }
    }
    rt_assert(left <= dpor->sleep_count);
    dpor->sleep_count = left;
}
