/*
 * ledger.c -- following each waker from its store to its end.
 *
 * Invariant: the open waits are chained in `open` by what finds them (kind, object
 * and whose), the oldest first; an event that ends a wait ends the oldest of its
 * chain. A queue holds one waker of a task at most, so in practice there is one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/ledger.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/base/names.h"

#define BUCKETS 1024u
#define NO_WAIT UINT32_MAX

/* The pass over the events. */
struct pass {
    struct sim_ledger *ledger;
    const struct sim_event *event;
    uint64_t index;
    uint32_t part;
    uint32_t *next;            /* By wait: the next open one in its bucket. */
    uint32_t *numbers;         /* By part: waits so far. */
    uint32_t *ending;          /* By part: 1 + the step in which it ends; 0: none. */
    uint32_t fired;            /* The wait whose waker the event before has fired; NO_WAIT. */
    uint32_t buckets[BUCKETS]; /* The first of each chain. */
};

static uint32_t
bucket_of(uint32_t kind, uint32_t object, uint32_t whose)
{
    rt_assert(kind <= SIM_WAIT_LOCK);
    uint32_t hash = (object ^ whose * 0x9e3779b1u ^ kind << 13) * 0x85ebca6bu;
    return (hash ^ hash >> 16) % BUCKETS;
}

static uint32_t
event_whose(const struct sim_event *event)
{
    return event->argument <= UINT32_MAX ? (uint32_t)event->argument : 0;
}

static void
reserve(struct pass *pass)
{
    rt_assert(pass->ledger->count <= pass->ledger->capacity);
    struct sim_ledger *ledger = pass->ledger;
    sim_heap_grow(&ledger->waits, ledger->count, &ledger->capacity, sizeof(*ledger->waits));
    pass->next = sim_heap_resize(pass->next, ledger->capacity, sizeof(*pass->next));
}

static void
chain(struct pass *pass, uint32_t wait, uint32_t bucket)
{
    rt_assert(wait < pass->ledger->count);
    rt_assert(bucket < BUCKETS);
    uint32_t *link = &pass->buckets[bucket];
    while (*link != NO_WAIT) {
        link = &pass->next[*link];
    }
    pass->next[wait] = NO_WAIT;
    *link = wait;
}

static uint32_t
wait_open(struct pass *pass, uint32_t kind, uint32_t part, uint32_t object, uint32_t whose)
{
    rt_assert(part < pass->ledger->actor_table->count);
    reserve(pass);
    const struct sim_event *event = pass->event;
    uint32_t wait = pass->ledger->count++;
    pass->ledger->waits[wait] = (struct sim_wait){
            .store_event = pass->index,
            .keep_event = SIM_EVENT_NONE,
            .end_event = SIM_EVENT_NONE,
            .reason = sim_actor_table_text(pass->ledger->actor_table, pass->index),
            .part = part,
            .number = ++pass->numbers[part],
            .object = object,
            .whose = whose,
            .site = event->site,
            .await = event->await,
            .store_step = event->step,
            .kind = (uint8_t)kind,
    };
    chain(pass, wait, bucket_of(kind, object, whose));
    return wait;
}

/* Where the oldest open wait of (kind, object, whose) hangs; *link is NO_WAIT when there is
 * none. */
static uint32_t *
wait_link(struct pass *pass, uint32_t kind, uint32_t object, uint32_t whose)
{
    rt_assert(kind <= SIM_WAIT_LOCK);
    uint32_t *link = &pass->buckets[bucket_of(kind, object, whose)];
    while (*link != NO_WAIT) {
        const struct sim_wait *wait = &pass->ledger->waits[*link];
        if (wait->kind == kind && wait->object == object && wait->whose == whose) {
            break;
        }
        link = &pass->next[*link];
    }
    return link;
}

/* A waker that was stored before the record begins. */
static uint32_t
wait_unknown(struct pass *pass, uint32_t kind, uint32_t object, uint32_t whose)
{
    if (pass->ledger->actor_table->first == 0) {
        return NO_WAIT;
    }
    uint32_t part = sim_actor_table_object(pass->ledger->actor_table, whose);
    uint32_t wait = wait_open(pass, kind, part != SIM_PART_NONE ? part : 0, object, whose);
    if (wait != NO_WAIT) {
        pass->ledger->waits[wait].unknown = 1;
        pass->ledger->waits[wait].store_step = 0;
        pass->ledger->waits[wait].site = 0;
        pass->ledger->waits[wait].await = 0;
    }
    return wait;
}

