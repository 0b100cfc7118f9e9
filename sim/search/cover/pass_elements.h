/*
 * pass_elements.h -- which coverage points an event covers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/search/cover/pass.h"

/* The fields of thing.memory, by kind of object. */
enum {
    WAITS /* Of a task: where it last stored a waker; of a source: where a task waited for it. */
};
enum task_memory {
    TASK_WAITS = WAITS,
    TASK_WAITED,     /* Where it was blocked when it was woken. */
    TASK_WAKE,       /* Where it was woken; 0: it has been polled since. */
    TASK_WOKEN_STEP, /* The step of that wake. */
    TASK_TIMER,      /* Where it armed its last timer; 0: none, or that race is over. */
    TASK_TIMER_OBJECT,
    TASK_TIMER_EXPIRED /* 1: that timer has expired. */
};
enum slot_memory {
    SLOT_STORED, /* Where; 0: it is empty. */
    SLOT_STORED_STEP,
    SLOT_TASK,        /* The object whose waker it is. */
    SLOT_FOUND_EMPTY, /* Where a wake found it so, since the last store. */
    SLOT_ARMED_BY     /* Of a timer: the task. */
};
enum cell_memory { CELL_SET, CELL_SET_BY };

__attribute__((noinline)) static void
element_new(struct pass *pass, uint32_t at, const struct sim_element *element)
{
    struct sim_cover *cover = pass->cover;
    rt_assert(pass->count <= pass->max);
    if (pass->count == pass->max) {
        pass->run->cut = true;
        return;
    }
    cover->seen[at].sites = (uint64_t)element->first << 32 | element->second;
    cover->seen[at].kind = key_of(cover, element->kind);
    pass->elements[pass->count++] = *element;
}

/* Sites are hashes already, and need no other one. */
static inline void
cover_element(struct pass *pass, uint32_t kind, uint32_t first, uint32_t second)
{
    const struct sim_cover *cover = pass->cover;
    uint64_t sites = (uint64_t)first << 32 | second;
    uint64_t key = key_of(cover, kind);
    for (uint32_t at = first + (second << 7 | second >> 25) + kind * 97;; at++) {
        at &= SIM_COVER_ELEMENTS - 1;
        if (cover->seen[at].sites == sites && cover->seen[at].kind == key) {
            return;
        }
        if (cover->seen[at].kind >> 32 != cover->stamp) {
            element_new(pass, at, &(struct sim_element){kind, first, second});
            return;
        }
    }
}

static inline bool
is_task(uint32_t object)
{
    return SIM_OBJECT_KIND(object) == RT_OBJECT_TASK;
}

static inline bool
is_timer(uint32_t object)
{
    return SIM_OBJECT_KIND(object) == RT_OBJECT_TIMER;
}

static void
see_store(struct pass *pass, const struct sim_event *event, uint32_t *slot)
{
    uint32_t site = sim_event_line(event);
    cover_element(pass, SIM_ELEMENT_STORED, site, 0);
    if (slot[SLOT_FOUND_EMPTY] != 0) {
        cover_element(pass, SIM_ELEMENT_TOO_EARLY, slot[SLOT_FOUND_EMPTY], site);
    }
    slot[SLOT_STORED] = site;
    slot[SLOT_STORED_STEP] = event->step;
    slot[SLOT_TASK] = (uint32_t)event->argument;
    slot[SLOT_FOUND_EMPTY] = 0;
    if (pass->task != 0) {
        pass->memory[TASK_WAITS] = site;
    }
}

/* The stored waker stays, and the task waits there. */
static void
see_keep(struct pass *pass, const struct sim_event *event, uint32_t *slot)
{
    if (pass->task != 0) {
        pass->memory[TASK_WAITS] = sim_event_line(event);
    }
    slot[SLOT_STORED] = slot[SLOT_STORED] != 0 ? slot[SLOT_STORED] : sim_event_line(event);
}

