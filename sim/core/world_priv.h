/*
 * world_priv.h -- what the files of this folder share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <string.h>

#include "sim/core/world.h"

/* Fills the next event, with events on, and returns it; the caller asks sim_recorder_full. */
static inline struct sim_event *
sim__event_fill(struct sim_world *world, uint32_t kind, uint32_t object, uint32_t site,
        uint32_t await, uint64_t argument)
{
    const struct sim_actor *actor = world->current;
    struct sim_event *event = sim_record_next(&world->recorder);
    event->step = (uint32_t)world->step;
    event->cause = kind == RT_PROBE_POLL ? actor->cause : 0;
    event->object = object;
    event->site = site;
    event->await = await;
    event->actor = (uint16_t)actor->index;
    event->kind = (uint8_t)kind;
    event->flags = 0;
    event->argument = argument;
    return event;
}

/* sim_world_event, on the path of every step. */
static inline void
sim__event(struct sim_world *world, uint32_t kind, uint32_t object, uint32_t site, uint32_t await,
        uint64_t argument)
{
    if (world->recorder.events_on) {
        sim__event_fill(world, kind, object, site, await, argument);
        if (sim_recorder_full(&world->recorder)) {
            sim_recorder_chunk(&world->recorder);
        }
    }
}

/* Whether the run has written to what most runs leave empty: `audit_steps`, `checked`, `asked`. */
static inline bool
sim__has_notes(const struct sim_world *world)
{
    return world->noted || world->audits_drawn != 0;
}

/* Empties `checked` and `asked`. */
static inline void
sim__notes_clear(struct sim_world *world)
{
    if (world->noted) {
        memset(world->checked, 0, sizeof(world->checked));
        memset(world->asked, 0, sizeof(world->asked));
        world->noted = false;
    }
}

/* What a run takes: the option, else what the scenario declares, else what is usual; 0 is none. */
static inline uint64_t
sim__in_force(uint64_t option, uint64_t declared, uint64_t usual)
{
    return option != 0 ? option : declared != 0 ? declared : usual;
}

/* fault_free.c: sets when the fault-free phase begins, and its limits. */
void sim__fault_free_begin(struct sim_world *world);

/* Sets the cost of a step in a world that is busy without progress. */
void sim__busy_begin(struct sim_world *world);
/* Begins the fault-free phase when it is time, and ends a run that has not converged within its
 * limits. Returns the step at which to check again. */
uint64_t sim__fault_free_check(struct sim_world *world);
/* The fault-free phase has exceeded its limits: ends the run, unless it is a replay that is asked
 * about one task. */
void sim__not_converged(struct sim_world *world);

/* Enables all actors that are due; finds the next due time. */
void sim__enable_due(struct sim_world *world);

/* One round of the step rule; see sim/README.md. */
void sim__world_step(struct sim_world *world);

/* Rule 2, with no actor enabled: moves the clock to the earliest due time. False: there is none. */
bool sim__world_wait(struct sim_world *world);

/* The earliest due time; SIM_NEVER: there is none. */
uint64_t sim__world_next_due(const struct sim_world *world);

/* Repeats the step rule until the run is over or stopped. */
void sim__world_steps(struct sim_world *world);

/* trap.c: where the run of a world with a trap stops, so that its last steps are taken one by one;
 * nowhere without. */
struct sim_stop sim__trap_stop(const struct sim_world *world);
/* Stops in the debugger when this step is the one of the trap. */
void sim__trap(struct sim_world *world);
/* step.c: continues from that stop, calling sim__trap at each step. */
void sim__world_steps_trapping(struct sim_world *world);

/* step.c: continues a run that was stopped, up to another stop; the limits hold as in a run that
 * never stopped. */
void sim__world_steps_on(struct sim_world *world, struct sim_stop stop);

/* What runs now is left for good: calls of the C library are the simulator's own again. */
static inline void
sim__leave(const struct sim_world *world)
{
    if (world->on_leave != NULL) {
        world->on_leave();
    }
}

/* Switches to the world's stack if on a fiber, then ends the run there. Never returns. */
__attribute__((noreturn)) void sim__escape(struct sim_world *world);

/* Enables the probes that this run needs. */
void sim__probes_begin(struct sim_world *world);

/* The kinds of probes that this run needs; and the same again, for a run resumed. */
uint64_t sim__probes_meant(void);
void sim__probes_resume(const struct sim_world *world, uint64_t kinds);

/* As sim__world_steps, and takes the checkpoints that the strategy wants. */
void sim__world_steps_keeping(struct sim_world *world, const struct sim_resumption *resumption);

/* checkpoint.c: copies the run between two steps, where that is sound and worth it. */
void sim__checkpoint(struct sim_world *world);

/* checkpoint.c: restores the newest checkpoint of use to the world, whose decider has begun. False:
 * there is none, and nothing has changed. */
bool sim__resume(struct sim_world *world, struct sim_resumption *resumption,
        const struct sim_scenario *scenario, const struct sim_options *options,
        struct sim_recording recording);

/* checkpoint.c: whether a copy has all state of the run; its size in bytes; copying, restoring. */
bool sim__can_be_kept(const struct sim_world *world);
size_t sim__kept_size(const struct sim_world *world);
void sim__copy_out(const struct sim_world *world, char *to);
void sim__copy_back(struct sim_world *world, const char *from, struct sim_recording recording);

/* checkpoint.c: restores the world, whose decider has begun, to the end of `setup`. False: no copy
 * is of use, and nothing has changed. */
bool sim__begin_kept(struct sim_world *world, const struct sim_scenario *scenario,
        const struct sim_options *options, struct sim_recording recording);
/* checkpoint.c: copies the run after `setup`, where that is sound and of use. */
void sim__keep_beginning(struct sim_world *world);

/* checkpoint.c: a run is about to overwrite what checkpoints rely on. */
void sim__checkpoints_spoil(struct sim_world *world);

/* probe.c: notes a gain, where gains are noted. */
void sim__gain(struct sim_world *world, enum sim_gain_kind kind, uint32_t of);

/* Drops the fibers of the run. */
void sim__fibers_drop(struct sim_world *world);