/* Takes the wait at `link` out of its chain. */
static void
wait_close(struct pass *pass, uint32_t *link, enum sim_wait_end end)
{
    rt_assert(*link != NO_WAIT);
    rt_assert(*link < pass->ledger->count);
    rt_assert(pass->ledger->waits[*link].end == SIM_WAIT_OPEN);
    struct sim_wait *ended = &pass->ledger->waits[*link];
    *link = pass->next[*link];
    bool with_task = end == SIM_WAIT_ERASED && pass->ending[ended->part] == pass->event->step + 1;
    ended->end = (uint8_t)(with_task ? SIM_WAIT_ENDED : end);
    ended->end_event = pass->index;
    ended->end_step = pass->event->step;
    ended->ender = pass->part;
}

/* Ends the oldest open wait of (kind, object, whose); NO_WAIT: there is none. */
static uint32_t
wait_end(struct pass *pass, uint32_t kind, uint32_t object, uint32_t whose, enum sim_wait_end end)
{
    rt_assert(end != SIM_WAIT_OPEN);
    rt_assert(end < SIM_WAIT_ENDS);
    uint32_t *link = wait_link(pass, kind, object, whose);
    if (*link == NO_WAIT && kind == SIM_WAIT_SLOT) {
        (void)wait_unknown(pass, kind, object, whose);
        link = wait_link(pass, kind, object, whose);
    }
    uint32_t wait = *link;
    if (wait != NO_WAIT) {
        wait_close(pass, link, end);
    }
    return wait;
}
/* A question of another may stand in the same chain: all of one source end with its report. */
static void
host_end_all(struct pass *pass, enum sim_wait_end end)
{
    rt_assert(pass->event->kind == SIM_EVENT_REPORT);
    while (*wait_link(pass, SIM_WAIT_HOST, pass->event->object, 0) != NO_WAIT) {
        (void)wait_end(pass, SIM_WAIT_HOST, pass->event->object, 0, end);
    }
}

/* The asker's own question, when it has one. */
static void
note_unwait(struct pass *pass)
{
    rt_assert(pass->event->kind == RT_PROBE_UNWAIT);
    uint32_t *link = wait_link(pass, SIM_WAIT_HOST, pass->event->object, 0);
    uint32_t oldest = *link;
    while (*link != NO_WAIT && pass->ledger->waits[*link].part != pass->part) {
        link = &pass->next[*link];
    }
    bool own = *link != NO_WAIT && pass->ledger->waits[*link].object == pass->event->object &&
               pass->ledger->waits[*link].kind == SIM_WAIT_HOST;
    if (own && *link != oldest) {
        wait_close(pass, link, SIM_WAIT_TAKEN_BACK);
    } else {
        (void)wait_end(pass, SIM_WAIT_HOST, pass->event->object, 0, SIM_WAIT_TAKEN_BACK);
    }
}

/* The actor that is given a lock of the program's own. */
static uint32_t
taker_of(const struct pass *pass)
{
    rt_assert(pass->event->kind == SIM_EVENT_GRANTED);
    uint32_t whose = event_whose(pass->event);
    uint32_t part =
            whose != 0 ? sim_actor_table_object(pass->ledger->actor_table, whose) : SIM_PART_NONE;
    return part != SIM_PART_NONE ? part : pass->part;
}

/* Where the wait of `part` for the lock of this event hangs; *link is NO_WAIT: it has none. */
static uint32_t *
lock_link(struct pass *pass, uint32_t part)
{
    uint32_t *link = wait_link(pass, SIM_WAIT_LOCK, pass->event->object, 0);
    rt_assert(part != SIM_PART_NONE);
    while (*link != NO_WAIT && (pass->ledger->waits[*link].kind != SIM_WAIT_LOCK ||
                                       pass->ledger->waits[*link].object != pass->event->object ||
                                       pass->ledger->waits[*link].part != part)) {
        link = &pass->next[*link];
    }
    return link;
}

