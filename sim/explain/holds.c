/*
 * holds.c -- one pass over the events; what has ended is taken out of the table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/holds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/core/record/site.h"
#include "sim/core/scenario.h"
#include "sim/explain/cause/reads.h"

#define CHANNELS 64u

/* ---- What begins, and ends. ------------------------------------------------------------------ */

static void
begin(struct sim_holds *holds, struct sim_hold hold)
{
    rt_assert(hold.object != 0);
    sim_heap_grow(&holds->all, holds->count, &holds->capacity, sizeof(*holds->all));
    holds->all[holds->count++] = hold;
}

static void
end(struct sim_holds *holds, struct sim_hold *hold)
{
    size_t at = (size_t)(hold - holds->all);
    rt_assert(at < holds->count);
    holds->count--;
    memmove(hold, hold + 1, (holds->count - at) * sizeof(*hold));
}

/* The latest of that object; held by `part`, or (SIM_PART_NONE) by any. */
static struct sim_hold *
find(const struct sim_holds *holds, uint32_t object, uint32_t part)
{
    for (uint32_t i = holds->count; i-- > 0;) {
        struct sim_hold *hold = &holds->all[i];
        if (hold->object == object && (part == SIM_PART_NONE || hold->part == part)) {
            return hold;
        }
    }
    return NULL;
}

/* Another than its holders puts permits in: one entry says so, and none is held. */
static void
make_signal(struct sim_holds *holds, uint32_t object)
{
    struct sim_hold *hold = find(holds, object, SIM_PART_NONE);
    for (; hold != NULL; hold = find(holds, object, SIM_PART_NONE)) {
        end(holds, hold);
    }
    begin(holds, (struct sim_hold){.object = object, .part = SIM_PART_NONE, .is_signal = true});
}

static void
take_permits(struct sim_holds *holds, uint64_t index, const struct sim_event *event, uint32_t part)
{
    const struct sim_hold *hold = find(holds, event->object, SIM_PART_NONE);
    if (hold == NULL || !hold->is_signal) {
        begin(holds, (struct sim_hold){.event = index,
                             .units = event->argument,
                             .object = event->object,
                             .part = part});
    }
}

/* Gives back what `part` took last. */
static void
give_back(struct sim_holds *holds, const struct sim_event *event, uint32_t part)
{
    uint64_t units = event->argument;
    struct sim_hold *hold = find(holds, event->object, part);
    if (hold == NULL) {
        make_signal(holds, event->object);
        return;
    }
    while (hold != NULL && units >= hold->units) {
        units -= hold->units;
        end(holds, hold);
        hold = units > 0 ? find(holds, event->object, part) : NULL;
    }
    if (hold != NULL) {
        hold->units -= units;
    }
}

/* Its holder gives it back, or, where that has none, the one that took it last. */
static void
release(struct sim_holds *holds, uint32_t object, uint32_t part)
{
    struct sim_hold *hold = find(holds, object, part);
    hold = hold != NULL ? hold : find(holds, object, SIM_PART_NONE);
    if (hold != NULL) {
        end(holds, hold);
    }
}

static bool
is_lock(uint32_t object)
{
    return SIM_OBJECT_KIND(object) == RT_OBJECT_SEMAPHORE ||
           SIM_OBJECT_KIND(object) == RT_OBJECT_MUTEX;
}

static bool
is_message(const struct sim_event *event)
{
    const struct rt_site *site = sim_site_find(event->site);
    return SIM_OBJECT_KIND(event->object) == RT_OBJECT_OPERATION && site != NULL &&
           strstr(site->file, "runtime/shard/message.c") != NULL;
}

