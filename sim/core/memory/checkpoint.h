/*
 * checkpoint.h -- copies of a run between two steps, from which a run with the same prefix resumes.
 *
 * A strategy that walks a tree makes run after run that differ only in their ends.
 * Between two steps all state of a run is in the arena, in the world, and in a few
 * counters. Restored from a copy of these, a run continues as if it had been made
 * from its beginning, with the same digest.
 *
 *      begin ── same: 7 ──▶ newest checkpoint at or before answer 7 ──▶ restored
 *      step  ── wanted ───▶ copied, if enough steps have passed since the last one
 *
 * For every strategy there is also a copy of the run after `setup`, the *beginning*.
 * It is the same for every seed if setup makes no decision; if it makes one,
 * each run calls setup. The copy is made in the second run in a row with the same scenario and
 * options, and holds all that setup wrote to the ring and to the table of actors, so other runs
 * in between do no harm. Replica runs call setup each time: so a setup that differs from call to
 * call is detected.
 *
 * The judge takes *snapshots* of a stopped run (sim_snapshot_take in world.h): it polls a task,
 * which changes the run, and restores the run.
 *
 * A copy holds the used end of each stack in use, and the writable memory of libraries. It is
 * sound only where it has all state of the run. So none is taken with an incomplete line of
 * output, with the thread sanitizer, with the address sanitizer while the run holds blocks of
 * malloc (which is the sanitizer's then, and not in the arena), where stacks are switched by
 * ucontext, and when it would be large. Such runs are made from their beginning, which takes
 * longer and gives the same result.
 *
 * Ownership. Of the process, beside a world: sim_checkpoints_init, then set
 * world->checkpoints. They are valid for one strategy with one scenario, options and recording
 * at a time; any other run that writes events or a tape invalidates them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/core/decide/options.h"

struct sim_world;
struct sim_scenario;
struct sim_strategy;
struct sim_resumption;

#define SIM_CHECKPOINTS_MAX 1024u
#define SIM_CHECKPOINTS_SIZE ((size_t)64 << 20)
#define SIM_SNAPSHOT_SIZE ((size_t)16 << 20)
#define SIM_SNAPSHOTS 4u
#define SIM_BEGINNING_SIZE ((size_t)256 << 10) /* Larger beginnings are not copied. */

struct sim_checkpoint {
    size_t offset;  /* Where its copy begins. */
    uint64_t asked; /* Answers before it. */
    uint64_t step;
};

/* A run after `setup`. */
struct sim_beginning {
    const struct sim_scenario *scenario; /* Of the last run; NULL: there was none. */
    struct sim_options options;
    bool again; /* The run before had the same scenario and options. */
    bool kept;
    char *memory; /* SIM_BEGINNING_SIZE. */
};

struct sim_checkpoints {
    char *memory;
    size_t size;
    size_t used;
    uint32_t count; /* Of the run in progress, oldest first. */
    struct sim_checkpoint all[SIM_CHECKPOINTS_MAX];
    /* They are valid for these. */
    const struct sim_strategy *strategy;
    const struct sim_scenario *scenario;
    struct sim_options options;
    bool events;
    bool texts;
    struct sim_beginning beginnings[2]; /* Of runs without events, and with. */
    bool sets_up_always;                /* No beginning is used. */
    /* In total. */
    uint64_t taken;
    uint64_t resumed;
    uint64_t begun; /* Runs that started from a beginning. */
};

/* Reserves `size` bytes for copies; no page is touched. */
void sim_checkpoints_init(struct sim_checkpoints *checkpoints, size_t size);
void sim_checkpoints_fini(struct sim_checkpoints *checkpoints);

/* Drops all of them. */
void sim_checkpoints_drop(struct sim_checkpoints *checkpoints);
