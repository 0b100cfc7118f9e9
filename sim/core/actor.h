/*
 * actor.h -- what can take a step.
 *
 * Tasks, loops, host sources, faults: the world knows them only as actors. To be
 * stepped an actor must be *enabled*; it enables and disables itself as its state
 * changes, or asks to be enabled at a time. A kind of actor is a table of
 * functions, and the world needs no change for a new one.
 *
 * Order. The enabled actors are in a queue by the time at which they were
 * enabled. Its head is alternative 0 of the choice RUN: for tasks that is
 * first-woken-first-polled, and an actor that is never disabled, as a thread
 * would be, stays at the head and continues.
 *
 * Ids. `index` numbers the actors of a run from 1 in the order of creation. `id`
 * is made from the parent's id and the n-th child of that parent: it is the same in
 * another run of the same program in which others were created in between.
 *
 * Ownership. An actor is embedded in its owner, in the arena, for the whole run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sim/core/decide/choice.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SIM_NEVER UINT64_MAX
#define SIM_ACTORS_MAX 4095u /* What an object number can hold. */

struct sim_world;
struct sim_actor;

enum sim_actor_kind {
    SIM_ACTOR_WORLD,
    SIM_ACTOR_TASK,
    SIM_ACTOR_LOOP,
    SIM_ACTOR_SOURCE,
    SIM_ACTOR_FAULT,
    SIM_ACTOR_OTHER
};

/* How a spurious poll went. */
enum sim_spurious_poll {
    SIM_SPURIOUS_POLL_UNSUPPORTED, /* This actor cannot be resumed spuriously, or does not sleep. */
    SIM_SPURIOUS_POLL_STILL,       /* It was resumed, and waits for the same as before. */
    SIM_SPURIOUS_POLL_MOVED,       /* It has finished. */
    SIM_SPURIOUS_POLL_PARKED       /* It has left its executor, to be spawned again (T13). */
};

/* One thing that a blocked task waits for. */
struct sim_waiting {
    uint32_t object;
    uint32_t site;      /* The waiting line. */
    const char *reason; /* Borrowed; may be NULL. */
};

/* A loop that is blocked in its host. */
struct sim_in_host {
    uint32_t reports; /* How many things it asked for, at least 1. */
};

/* What a blocked actor means for a run in which nothing is left to wake. */
enum sim_idle {
    SIM_IDLE_NEVER,  /* Nothing wakes it any more. */
    SIM_IDLE_OTHERS, /* Others of the run may wake it, if they continue. */
    SIM_IDLE_OUTSIDE /* What is outside of the run may wake it: a client, a signal. */
};

struct sim_actor_ops {
    enum sim_actor_kind kind;
    /* What happens on its behalf is one step: a loop that polls it is not switched meanwhile. */
    bool undivided;
    /* Its due time ends a wait that it has limited itself: what it gains then is in time. */
    bool own_timeouts;
    /* Takes one step. The actor is enabled and has been taken out of the queue; it enables itself
     * again if it can make progress. */
    void (*step)(struct sim_actor *actor);
    /* For the oracle: polls the blocked task once, with choices muted. NULL: unsupported. */
    enum sim_spurious_poll (*spurious_poll)(struct sim_actor *actor);
    /* What it waits for: fills at most `max` entries and returns how many there are. NULL: none. */
    uint32_t (*waiting)(const struct sim_actor *actor, struct sim_waiting *ret, uint32_t max);
    /* What it was woken out of, where no poll has followed, or waited for last, where it waits for
     * nothing. For reports only. False: `waiting` has all of it. NULL: not known. */
    bool (*waited)(const struct sim_actor *actor, struct sim_waiting *ret);
    /* Ends it when the run is over and it is background. NULL: nothing to do. */
    void (*cancel)(struct sim_actor *actor);
    /* For the oracle's second stage: fires every waker that was derived from this blocked task (a
     * join's for its children). NULL: there are none. */
    void (*fire_derived)(struct sim_actor *actor);
    /* Whether it is blocked in its host, and what it asked there. NULL: never. */
    bool (*in_host)(const struct sim_actor *actor, struct sim_in_host *ret);
    /* For the oracle: the call in which it is blocked returns, and the `nth` of the things it asked
     * for is reported (from 1 on), or nothing (0), as after EINTR. The actor is enabled, and takes
     * its steps as always. NULL: unsupported. */
    void (*interrupt)(struct sim_actor *actor, uint32_t nth);
    /* It is blocked: may the run be over so, as a pass? NULL: SIM_IDLE_NEVER. */
    enum sim_idle (*idle)(const struct sim_actor *actor);
    /* The address of the function that each of its steps calls, a task's poll function. NULL: there
     * is none, or it is not known. */
    uintptr_t (*code)(const struct sim_actor *actor);
};

