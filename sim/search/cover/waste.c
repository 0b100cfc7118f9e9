/*
 * waste.c -- counts what a run did for nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/cover/waste.h"

#include <string.h>

#include "runtime/base/assert.h"

/* Wakers of one task that its last poll did not store: a task that waits for several things and is
 * polled again for one of them has a few. */
#define STALE_MAX 8u
#define LOOPS 64u /* Actors whose turns are followed. */

/* A waker that was taken out of a slot, to be woken. */
struct fired {
    uint32_t task; /* Whose; 0: none. */
    uint32_t site; /* Where it was stored. */
    bool stale;
};

struct pass {
    struct sim_waste *waste;
    const struct sim_event *event;
    struct fired fired; /* By the event just before. */
    /* Of each loop since it last asked its host. */
    struct {
        uint32_t site;  /* Where it asked. */
        bool answered;  /* The host has answered … */
        bool something; /* … with something that is ready, … */
        bool idle;      /* … and the loop has done nothing. */
        bool again;     /* The turn before was idle, too. */
    } turns[LOOPS];
};

/* ---- Counts. --------------------------------------------------------------------------------- */

void
sim_waste_add(struct sim_waste *waste, enum sim_waste_kind kind, uint32_t site, uint32_t step)
{
    rt_assert(waste->count <= SIM_WASTE_PLACES);
    waste->total++;
    for (uint32_t i = 0; i < waste->count; i++) {
        struct sim_wasted *place = &waste->places[i];
        if (place->kind == kind && (place->site == site || i == SIM_WASTE_PLACES - 1)) {
            place->times++;
            return;
        }
    }
    if (waste->count < SIM_WASTE_PLACES) {
        waste->places[waste->count++] = (struct sim_wasted){kind, site, 1, step};
    }
}

static void
count(struct pass *pass, enum sim_waste_kind kind, uint32_t site)
{
    sim_waste_add(pass->waste, kind, site, pass->event->step);
}

/* ---- Slots and tasks. ------------------------------------------------------------------------ */

/* NULL: there are too many. */
static struct sim_waste_object *
find(struct pass *pass, uint32_t number)
{
    struct sim_waste *waste = pass->waste;
    uint64_t key = (uint64_t)waste->stamp << 32 | number;
    for (uint32_t at = (uint32_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 40);; at++) {
        struct sim_waste_object *object = &waste->objects[at & (SIM_WASTE_OBJECTS - 1)];
        if (object->key == key) {
            return object;
        }
        if (object->key >> 32 != waste->stamp) {
            if (waste->used >= SIM_WASTE_OBJECTS / 4 * 3) {
                return NULL;
            }
            waste->used++;
            *object = (struct sim_waste_object){.key = key};
            return object;
        }
    }
}

/* The slot holds no waker any more. Returns whose it was, and whether it was stale. */
static bool
empty(struct pass *pass, uint32_t slot_number)
{
    struct sim_waste_object *slot = find(pass, slot_number);
    struct sim_waste_object *task =
            slot != NULL && slot->owner != 0 ? find(pass, slot->owner) : NULL;
    if (task == NULL) {
        return false;
    }
    bool fresh = slot->poll == task->poll;
    rt_assert(task->held > 0);
    task->held--;
    task->fresh -= fresh && task->fresh > 0;
    slot->owner = 0;
    return !fresh;
}

/* What is not emptied by an event of its own when its user no longer waits. */
static bool
is_emptied_silently(uint32_t object)
{
    uint32_t kind = SIM_OBJECT_KIND(object);
    return kind == RT_OBJECT_POLLABLE || kind == RT_OBJECT_SOURCE || kind == RT_OBJECT_TIMER;
}

/* The waker of `owner` is in the slot, as of its current poll. */
static void
hold(struct pass *pass, uint32_t slot_number, uint32_t owner)
{
    if (is_emptied_silently(slot_number)) {
        return;
    }
    struct sim_waste_object *slot = find(pass, slot_number);
    struct sim_waste_object *task = find(pass, owner);
    if (slot == NULL || task == NULL) {
        return;
    }
    if (slot->owner != owner) {
        (void)empty(pass, slot_number);
        slot->owner = owner;
        slot->site = sim_event_line(pass->event);
        task->held++;
        task->fresh++;
        if (task->held - task->fresh > STALE_MAX) {
            count(pass, SIM_WASTE_PILED_WAKER, sim_event_line(pass->event));
        }
    } else if (slot->poll != task->poll) {
        task->fresh++;
    }
    slot->poll = task->poll;
}

static void
begin_poll(struct pass *pass, uint32_t number)
{
    struct sim_waste_object *task = find(pass, number);
    if (task != NULL) {
        task->poll++;
        task->fresh = 0;
    }
}

