/*
 * sleep_set.c -- who has been tried already.
 *
 * Who was tried at a node sleeps below its other alternatives, until something happens that
 * conflicts with what it would do. What that is was recorded when it was tried: it stays the same
 * for as long as it sleeps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/search/dpor/dpor.h"

/* ---- Records of what was touched. ------------------------------------------------------------ */

static uint32_t
length(const struct dpor *dpor, uint32_t record)
{
    return dpor->records[record].mode & ~DPOR_GLOBAL;
}

static struct dpor_footprint
footprint_of(const struct dpor *dpor, uint32_t record)
{
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
    return node->written ? node->open + 1 + length(dpor, node->open) : node->open;
}

static void
add_access(struct dpor *dpor, struct dpor_node *node, struct sim_access access)
{
    struct sim_access *head = dpor->records + node->open;
    uint32_t count = length(dpor, node->open);
    for (uint32_t i = 1; i <= count; i++) {
        if (head[i].resource == access.resource) {
            head[i].mode |= access.mode;
            return;
        }
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
        return; /* No room: nobody sleeps because of it. */
    }
    node->open += 1 + length(dpor, node->open);
    node->written = false;
}

/* That of `actor` among those of `node` alone; DPOR_NONE: there is none. */
static uint32_t
find(const struct dpor *dpor, const struct dpor_node *node, uint32_t actor)
{
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
    while (at != DPOR_NONE && at >= node->zone) {
        uint32_t record = find(dpor, &dpor->nodes[at], actor);
        if (record != DPOR_NONE) {
            return footprint_of(dpor, record);
        }
        at = at > 0 ? dpor->nodes[at - 1].above : DPOR_NONE;
    }
    return (struct dpor_footprint){.global = true};
}

/* ---- Who sleeps now. ------------------------------------------------------------------------- */

bool
dpor_is_asleep(const struct dpor *dpor, uint32_t actor)
{
    for (uint32_t i = 0; i < dpor->sleeper_count; i++) {
        if (dpor->records[dpor->sleep_set[i]].resource == actor) {
            return true;
        }
    }
    return false;
}

/* One that there is no room for is tried again below. */
void
dpor_put_to_sleep(struct dpor *dpor, const struct dpor_node *node)
{
    for (uint32_t record = node->records; record < node->open; record += 1 + length(dpor, record)) {
        if (dpor->sleeper_count < DPOR_SLEEP_SET) {
            dpor->sleep_set[dpor->sleeper_count++] = record;
        }
    }
}

void
dpor_rouse(struct dpor *dpor, const struct dpor_transition *transition)
{
    struct dpor_footprint happened = dpor_footprint_of(&dpor->trace, transition);
    uint32_t left = 0;
    for (uint32_t i = 0; i < dpor->sleeper_count; i++) {
        uint32_t record = dpor->sleep_set[i];
        bool same = dpor->records[record].resource == transition->actor;
        if (!same && !dpor_conflict(happened, footprint_of(dpor, record))) {
            dpor->sleep_set[left++] = record;
        }
    }
    dpor->sleeper_count = left;
}
