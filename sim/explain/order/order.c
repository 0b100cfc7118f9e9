/*
 * order.c -- what comes first here, and second there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/order/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/core/record/site.h"
#include "sim/explain/look/path.h"

/* Events after the parting that are compared. */
#define EVENTS_MAX 600u

/* ---- Events. --------------------------------------------------------------------------------- */

/* An event as it can be found again in another run. */
struct key {
    uint64_t event;
    uint32_t kind;
    uint32_t object;
    uint32_t site;
    uint32_t part;
    uint32_t nth; /* Of its like since the parting. */
};

struct keys {
    struct key all[EVENTS_MAX];
    uint32_t count;
};

/* What is done to a place where others wait, or what ends a wait. */
static bool
meets(const struct sim_event *event)
{
    switch (event->kind) {
    case RT_PROBE_STORE:
    case RT_PROBE_FIRE:
    case RT_PROBE_FIRE_EMPTY:
    case RT_PROBE_ERASE:
    case RT_PROBE_REPLACE:
    case RT_PROBE_CONSUME:
    case RT_PROBE_PUT:
    case RT_PROBE_GRANT:
    case RT_PROBE_UNGRANT:
    case RT_PROBE_SHUT:
    case RT_PROBE_DISARM:
    case SIM_EVENT_GET:
    case SIM_EVENT_SET:
    case SIM_EVENT_ASSIGN:
        return event->object != 0 && (event->await != 0 || event->site != 0);
    default:
        return false;
    }
}

static void
read_keys(const struct sim_actor_table *actor_table, uint64_t from_step, struct keys *ret)
{
    rt_assert(actor_table != NULL);
    rt_assert(ret != NULL);
    ret->count = 0;
    uint64_t from = from_step != 0 ? sim_actor_table_step_first(actor_table, from_step)
                                   : actor_table->first;
    for (uint64_t i = from; i < actor_table->end && ret->count < EVENTS_MAX; i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        if (!meets(event)) {
            continue;
        }
        /* Firing a wake is the same thing with a waiter and without one. */
        bool fires = event->kind == RT_PROBE_FIRE_EMPTY;
        struct key key = {i, fires ? (uint32_t)RT_PROBE_FIRE : event->kind, event->object,
                event->await != 0 ? event->await : event->site,
                sim_actor_table_part_of(actor_table, i), 0};
        for (uint32_t k = 0; k < ret->count; k++) {
            const struct key *other = &ret->all[k];
            key.nth += other->kind == key.kind && other->object == key.object &&
                       other->site == key.site && other->part == key.part;
        }
        ret->all[ret->count++] = key;
    }
}

/* Its place among `keys`; keys->count: it is not there. Parts have their numbers in the order in
 * which they appear, so they go by name. */
static uint32_t
find_like(const struct sim_actor_table *failing, const struct sim_actor_table *passing,
        const struct keys *keys, const struct key *key)
{
    rt_assert(key->part < failing->count);
    rt_assert(keys->count <= EVENTS_MAX);
    const char *name = failing->parts[key->part].name;
    uint32_t i = 0;
    for (; i < keys->count; i++) {
        const struct key *like = &keys->all[i];
        const char *other = passing->parts[like->part].name;
        if (like->kind == key->kind && like->object == key->object && like->site == key->site &&
                like->nth == key->nth && name != NULL && other != NULL &&
                strcmp(name, other) == 0) {
            break;
        }
    }
    return i;
}

static void
set_location(struct sim_location *location, const struct key *key,
        const struct sim_actor_table *actor_table)
{
    rt_assert(key->event < actor_table->end);
    const struct rt_site *site = sim_site_find(key->site);
    *location = (struct sim_location){
            .step = sim_actor_table_event(actor_table, key->event)->step, .part = key->part};
    if (site != NULL) {
        (void)snprintf(
                location->place.function, sizeof(location->place.function), "%s", site->function);
        (void)snprintf(location->place.file, sizeof(location->place.file), "%s", site->file);
        location->place.line = site->line;
    }
}

/* The first that comes too late here, and the last before it that it should have come before. */
static bool
find_events(const struct sim_run_pair *pair, const struct keys *failing, const struct keys *passing,
        struct sim_swap *order)
{
    rt_assert(failing->count <= EVENTS_MAX);
    rt_assert(passing->count <= EVENTS_MAX);
    rt_assert(!order->found);
    for (uint32_t second = 1; second < failing->count; second++) {
        const struct key *late = &failing->all[second];
        uint32_t there = find_like(pair->failing, pair->passing, passing, late);
        for (uint32_t first = second; first-- > 0 && there < passing->count;) {
            const struct key *early = &failing->all[first];
            bool meet = early->object == late->object && early->part != late->part;
            uint32_t like =
                    meet ? find_like(pair->failing, pair->passing, passing, early) : passing->count;
            if (like < passing->count && there < like) {
                order->found = true;
                order->events = true;
                order->first_event = early->event;
                order->second_event = late->event;
                set_location(&order->first, early, pair->failing);
                set_location(&order->second, late, pair->failing);
                return true;
            }
        }
    }
    return false;
}