/* The task that is being polled had been blocked while this waiter waited for it. */
static void
see_blocking(struct pass *pass, const uint32_t *slot)
{
    if (pass->task == 0 || slot[SLOT_TASK] == pass->task) {
        return;
    }
    const uint32_t *waker = pass->memory;
    if (waker[TASK_WAITED] != 0 && waker[TASK_WOKEN_STEP] >= slot[SLOT_STORED_STEP]) {
        cover_element(pass, SIM_ELEMENT_BLOCKED_BLOCKING, slot[SLOT_STORED], waker[TASK_WAITED]);
    }
}

static void
see_fire(struct pass *pass, const struct sim_event *event, uint32_t *slot)
{
    pass->fired = event->object;
    pass->fired_site = slot[SLOT_STORED];
    pass->fired_task = slot[SLOT_TASK];
    pass->by_timer = pass->by_timer || is_timer(event->object);
    if (slot[SLOT_STORED] != 0) {
        cover_element(pass, SIM_ELEMENT_FIRED, slot[SLOT_STORED], sim_event_line(event));
        see_blocking(pass, slot);
    }
    slot[SLOT_STORED] = 0;
}

static void
see_erase(struct pass *pass, const struct sim_event *event, uint32_t *slot)
{
    uint32_t stored = slot[SLOT_STORED];
    if (stored != 0) {
        cover_element(pass, SIM_ELEMENT_ERASED, stored, sim_event_line(event));
    }
    uint32_t whose = is_task(slot[SLOT_TASK]) ? slot[SLOT_TASK] : pass->task;
    if (stored != 0 && whose != 0 && !is_timer(event->object)) {
        const uint32_t *task = thing_of(pass, whose)->memory;
        if (task[TASK_TIMER] != 0 && task[TASK_TIMER_EXPIRED] != 0) {
            cover_element(pass, SIM_ELEMENT_TIMER_FIRST, task[TASK_TIMER], stored);
        }
    }
    slot[SLOT_STORED] = 0;
}

/* The race of a task's timer with another wake of the task. */
static void
see_race(struct pass *pass, const uint32_t *task, uint32_t other)
{
    if (task[TASK_TIMER] != 0) {
        uint32_t kind =
                task[TASK_TIMER_EXPIRED] != 0 ? SIM_ELEMENT_TIMER_FIRST : SIM_ELEMENT_EVENT_FIRST;
        cover_element(pass, kind, task[TASK_TIMER], other);
    }
}

/* Arguments of WAKE. */
#define WAKE_COALESCED 1u

static void
see_wake(struct pass *pass, const struct sim_event *event, uint32_t *task)
{
    uint32_t from = sim_event_line(event);
    bool by_slot = pass->fired != 0 && pass->fired_site != 0 && pass->fired_task == event->object;
    uint32_t waited = by_slot ? pass->fired_site : task[TASK_WAITS];
    if (event->object != pass->task && !pass->by_timer) {
        see_race(pass, task, waited != 0 ? waited : from);
    }
    pass->by_timer = false;
    if (event->argument == WAKE_COALESCED) {
        cover_element(pass, SIM_ELEMENT_COALESCED, from, waited);
        return;
    }
    task[TASK_WAKE] = from;
    task[TASK_WAITED] = waited;
    task[TASK_WOKEN_STEP] = event->step;
}

static void
see_poll(struct pass *pass, const struct sim_event *event, uint32_t *task)
{
    pass->task = event->object;
    pass->memory = task;
    if (task[TASK_WAKE] != 0) {
        cover_element(pass, SIM_ELEMENT_WAKE_CAUSE, task[TASK_WAKE], task[TASK_WAITED]);
        task[TASK_WAKE] = 0;
    }
}

static void
see_arm(struct pass *pass, const struct sim_event *event, uint32_t *timer)
{
    timer[SLOT_ARMED_BY] = pass->task;
    if (pass->task != 0) {
        uint32_t *task = pass->memory;
        task[TASK_TIMER] = sim_event_line(event);
        task[TASK_TIMER_OBJECT] = event->object;
        task[TASK_TIMER_EXPIRED] = 0;
    }
}

