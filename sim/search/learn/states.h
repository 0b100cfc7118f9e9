/*
 * states.h -- the position of each actor of a run in its code, from the run's events.
 *
 * An actor in the state of an actor in an earlier run will mostly do what that one did. An actor's
 * *state* is a hash of
 *
 *   its stable id
 *   its place                the lines that its last step executed (of each event with a line); of
 *                            a task that was never polled: the line that spawned it
 *   its wake                 the line of the first wake since then by another actor
 *
 * so the state is a position in the code, and no value. Tasks of one code that stopped at the same
 * lines have the same *place*.
 *
 *      STEP a   POLL   GET x   WAKE a (own)   POLLED   STEP b   FIRE s   WAKE c   …
 *      └──── one step of a; its lines make a's new state ────┘ └── c was woken: a new state too
 *
 * Locations. The *locations* of a step are the resources that it touches
 * (core/record/footprint.h), each with its line. Left out are resources that each step touches
 * (QUIET), or only finished tasks (GONE), a task being spawned (no other can touch it yet), and a
 * task's access to itself, except for the poll after another's wake: its line is the place where
 * the task was blocked.
 *
 * Ownership. One struct, of fixed size, no pointers; zeroed before its first use. Nothing is
 * allocated, so it may take events while a run is in progress.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runtime/task/task.h"
#include "sim/base/probe.h"
#include "sim/core/actor.h"
#include "sim/core/record/footprint.h"

#define SIM_STATES_ACTORS (SIM_ACTORS_MAX + 1u)
#define SIM_STATES_TASK_BITS 14u /* Several times as many as there are actors. */

/* The bits of a state in a fact. */
#define SIM_STATE_BITS 30u

/* An actor of this run. */
struct sim_standing {
    uint32_t run;    /* The run in which the rest was written. */
    uint32_t id;     /* Stable. */
    uint32_t parent; /* In-run index of its parent; 0: the world. */
    uint32_t object; /* Of a task: its number. 0: none. */
    uint32_t place;  /* Not 0. */
    uint32_t state;  /* Not 0. */
    uint32_t steps;
    bool woken; /* By another actor, since its last step. */
};

struct sim_line_access {
    uint32_t resource; /* As in footprint.h. */
    uint32_t line;     /* A site's id, or the place of a blocked task. */
    uint32_t mode;     /* enum sim_mode */
    bool observes;     /* It reads the state before it, and does not only overwrite it. */
};

struct sim_states {
    uint32_t run;             /* Counts runs from 1. */
    uint32_t stepping;        /* In-run index of the actor whose step it is; 0: none. */
    uint32_t lines;           /* Hash of the lines that this step has executed; 0: none yet. */
    uint32_t post;            /* The line of the last spawn. */
    bool woke_self;           /* The task whose step it is has woken itself. */
    bool asleep;              /* Its poll is over, and it is blocked. */
    struct sim_standing from; /* The actor's state before the step. */
    struct sim_standing actors[SIM_STATES_ACTORS];
    struct {
        struct sim_key object;
        uint32_t actor;
    } tasks[1u << SIM_STATES_TASK_BITS]; /* By number of the task. */
};

/* Begins a run. */
void sim_states_begin(struct sim_states *states);

/* The actor with index `actor`; NULL when this run has had none. */
static inline struct sim_standing *
sim_states_of(struct sim_states *states, uint32_t actor)
{
    struct sim_standing *standing = &states->actors[actor];
    return standing->run == states->run ? standing : 0;
}

/* ---- Events. A search takes all of a run: the frequent ones are inlined. --------------------- */

static inline uint32_t
sim__states_mix(uint32_t a, uint32_t b)
{
    uint64_t word = ((uint64_t)a << 32 | b) * UINT64_C(0x9e3779b97f4a7c15);
    word ^= word >> 32;
    word *= UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)(word >> 32);
}

/* Not 0, and of SIM_STATE_BITS bits. */
static inline uint32_t
sim__state(uint32_t id, uint32_t place)
{
    uint32_t state = sim__states_mix(id, place) >> (32 - SIM_STATE_BITS);
    return state != 0 ? state : 1;
}

/* The last step is over, although the next has not begun: a choice needs the states of all. */
static inline void
sim_states_end_step(struct sim_states *states)
{
    struct sim_standing *standing = sim_states_of(states, states->stepping);
    if (states->stepping == 0 || standing == 0) {
        return;
    }
    /* A step without a line leaves its actor in its place. */
    if (states->lines != 0) {
        standing->place = states->lines;
    }
    standing->state = sim__state(standing->id, standing->place);
    standing->steps++;
    states->stepping = 0;
}

static inline void
sim__states_start(struct sim_states *states, uint32_t actor)
{
    struct sim_standing *standing = sim_states_of(states, actor);
    states->stepping = actor;
    states->lines = 0;
    states->woke_self = false;
    states->asleep = false;
    if (standing != 0) {
        states->from = *standing;
        standing->woken = false;
    } else {
        states->from = (struct sim_standing){.run = 0};
    }
}

/* ACTOR, POST, and a WAKE of another actor. */
void sim__states_rare(struct sim_states *states, const struct sim_event *event);

/* Takes the next event. */
static inline void
sim_states_event(struct sim_states *states, const struct sim_event *event)
{
    uint32_t kind = event->kind;
    bool own = states->stepping != 0 && event->object == states->from.object;
    if (kind == RT_PROBE_POLL) {
        return;
    }
    if (kind == RT_PROBE_POLLED) {
        /* Whether a task that polls others is blocked is unknown. */
        states->asleep = own && event->argument != RT_READY && !states->woke_self;
        return;
    }
    if (sim_begins_transition(kind)) {
        sim_states_end_step(states);
        if (kind == SIM_EVENT_STEP) {
            sim__states_start(states, event->actor);
        }
        return;
    }
    if (kind == RT_PROBE_WAKE && own && event->object != 0) {
        states->woke_self = true;
    } else if (kind == RT_PROBE_WAKE || kind == RT_PROBE_POST || kind == SIM_EVENT_ACTOR) {
        sim__states_rare(states, event);
        if (kind == SIM_EVENT_ACTOR) {
            return;
        }
    }
    uint32_t line = sim_event_line(event);
    if (line != 0) {
        states->lines = sim__states_mix(states->lines, line) | 1;
    }
}

/* Fills `ret` with the locations of `event`, the last one taken; returns how many there are. */
uint32_t sim_states_locations(const struct sim_states *states, const struct sim_event *event,
        struct sim_line_access ret[SIM_ACCESSES_MAX]);