/* ---- Functions. ------------------------------------------------------------------------------ */

static const struct sim_walked *
find_function(const struct sim_walked *all, uint32_t count, const struct sim_place *place)
{
    rt_assert(count <= SIM_PATH_FUNCTIONS);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(all[i].place.function, place->function) == 0 &&
                strcmp(all[i].place.file, place->file) == 0) {
            return &all[i];
        }
    }
    return NULL;
}

/* The reader's function at `from` or later that was entered first; NULL. */
static const struct sim_walked *
next_entered(const struct sim_walked *all, uint32_t count, uint32_t from)
{
    rt_assert(count <= SIM_PATH_FUNCTIONS);
    const struct sim_walked *next = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (all[i].entered >= from && all[i].entered != UINT32_MAX &&
                !sim_place_is_runtime(&all[i].place) &&
                (next == NULL || all[i].entered < next->entered)) {
            next = &all[i];
        }
    }
    return next;
}

static void
find_functions(const struct sim_run_pair *pair, struct sim_swap *order)
{
    rt_assert(pair->places != NULL);
    rt_assert(!order->found);
    struct sim_walked here[SIM_PATH_FUNCTIONS];
    struct sim_walked there[SIM_PATH_FUNCTIONS];
    uint32_t count = sim_path_functions(pair->places, pair->failing_path, here);
    uint32_t others = sim_path_functions(pair->places, pair->passing_path, there);
    const struct sim_walked *late = next_entered(here, count, 0);
    for (; late != NULL; late = next_entered(here, count, late->entered + 1)) {
        const struct sim_walked *late_there = find_function(there, others, &late->place);
        const struct sim_walked *early = next_entered(here, count, 0);
        for (; early != late && late_there != NULL;
                early = next_entered(here, count, early->entered + 1)) {
            const struct sim_walked *like = find_function(there, others, &early->place);
            /* One that is called by the other comes in no order with it. */
            if (like != NULL && like->entered != UINT32_MAX && early->last < late->entered &&
                    late_there->last < like->entered) {
                order->found = true;
                order->first = (struct sim_location){.place = early->place, .part = SIM_PART_NONE};
                order->second = (struct sim_location){.place = late->place, .part = SIM_PART_NONE};
                return;
            }
        }
    }
}

void
sim_order_find(const struct sim_run_pair *pair, struct sim_swap *ret_order)
{
    rt_assert(pair->failing != NULL);
    rt_assert(pair->passing != NULL);
    *ret_order = (struct sim_swap){.found = false};
    struct keys *keys = sim_heap_new(2, sizeof(*keys));
    read_keys(pair->failing, pair->failing_from, &keys[0]);
    read_keys(pair->passing, pair->passing_from, &keys[1]);
    if (!find_events(pair, &keys[0], &keys[1], ret_order) && pair->failing_path != NULL &&
            pair->passing_path != NULL) {
        find_functions(pair, ret_order);
    }
    free(keys);
}

/* ---- The other way round. -------------------------------------------------------------------- */

/* The place of event `event` among `keys`; keys->count: none of them. */
static uint32_t
find_key(const struct keys *keys, uint64_t event)
{
    rt_assert(keys->count <= EVENTS_MAX);
    uint32_t i = 0;
    while (i < keys->count && keys->all[i].event != event) {
        i++;
    }
    return i;
}

static bool
comes_first(const struct sim_swap *order, const struct sim_actor_table *failing,
        const struct sim_actor_table *other, const struct keys *here, const struct keys *there)
{
    rt_assert(order->events);
    uint32_t first = find_key(here, order->first_event);
    uint32_t second = find_key(here, order->second_event);
    if (first == here->count || second == here->count) {
        return false;
    }
    uint32_t first_there = find_like(failing, other, there, &here->all[first]);
    uint32_t second_there = find_like(failing, other, there, &here->all[second]);
    return second_there < there->count && second_there < first_there;
}

bool
sim_order_is_swapped(const struct sim_swap *order, const struct sim_actor_table *failing,
        const struct sim_actor_table *other)
{
    rt_assert(order->found);
    rt_assert(order->events);
    struct keys *keys = sim_heap_new(2, sizeof(*keys));
    read_keys(failing, order->first.step, &keys[0]);
    read_keys(other, order->first.step, &keys[1]);
    bool swapped = comes_first(order, failing, other, &keys[0], &keys[1]);
    free(keys);
    return swapped;
}

const char *
sim_swapped_name(enum sim_swapped swapped)
{
    rt_assert(swapped <= SIM_SWAPPED_NEVER);
    static const char *const names[] = {"not-tried", "passes", "fails", "never"};
    return names[swapped];
}