static void
note_wanted(struct pass *pass)
{
    rt_assert(pass->event->kind == SIM_EVENT_WANTED);
    if (*lock_link(pass, pass->part) == NO_WAIT) {
        (void)wait_open(pass, SIM_WAIT_LOCK, pass->part, pass->event->object, 0);
    }
}

static void
end_lock_wait(struct pass *pass, uint32_t part, enum sim_wait_end end)
{
    uint32_t *link = lock_link(pass, part);
    if (*link != NO_WAIT) {
        wait_close(pass, link, end);
    }
}

static void
note_keep(struct pass *pass)
{
    rt_assert(pass->event->kind == RT_PROBE_KEEP);
    uint32_t whose = event_whose(pass->event);
    uint32_t wait = *wait_link(pass, SIM_WAIT_SLOT, pass->event->object, whose);
    if (wait == NO_WAIT) {
        wait = wait_unknown(pass, SIM_WAIT_SLOT, pass->event->object, whose);
    }
    if (wait != NO_WAIT) {
        struct sim_wait *kept = &pass->ledger->waits[wait];
        kept->kept++;
        kept->keep_event = pass->index;
        /* The future may have moved to another task with its waker: that one sleeps now. */
        kept->part = pass->part;
    }
}

/* What came of the waker that was fired just before. A wake that no place fired came from a
 * clone. */
static void
note_wake(struct pass *pass, enum sim_wake wake)
{
    rt_assert(wake < SIM_WAKES);
    uint32_t wait = pass->fired;
    if (wait == NO_WAIT && wake != SIM_WAKE_CHILD) {
        wait = wait_end(pass, SIM_WAIT_CLONE, 0, pass->event->object, SIM_WAIT_FIRED);
    }
    if (wait != NO_WAIT) {
        pass->ledger->waits[wait].wake = (uint8_t)wake;
    }
}

/* From here on in this step, what is emptied for `part` is emptied because it ends. */
static void
note_ending(struct pass *pass, uint32_t part)
{
    rt_assert(part == SIM_PART_NONE || part < pass->ledger->actor_table->count);
    if (part != SIM_PART_NONE) {
        pass->ending[part] = pass->event->step + 1;
    }
}

static void
note_polled(struct pass *pass)
{
    rt_assert(pass->event->kind == RT_PROBE_POLLED);
    /* 0 is pending; ready and parked empty every place of the task. */
    if (pass->event->argument != 0) {
        note_ending(pass, pass->part);
    }
}

static enum sim_wake
wake_of(const struct sim_event *event)
{
    rt_assert(event->kind == RT_PROBE_WAKE);
    return event->argument == 0   ? SIM_WAKE_QUEUED
           : event->argument == 1 ? SIM_WAKE_COALESCED
                                  : SIM_WAKE_POLLING;
}