/* The loop of the shard with that number, as sim_shard_group_new calls it. */
static uint32_t
shard_of(const struct sim_actor_table *actor_table, uint64_t number)
{
    char name[32];
    (void)snprintf(name, sizeof(name), "shard %llu", (unsigned long long)number);
    for (uint32_t i = 0; i < actor_table->count; i++) {
        const struct sim_part *part = &actor_table->parts[i];
        if (part->kind == SIM_ACTOR_LOOP && part->name != NULL && strcmp(part->name, name) == 0) {
            return i;
        }
    }
    return SIM_PART_NONE;
}

static void
take(struct sim_holds *holds, uint64_t index)
{
    const struct sim_actor_table *actor_table = holds->actor_table;
    const struct sim_event *event = sim_actor_table_event(actor_table, index);
    uint32_t part = sim_actor_table_part_of(actor_table, index);
    switch (event->kind) {
    case RT_PROBE_CONSUME:
        if (is_lock(event->object)) {
            take_permits(holds, index, event, part);
        }
        return;
    case RT_PROBE_PUT:
        if (is_lock(event->object)) {
            give_back(holds, event, part);
        }
        return;
    case SIM_EVENT_GRANTED:
        part = event->argument != 0 ? sim_actor_table_object(actor_table, (uint32_t)event->argument)
                                    : part;
        begin(holds, (struct sim_hold){
                             .event = index, .units = 1, .object = event->object, .part = part});
        return;
    case RT_PROBE_SUBMIT:
        if (is_message(event)) {
            begin(holds, (struct sim_hold){.event = index,
                                 .units = 1,
                                 .object = event->object,
                                 .part = shard_of(actor_table, event->argument),
                                 .handed = true});
        }
        return;
    case SIM_EVENT_RELEASED:
        release(holds, event->object, part);
        return;
    case RT_PROBE_DONE:
        release(holds, event->object, SIM_PART_NONE);
        return;
    default:
        return;
    }
}

/* Each thread or task that has not ended. */
static void
add_ends(struct sim_holds *holds)
{
    const struct sim_actor_table *actor_table = holds->actor_table;
    for (uint32_t part = 1; part < actor_table->count; part++) {
        const struct sim_part *thread = &actor_table->parts[part];
        if (thread->object != 0 && SIM_OBJECT_KIND(thread->object) == RT_OBJECT_TASK &&
                thread->name != NULL && !thread->finished) {
            begin(holds, (struct sim_hold){.event = SIM_EVENT_NONE,
                                 .units = 1,
                                 .object = thread->object,
                                 .part = part,
                                 .to_end = true});
        }
    }
}

/* Who takes from each channel. */
struct takers {
    struct taker {
        uint32_t object;
        uint32_t part; /* SIM_PART_NONE: none, … */
        bool several;  /* … or not one alone. */
        uint64_t left; /* In it, at the end of the failing run. */
    } all[CHANNELS];
    uint32_t count;
};

static struct taker *
taker_of(struct takers *takers, uint32_t object)
{
    uint32_t i = 0;
    while (i < takers->count && takers->all[i].object != object) {
        i++;
    }
    if (i == CHANNELS) {
        return NULL;
    }
    if (i == takers->count) {
        takers->all[takers->count++] =
                (struct taker){.object = object, .part = SIM_PART_NONE, .left = 0};
    }
    return &takers->all[i];
}

/* What a run takes from channels, each by the part of the failing run. */
static void
note_takers(struct takers *takers, const struct sim_actor_table *failing,
        const struct sim_actor_table *run)
{
    for (uint64_t i = run->first; i < run->end; i++) {
        const struct sim_event *event = sim_actor_table_event(run, i);
        bool channel = SIM_OBJECT_KIND(event->object) == RT_OBJECT_CHANNEL;
        struct taker *taker = channel ? taker_of(takers, event->object) : NULL;
        if (taker == NULL) {
            continue;
        }
        if (event->kind == RT_PROBE_PUT && run == failing) {
            taker->left += event->argument;
        }
        if (event->kind == RT_PROBE_CONSUME) {
            uint32_t part = sim_actor_table_part_of(run, i);
            part = run == failing ? part : sim__part_like(failing, run, part);
            uint64_t taken = run == failing ? event->argument : 0;
            taker->left = taken < taker->left ? taker->left - taken : 0; /* Not all is on record. */
            taker->several =
                    taker->several || (taker->part != SIM_PART_NONE && taker->part != part);
            taker->part = part;
        }
    }
}