static void
fire(struct pass *pass)
{
    const struct sim_event *event = pass->event;
    const struct sim_waste_object *slot = find(pass, event->object);
    pass->fired.site = slot != NULL && slot->owner != 0 ? slot->site : sim_event_line(event);
    pass->fired.task = (uint32_t)event->argument;
    pass->fired.stale = empty(pass, event->object);
}

/* Of the wakers that fire, only what wakes the task itself counts: a combinator keeps the wakers of
 * children that it does not poll. */
static void
wake(struct pass *pass)
{
    if (pass->fired.stale && pass->event->object == pass->fired.task) {
        count(pass, SIM_WASTE_STALE_WAKE, pass->fired.site);
    }
}

static void
wake_dead(struct pass *pass)
{
    count(pass, SIM_WASTE_DEAD_WAKE,
            pass->fired.task != 0 ? pass->fired.site : sim_event_line(pass->event));
}

static void
note_waker(struct pass *pass)
{
    const struct sim_event *event = pass->event;
    switch (event->kind) {
    case RT_PROBE_POLL:
        begin_poll(pass, event->object);
        break;
    case RT_PROBE_STORE:
    case RT_PROBE_KEEP:
        hold(pass, event->object, (uint32_t)event->argument);
        break;
    case RT_PROBE_ERASE:
    case RT_PROBE_REPLACE:
    case SIM_EVENT_FREE:
        (void)empty(pass, event->object);
        break;
    case RT_PROBE_FIRE:
        fire(pass);
        return;
    case RT_PROBE_WAKE:
        wake(pass);
        break;
    case RT_PROBE_WAKE_DEAD:
        wake_dead(pass);
        break;
    default:
        break;
    }
    pass->fired = (struct fired){0};
}

/* ---- Turns. ---------------------------------------------------------------------------------- */

#define BIT(kind) (UINT64_C(1) << ((kind)&63))

/* Events that are no work of a loop: what it is reported, and what the simulator does. */
static const uint64_t neutral[2] = {
        BIT(RT_PROBE_TURN) | BIT(RT_PROBE_TURNED) | BIT(RT_PROBE_ASK),
        BIT(SIM_EVENT_STEP) | BIT(SIM_EVENT_CLOCK) | BIT(SIM_EVENT_SLOW) | BIT(SIM_EVENT_REPORT) |
                BIT(SIM_EVENT_BLOCK) | BIT(SIM_EVENT_UNBLOCK) | BIT(SIM_EVENT_GET),
};

/* A turn was idle if the loop was told of something, or also in the turn before it of nothing: one
 * look before it goes to sleep is no waste. */
static void
ask_host(struct pass *pass, uint32_t loop)
{
    if (pass->turns[loop].answered) {
        bool idle = pass->turns[loop].idle;
        if (idle && (pass->turns[loop].something || pass->turns[loop].again)) {
            count(pass, SIM_WASTE_IDLE_TURN, pass->turns[loop].site);
        }
        pass->turns[loop].again = idle;
    }
    pass->turns[loop].answered = false;
    pass->turns[loop].something = false;
    pass->turns[loop].idle = true;
    pass->turns[loop].site = sim_event_line(pass->event);
}

static void
note_turn(struct pass *pass)
{
    const struct sim_event *event = pass->event;
    if (event->actor == 0 || event->actor >= LOOPS) {
        return;
    }
    if (event->kind == RT_PROBE_TURN || event->kind == SIM_EVENT_BLOCK) {
        ask_host(pass, event->actor);
    } else if (event->kind == RT_PROBE_TURNED || event->kind == SIM_EVENT_UNBLOCK) {
        pass->turns[event->actor].answered = true;
        pass->turns[event->actor].something |= event->argument != 0;
    } else if ((neutral[event->kind / 64 & 1] & BIT(event->kind)) == 0) {
        pass->turns[event->actor].idle = false;
    }
}

/* ---- The interface. -------------------------------------------------------------------------- */

void
sim_waste_count(struct sim_waste *waste, const struct sim_recorder *recorder)
{
    struct pass pass = {.waste = waste};
    waste->stamp++;
    waste->used = 0;
    waste->count = 0;
    waste->total = 0;
    uint64_t end = sim_recorder_run_end(recorder);
    for (uint64_t i = sim_recorder_first(recorder); i < end; i++) {
        pass.event = sim_recorder_event(recorder, i);
        note_waker(&pass);
        note_turn(&pass);
    }
}

static const struct {
    const char *name;
    const char *one;
    const char *several;
} kinds[SIM_WASTE_KINDS] = {
#define KIND(name, text, one, several, meaning) [SIM_WASTE_##name] = {text, one, several},
        SIM_WASTE_LIST(KIND)
#undef KIND
};

const char *
sim_waste_name(uint32_t kind)
{
    rt_assert(kind < SIM_WASTE_KINDS);
    return kinds[kind].name;
}

const char *
sim_waste_noun(uint32_t kind, uint64_t times)
{
    rt_assert(kind < SIM_WASTE_KINDS);
    return times == 1 ? kinds[kind].one : kinds[kind].several;
}