static void
take(struct pass *pass)
{
    rt_assert(pass->fired == NO_WAIT || pass->fired < pass->ledger->count);
    const struct sim_event *event = pass->event;
    uint32_t whose = event_whose(event);
    uint32_t fired = NO_WAIT;
    switch (event->kind) {
    case RT_PROBE_STORE:
        (void)wait_open(pass, SIM_WAIT_SLOT, pass->part, event->object, whose);
        break;
    case RT_PROBE_KEEP:
        note_keep(pass);
        break;
    case RT_PROBE_REPLACE:
        (void)wait_end(pass, SIM_WAIT_SLOT, event->object, whose, SIM_WAIT_REPLACED);
        break;
    case RT_PROBE_FIRE:
        fired = wait_end(pass, SIM_WAIT_SLOT, event->object, whose, SIM_WAIT_FIRED);
        break;
    case RT_PROBE_ERASE:
        (void)wait_end(pass, SIM_WAIT_SLOT, event->object, whose, SIM_WAIT_ERASED);
        break;
    case SIM_EVENT_FREE:
        (void)wait_end(pass, SIM_WAIT_SLOT, event->object, whose, SIM_WAIT_FREED);
        break;
    case RT_PROBE_CLONE:
        (void)wait_open(pass, SIM_WAIT_CLONE, pass->part, 0, whose);
        break;
    case RT_PROBE_DROP:
        (void)wait_end(pass, SIM_WAIT_CLONE, 0, whose, SIM_WAIT_DROPPED);
        break;
    case RT_PROBE_WAKE:
        note_wake(pass, wake_of(event));
        break;
    case RT_PROBE_WAKE_DEAD:
        note_wake(pass, SIM_WAKE_DEAD);
        break;
    case RT_PROBE_SUBWAKE:
        note_wake(pass, SIM_WAKE_CHILD);
        break;
    case RT_PROBE_POLLED:
        note_polled(pass);
        break;
    case RT_PROBE_CANCEL:
        note_ending(pass, sim_actor_table_object(pass->ledger->actor_table, event->object));
        break;
    case RT_PROBE_WAIT:
        (void)wait_open(pass, SIM_WAIT_HOST, pass->part, event->object, 0);
        break;
    case RT_PROBE_UNWAIT:
        note_unwait(pass);
        break;
    case SIM_EVENT_WANTED:
        note_wanted(pass);
        break;
    case SIM_EVENT_GRANTED:
        end_lock_wait(pass, taker_of(pass), SIM_WAIT_GRANTED);
        break;
    case SIM_EVENT_RELEASED:
        end_lock_wait(pass, pass->part, SIM_WAIT_TAKEN_BACK);
        break;
    case SIM_EVENT_REPORT:
        host_end_all(pass, SIM_WAIT_REPORTED);
        break;
    default:
        break;
    }
    pass->fired = fired;
}

static void
pass_init(struct pass *pass)
{
    rt_assert(pass->ledger->actor_table != NULL);
    uint32_t parts = pass->ledger->actor_table->count;
    pass->numbers = sim_heap_new(parts, sizeof(*pass->numbers));
    pass->ending = sim_heap_new(parts, sizeof(*pass->ending));
    for (uint32_t i = 0; i < BUCKETS; i++) {
        pass->buckets[i] = NO_WAIT;
    }
}

void
sim_ledger_make(struct sim_ledger *ledger, const struct sim_actor_table *actor_table)
{
    rt_assert(ledger != NULL);
    rt_assert(actor_table != NULL && actor_table->recorder != NULL);
    *ledger = (struct sim_ledger){.actor_table = actor_table};
    struct pass pass = {.ledger = ledger, .fired = NO_WAIT};
    pass_init(&pass);
    for (uint64_t i = actor_table->first; i < actor_table->end; i++) {
        pass.index = i;
        pass.event = sim_actor_table_event(actor_table, i);
        pass.part = sim_actor_table_part_of(actor_table, i);
        take(&pass);
    }
    free(pass.next);
    free(pass.numbers);
    free(pass.ending);
}

void
sim_ledger_free(struct sim_ledger *ledger)
{
    rt_assert(ledger != NULL);
    free(ledger->waits);
    *ledger = (struct sim_ledger){0};
}

const struct sim_wait *
sim_ledger_open_of(const struct sim_ledger *ledger, uint32_t part, const struct sim_wait *after)
{
    rt_assert(part != SIM_PART_NONE);
    rt_assert(after == NULL || (after >= ledger->waits && after < ledger->waits + ledger->count));
    uint32_t i = after != NULL ? (uint32_t)(after - ledger->waits) + 1 : 0;
    for (; i < ledger->count; i++) {
        if (ledger->waits[i].part == part && ledger->waits[i].end == SIM_WAIT_OPEN) {
            return &ledger->waits[i];
        }
    }
    return NULL;
}

/* ---- Names. ---------------------------------------------------------------------------------- */

static const struct sim_name ends[] = {SIM_WAIT_END_LIST(SIM_NAME_ROW)};
static const struct sim_name wakes[] = {SIM_WAKE_LIST(SIM_NAME_ROW)};

const char *
sim_wait_end_name(uint32_t end)
{
    return sim_name_at(ends, SIM_WAIT_ENDS, end)->name;
}

const char *
sim_wake_name(uint32_t wake)
{
    return sim_name_at(wakes, SIM_WAKES, wake)->name;
}

const char *
sim_wake_meaning(uint32_t wake)
{
    return sim_name_at(wakes, SIM_WAKES, wake)->meaning;
}