static void
add_takers(struct sim_holds *holds, const struct sim_actor_table *passing)
{
    struct takers takers = {.count = 0};
    note_takers(&takers, holds->actor_table, holds->actor_table);
    if (passing != NULL) {
        note_takers(&takers, holds->actor_table, passing);
    }
    for (uint32_t i = 0; i < takers.count; i++) {
        const struct taker *taker = &takers.all[i];
        if (taker->part != SIM_PART_NONE && !taker->several && taker->left > 0) {
            begin(holds, (struct sim_hold){.event = SIM_EVENT_NONE,
                                 .units = taker->left,
                                 .object = taker->object,
                                 .part = taker->part,
                                 .takes = true});
        }
    }
}

void
sim_holds_make(struct sim_holds *holds, const struct sim_actor_table *actor_table,
        const struct sim_actor_table *passing)
{
    rt_assert(actor_table != NULL && actor_table->recorder != NULL);
    *holds = (struct sim_holds){.actor_table = actor_table};
    for (uint64_t i = actor_table->first; i < actor_table->end; i++) {
        take(holds, i);
    }
    add_ends(holds);
    add_takers(holds, passing);
}

void
sim_holds_free(struct sim_holds *holds)
{
    rt_assert(holds != NULL);
    free(holds->all);
    *holds = (struct sim_holds){0};
}

/* ---- Which actor waits for which. ------------------------------------------------------------ */

const struct sim_wait *
sim_hold_wait(const struct sim_hold *hold, const struct sim_ledger *ledger, uint32_t part)
{
    rt_assert(part < ledger->actor_table->count);
    /* Who takes, and waits for the same, waits for something to take. */
    bool known = hold->part != SIM_PART_NONE && !(hold->takes && hold->part == part);
    const struct sim_wait *wait = known ? sim_ledger_open_of(ledger, part, NULL) : NULL;
    while (wait != NULL && wait->object != hold->object) {
        wait = sim_ledger_open_of(ledger, part, wait);
    }
    return wait;
}

/* The first that `part` waits for; NULL: none. */
static const struct sim_hold *
blocking(const struct sim_holds *holds, const struct sim_ledger *ledger, uint32_t part)
{
    for (uint32_t i = 0; i < holds->count; i++) {
        if (sim_hold_wait(&holds->all[i], ledger, part) != NULL) {
            return &holds->all[i];
        }
    }
    return NULL;
}

static uint32_t
place_of(const struct sim_hold *const *chain, uint32_t count, const struct sim_hold *hold)
{
    rt_assert(count <= SIM_HOLDS_CHAIN);
    for (uint32_t i = 0; i < count; i++) {
        if (chain[i] == hold) {
            return i;
        }
    }
    return UINT32_MAX;
}

uint32_t
sim_holds_chain(const struct sim_holds *holds, const struct sim_ledger *ledger, uint32_t part,
        const struct sim_hold **ret, uint32_t *ret_circle)
{
    rt_assert(ret != NULL);
    rt_assert(ret_circle != NULL);
    uint32_t count = 0;
    *ret_circle = UINT32_MAX;
    while (count < SIM_HOLDS_CHAIN && part != SIM_PART_NONE) {
        const struct sim_hold *hold = blocking(holds, ledger, part);
        if (hold == NULL) {
            return count;
        }
        *ret_circle = place_of(ret, count, hold);
        if (*ret_circle != UINT32_MAX) {
            return count;
        }
        ret[count++] = hold;
        part = hold->part;
    }
    return count;
}
