/*
 * states.h -- where each actor of a run stands, told by its events.
 *
 * What an actor will do next cannot be asked: its next step is code. But who stands where
 * another stood in an earlier run will mostly do what that one did. An actor's *state* is made
 * from
 *
 *   who it is                its stable id
 *   where it stopped         the lines that its last step passed (of each event that has a line);
 *                            of a task that was never polled: the line that spawned it
 *   what woke it             the line of the first wake since then that was not its own
 *
 * so the state is a place in the code, and no value. Without the id it is its *place*: tasks of
 * one code that stopped at the same lines stand in one place.
 *
 *      STEP a   POLL   GET x   WAKE a (own)   POLLED   STEP b   FIRE s   WAKE c   …
 *      └──── one step of a; its lines make a's new state ────┘ └── c was woken: a new state too
 *
 * Locations. What a step touches, and on which line, are its *locations*; which resources an event
 * touches says core/footprint.h. Left out is what each step touches (QUIET), what only the dead
 * have (GONE), who is posted (until then nobody can touch it), and a task's own number, but for the
 * poll that another's wake led to: its line is the place in which the task slept.
 *
 * Ownership. One struct, of fixed size, no pointers; zeroed before its first use. Nothing is
 * allocated, so it may be told events while a run is in progress.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_SEARCH_LEARN_STATES_H
#define SIM_SEARCH_LEARN_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/task/task.h"
#include "sim/core/actor.h"
#include "sim/core/footprint.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SIM_STATES_ACTORS (SIM_ACTORS_MAX + 1u)
#define SIM_STATES_TASKS (4 * SIM_STATES_ACTORS)

/* States are below this: a fact has room for no more. */
#define SIM_STATE_BITS 30u

/* An actor of this run. */
struct sim_standing {
    uint32_t run;    /* The run in which the rest was written. */
    uint32_t id;     /* Stable. */
    uint32_t parent; /* In-run index of who made it; 0: the world. */
    uint32_t object; /* Of a task: its number. 0: none. */
    uint32_t place;  /* Where it stopped; not 0. */
    uint32_t state;  /* Not 0. */
    uint32_t steps;
    bool woken; /* By somebody else, since its last step. */
};

struct sim_line_access {
    uint32_t resource; /* As in footprint.h. */
    uint32_t line;     /* A site's id, or the place of a blocked task. */
    uint32_t mode;     /* enum sim_mode */
    bool observes;     /* It sees what came before, and is not a mere overwriting. */
};

struct sim_states {
    uint32_t run;             /* Counts runs from 1. */
    uint32_t stepping;        /* In-run index of whose step it is; 0: nobody's. */
    uint32_t lines;           /* Hash of the lines that this step has passed; 0: none yet. */
    uint32_t post;            /* The line of the last post. */
    bool roused;              /* The task whose step it is has woken itself. */
    bool asleep;              /* Its poll is over, and it waits for somebody. */
    struct sim_standing from; /* As who steps stood before. */
    struct sim_standing actors[SIM_STATES_ACTORS];
    struct {
        uint32_t object;
        uint32_t run;
        uint32_t actor;
    } tasks[SIM_STATES_TASKS]; /* By number of the task; open addressing. */
};

/* Begins a run. */
void sim_states_begin(struct sim_states *states);

/* The actor with index `actor`, NULL when this run has told of none. */
static inline struct sim_standing *
sim_states_of(struct sim_states *states, uint32_t actor)
{
    struct sim_standing *standing = &states->actors[actor];
    return standing->run == states->run ? standing : 0;
}

/* ---- Events. A search hears each of a run: what most of them do is inlined. ----------------- */

static inline uint32_t
sim__states_mix(uint32_t a, uint32_t b)
{
    uint64_t word = ((uint64_t)a << 32 | b) * UINT64_C(0x9e3779b97f4a7c15);
    word ^= word >> 32;
    word *= UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)(word >> 32);
}

/* Not 0, and not more than a fact has room for. */
static inline uint32_t
sim__state(uint32_t id, uint32_t place)
{
    uint32_t state = sim__states_mix(id, place) >> (32 - SIM_STATE_BITS);
    return state != 0 ? state : 1;
}

static inline uint32_t
sim__line(const struct sim_event *event)
{
    return event->await != 0 ? event->await : event->site;
}

/* The step that was told last is over, although the next has not begun: somebody asks where all
 * stand. */
static inline void
sim_states_settle(struct sim_states *states)
{
    struct sim_standing *standing = sim_states_of(states, states->stepping);
    if (states->stepping == 0 || standing == 0) {
        return;
    }
    /* A step that passed no line leaves its actor where it was. */
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
    states->roused = false;
    states->asleep = false;
    if (standing != 0) {
        states->from = *standing;
        standing->woken = false;
    } else {
        states->from = (struct sim_standing){.run = 0};
    }
}

/* ACTOR, POST, and a WAKE of somebody else. */
void sim__states_rare(struct sim_states *states, const struct sim_event *event);

/* Tells the next event. */
static inline void
sim_states_event(struct sim_states *states, const struct sim_event *event)
{
    uint32_t kind = event->kind;
    bool own = states->stepping != 0 && event->object == states->from.object;
    if (kind == RT_PROBE_POLL) {
        return;
    }
    if (kind == RT_PROBE_POLLED) {
        /* Of a task that polls others nobody can say whether it waits. */
        states->asleep = own && event->argument != RT_READY && !states->roused;
        return;
    }
    if (sim_begins_transition(kind)) {
        sim_states_settle(states);
        if (kind == SIM_EVENT_STEP) {
            sim__states_start(states, event->actor);
        }
        return;
    }
    if (kind == RT_PROBE_WAKE && own && event->object != 0) {
        states->roused = true;
    } else if (kind == RT_PROBE_WAKE || kind == RT_PROBE_POST || kind == SIM_EVENT_ACTOR) {
        sim__states_rare(states, event);
        if (kind == SIM_EVENT_ACTOR) {
            return;
        }
    }
    uint32_t line = sim__line(event);
    if (line != 0) {
        states->lines = sim__states_mix(states->lines, line) | 1;
    }
}

/* Fills `ret` with the locations of `event`, which was told last, and returns how many there are.
 * */
uint32_t sim_states_locations(const struct sim_states *states, const struct sim_event *event,
        struct sim_line_access ret[SIM_ACCESSES_MAX]);

#ifdef __cplusplus
}
#endif
#endif
