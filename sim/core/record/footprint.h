/*
 * footprint.h -- what an event accesses, and which two events conflict.
 *
 * A *transition* is one step of one actor, from its STEP event up to the next: for a
 * task that is a whole poll, for a loop a turn, for a source one arrival. Where the
 * runtime picks its tasks itself (orders fifo and lifo-slot, loops), the step is that
 * of the executor or loop, and so are the polls in it. A move of the clock while no
 * actor is enabled (CLOCK) is a transition of the world.
 *
 * Two transitions are *dependent* when they are of the same actor, or when an event of the
 * one and an event of the other access the same resource in modes that conflict:
 *
 *               READ   ADD    WRITE
 *      READ     -      x      x
 *      ADD      x      -      x        ADDs in any order have the same result; a
 *      WRITE    x      x      x        READ sees how many were before it.
 *
 * A resource is an object, by its number, or one of those that every run has (below).
 * Everything else commutes: two interleavings are equivalent when each can be made of the
 * other by exchanging neighbours that are not dependent. dpor, pos and the partial-order
 * hash (search/learn/observe.h) use this table.
 *
 *      event                                      accesses
 *      wake (queued, coalesced, in its own poll)  WRITE the task
 *      poll, spawn, cancel, park, complete        WRITE the task; the last three READ gone
 *      wake of one that has finished              READ the task, ADD gone (it may have no number)
 *      store, keep, replace, fire, erase          WRITE the slot
 *      fire of an empty slot                      READ the slot
 *      sub-wake                                   WRITE the combinator (whose slot has its number)
 *      arm                                        WRITE the timer and time: deadlines depend on
 *                                                 now, equal ones on the order of arming
 *      expire, disarm                             WRITE the timer, READ time
 *      a slow step                                WRITE time
 *      whether to yield: asked, answered yes      READ time
 *      the clock moves, no actor enabled          WRITE quiet; every STEP READs it: no step moves
 *                                                 across, as none was enabled
 *      consume, put, grant, ungrant, shut,        WRITE the object
 *      destroy, submit, done, suspend, resume
 *      refuse (a try that failed)                READ the object
 *      get of a cell or variable; set, assign     READ the cell; WRITE it
 *      wait, unwait, report, read, subscribe,     WRITE the source
 *      unsubscribe
 *      a source becomes ready, or no longer       WRITE the source, ADD readiness, READ traffic
 *      bytes written                              WRITE the source, ADD traffic
 *      a turn or poll of the host begins          READ readiness
 *      a spurious wake or report                  WRITE the source or task
 *      open, close                                WRITE the source, WRITE the descriptors
 *      a call of a program                        WRITE the source of its descriptor
 *      all others: step, polled, cleanup, clone,  nothing
 *      drop, log, out, goal, progress, fault …
 *
 * So wakes of different tasks commute, wakes of one task conflict with each other (the first
 * one is its cause) and with its poll; and a turn conflicts with every source that became ready.
 *
 * Not seen: a poll that reads the clock and arms nothing, or that reads plain memory of another
 * task (no cell, no object of the runtime). Not counted: the step cost (`step_ns`) makes every
 * deadline depend on the number of steps before. Coarser than necessary: readiness, traffic and
 * descriptors are one resource for all hosts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sim/core/record/event.h"

/* The numbers are bits: two accesses of one resource commute when both are READ or both ADD. */
enum sim_mode { SIM_MODE_NONE = 0, SIM_MODE_READ = 1, SIM_MODE_ADD = 2, SIM_MODE_WRITE = 3 };

/* Resources that every run has. No object has these numbers: object kinds begin at 1. */
enum sim_resource {
    SIM_RESOURCE_NONE,
    SIM_RESOURCE_TIME,
    SIM_RESOURCE_QUIET,
    SIM_RESOURCE_READINESS,
    SIM_RESOURCE_TRAFFIC,
    SIM_RESOURCE_DESCRIPTORS,
    SIM_RESOURCE_GONE,
    SIM_RESOURCES
};

/* One access. `resource`: an object number, or an enum sim_resource. */
struct sim_access {
    uint32_t resource;
    uint32_t mode; /* enum sim_mode, never NONE. */
};

/* The most that one event accesses. */
#define SIM_ACCESSES_MAX 3u

/* How a kind of event accesses its object, and at most two of the resources above. */
struct sim_footprint {
    uint8_t object; /* enum sim_mode; nothing is accessed where the event has no object. */
    struct {
        uint8_t resource;
        uint8_t mode;
    } also[2]; /* SIM_RESOURCE_NONE: no more. */
};

/* By kind: the table above. 256 entries, so that any byte is an index. */
extern const struct sim_footprint sim_footprints[256];

/* Fills `ret` with what `event` accesses and returns how many there are. */
static inline uint32_t
sim_event_accesses(const struct sim_event *event, struct sim_access ret[SIM_ACCESSES_MAX])
{
    const struct sim_footprint *footprint = &sim_footprints[event->kind];
    uint32_t count = 0;
    if (footprint->object != SIM_MODE_NONE && event->object != 0) {
        ret[count++] = (struct sim_access){event->object, footprint->object};
    }
    for (uint32_t i = 0; i < 2 && footprint->also[i].resource != SIM_RESOURCE_NONE; i++) {
        ret[count++] = (struct sim_access){footprint->also[i].resource, footprint->also[i].mode};
    }
    return count;
}

/* Whether the order of the two matters. */
static inline bool
sim_modes_conflict(uint32_t a, uint32_t b)
{
    return a != b ? a != SIM_MODE_NONE && b != SIM_MODE_NONE : a == SIM_MODE_WRITE;
}

static inline bool
sim_accesses_conflict(struct sim_access a, struct sim_access b)
{
    return a.resource == b.resource && sim_modes_conflict(a.mode, b.mode);
}

/* Adds the mode to the access of the same resource among the `count` of `set`. False: there is
 * none. READ and ADD together conflict with all that a WRITE does. */
static inline bool
sim_access_merge(struct sim_access *set, uint32_t count, struct sim_access access)
{
    for (uint32_t i = 0; i < count; i++) {
        if (set[i].resource == access.resource) {
            set[i].mode |= access.mode;
            return true;
        }
    }
    return false;
}

/* Whether some access of `a` conflicts with some access of `b`. */
bool sim_access_sets_conflict(
        const struct sim_access *a, uint32_t count_a, const struct sim_access *b, uint32_t count_b);

/* Whether some access of event `a` conflicts with some access of event `b`; actors are not
 * compared. */
bool sim_events_conflict(const struct sim_event *a, const struct sim_event *b);

/* Whether a transition begins with an event of this kind. */
static inline bool
sim_begins_transition(uint32_t kind)
{
    return kind == SIM_EVENT_STEP || kind == SIM_EVENT_CLOCK;
}