/* The timer has expired, or was disarmed. */
static void
see_timer_end(struct pass *pass, const struct sim_event *event, const uint32_t *timer)
{
    if (timer[SLOT_ARMED_BY] == 0) {
        return;
    }
    uint32_t *task = thing_of(pass, timer[SLOT_ARMED_BY])->memory;
    if (task[TASK_TIMER_OBJECT] == event->object) {
        task[TASK_TIMER_EXPIRED] = 1;
        task[TASK_TIMER] = event->kind == RT_PROBE_EXPIRE ? task[TASK_TIMER] : 0;
    }
}

static void
see_cell(struct pass *pass, const struct sim_event *event, uint32_t *cell)
{
    if (event->kind != SIM_EVENT_GET) {
        cell[CELL_SET] = event->site;
        cell[CELL_SET_BY] = event->actor;
    } else if (cell[CELL_SET] != 0 && cell[CELL_SET_BY] != event->actor) {
        cover_element(pass, SIM_ELEMENT_READS_FROM, cell[CELL_SET], event->site);
    }
}

/* An event without an object, or with one beyond the capacity. */
static void
see_alone(struct pass *pass, const struct sim_event *event)
{
    switch (event->kind) {
    case RT_PROBE_POLLED:
        pass->task = 0;
        break;
    case RT_PROBE_WAKE_DEAD:
        cover_element(pass, SIM_ELEMENT_WAKE_DEAD, sim_event_line(event), 0);
        break;
    case SIM_EVENT_GOAL:
        cover_element(pass, SIM_ELEMENT_GOAL, sim_event_line(event), 0);
        break;
    case SIM_EVENT_ACTOR:
        note_actor(pass->cover, event->actor & (SIM_COVER_ACTORS - 1), (uint32_t)event->argument);
        break;
    default:
        break;
    }
}

/* An event of the object with `memory`. */
static inline void
see_object(struct pass *pass, const struct sim_event *event, uint32_t *memory)
{
    switch (event->kind) {
    case RT_PROBE_POLLED:
        pass->task = 0;
        break;
    case RT_PROBE_POLL:
        see_poll(pass, event, memory);
        break;
    case RT_PROBE_WAKE:
        see_wake(pass, event, memory);
        break;
    case RT_PROBE_STORE:
        see_store(pass, event, memory);
        break;
    case RT_PROBE_KEEP:
        see_keep(pass, event, memory);
        break;
    case RT_PROBE_REPLACE:
        if (memory[SLOT_STORED] != 0) {
            cover_element(pass, SIM_ELEMENT_REPLACED, memory[SLOT_STORED], sim_event_line(event));
        }
        break;
    case RT_PROBE_FIRE:
        see_fire(pass, event, memory);
        break;
    case RT_PROBE_FIRE_EMPTY:
        cover_element(pass, SIM_ELEMENT_FIRED_EMPTY, sim_event_line(event), 0);
        memory[SLOT_FOUND_EMPTY] = sim_event_line(event);
        break;
    case RT_PROBE_ERASE:
        see_erase(pass, event, memory);
        break;
    case RT_PROBE_ARM:
        see_arm(pass, event, memory);
        break;
    case RT_PROBE_EXPIRE:
    case RT_PROBE_DISARM:
        see_timer_end(pass, event, memory);
        break;
    case RT_PROBE_WAIT:
        memory[WAITS] = sim_event_line(event);
        break;
    case SIM_EVENT_SPURIOUS:
        cover_element(pass, SIM_ELEMENT_SPURIOUS, memory[WAITS], 0);
        break;
    case SIM_EVENT_GET:
    case SIM_EVENT_SET:
    case SIM_EVENT_ASSIGN:
        see_cell(pass, event, memory);
        break;
    default:
        see_alone(pass, event);
        break;
    }
}