struct sim_actor {
    const struct sim_actor_ops *ops;
    struct sim_world *world;
    struct sim_actor *parent;
    const char *name;
    uint32_t id;
    uint32_t index;
    uint32_t object; /* Its object number; 0: none. */
    uint32_t children;
    bool enabled;
    bool background; /* The run does not wait for it to finish. */
    bool done;
    bool hosts;            /* Others are polled in its steps: where they are blocked, so is it. */
    bool asks_host;        /* It has waited in its host: reports reach other actors by its steps. */
    bool foreground;       /* The run waits for it: a task or loop that is not background. */
    uint64_t made_step;    /* The step in which it was made; 0: at the setup. */
    uint64_t enabled_step; /* The step at which it was enabled. */
    uint64_t due_ns;       /* It enables at this time; SIM_NEVER: no. */
    bool oversleeps;       /* It was due before, and sleeps on: the world is slow. */
    uint32_t due_slot;     /* Index in the world's list of actors with a due time. */
    uint32_t cause;        /* The step that woke it last. */
    uint64_t polls;        /* Steps taken, … */
    uint64_t polls_fault_free; /* … of these before the run became free of faults (fault_free.c). */
    uint64_t stopped_step;     /* Its last step: it has been blocked since. */
    uint64_t stopped_ns;
    uint64_t asked_step;         /* When a reactor that it drives asked its host last. */
    uint64_t perturbed_progress; /* The last step of progress when it was perturbed last, … */
    uint32_t perturbed;          /* … and how often it was since that step. */
    uint16_t objects[16];        /* Objects created by it, by kind. */
    struct sim_stream streams[SIM_KINDS];
};

/*
 * Makes `actor`, not enabled, as the next child of `parent` (NULL: of the actor whose step this
 * is; before the first step: of the world). `name` is borrowed for the run. `waited_for`: the run
 * is not over before sim_actor_finish. Too many actors end the run with verdict contract.
 */
void sim_actor_init(struct sim_actor *actor, struct sim_world *world,
        const struct sim_actor_ops *ops, struct sim_actor *parent, const char *name,
        bool waited_for);

/*
 * Records that it was created: an ACTOR event with `object`, its object number (0: none), and its
 * name. sim_actor_init does it for all but tasks, whose binding knows the object.
 */
void sim_actor_announce(struct sim_actor *actor, uint32_t object);

/* Appends it to the queue; enabled already: no-op. */
void sim_actor_enable(struct sim_actor *actor);

/* Takes it out of the queue; not enabled: no-op. */
void sim_actor_disable(struct sim_actor *actor);

/* Enables it at `time_ns` (in the past: before the next step); SIM_NEVER: cancels that. */
void sim_actor_due(struct sim_actor *actor, uint64_t time_ns);

/* It has finished for good: disabled, and the run no longer waits for it. */
void sim_actor_finish(struct sim_actor *actor);

/* It leaves for a while, as a task that parks (T13): as finished, but with no progress. */
void sim_actor_leave(struct sim_actor *actor);

/* It returns as the same actor. */
void sim_actor_return(struct sim_actor *actor);

/* A choice by this actor; see sim_decide. */
uint32_t sim_actor_choose(
        struct sim_actor *actor, enum sim_kind kind, uint32_t n, struct sim_odds odds);

/* As sim_actor_choose, for alternatives that have ids: `describe` and `context` as in choice.h. */
uint32_t sim_actor_choose_of(struct sim_actor *actor, enum sim_kind kind, uint32_t n,
        struct sim_odds odds,
        void (*describe)(const struct sim_choice *, uint32_t, struct sim_alternative *),
        const void *context);

/*
 * A number from lo to hi, both included, lo the baseline. Two steps: a class (lo, hi, the middle,
 * lo+1, another), then, for "another", halves until one of at most 64 can be picked.
 */
uint64_t sim_actor_range(struct sim_actor *actor, enum sim_kind kind, uint64_t lo, uint64_t hi);

/* How many of `full` (at least 1) are moved: all is the baseline; 1, half, full-1, another. */
uint64_t sim_actor_length(struct sim_actor *actor, uint64_t full);

#ifdef __cplusplus
}
#endif
