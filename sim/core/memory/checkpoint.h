/*
 * checkpoint.h -- a run kept in the middle, from where another with the same beginning goes on.
 *
 * A strategy that walks a tree makes run after run that differ only in their ends.
 * Between two steps all that a run is lies in the arena, in the world, and in a few
 * counters: copied there, and copied back, the run goes on as if it had been made
 * from its beginning, to the last bit of its digest.
 *
 *      begin ── same: 7 ──▶ newest checkpoint at or before answer 7 ──▶ copied back
 *      step  ── wanted ───▶ copied, if enough steps lie since the one before
 *
 * What lies between nothing and the first step is kept as well, for every strategy: the
 * *beginning*, as `setup` left it (beginning.c). It is the same for every seed where setup was
 * asked nothing; where it was, each run is set up again. One is kept as of the second run in a row
 * with the same scenario and options, and goes back with all that setup wrote to the ring and to
 * the table of actors, so it holds whatever came in between. Twins set up again each time: a setup
 * that is not the same each time is found by them.
 *
 * The judge keeps a few more, *snapshots* of a run that stands stopped (sim_snapshot_take in
 * world.h): a question changes the run, and the run is put back.
 *
 * A copy holds the used end of each stack that is given out, and the writable memory of
 * libraries. It is sound only where nothing of the run lies elsewhere. None is taken with half a
 * line printed, with the thread sanitizer, with the address sanitizer while the run holds blocks of
 * malloc (which is the sanitizer's then, and not in the arena), where stacks are switched by
 * ucontext, and when it would be large. Such runs are made from their beginning: only the time it
 * takes differs.
 *
 * Ownership. Of the process, beside a world: sim_checkpoints_init, then set
 * world->checkpoints. They hold for one strategy with one scenario, options and recording,
 * one after the other; any other run that writes events or a tape invalidates them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CORE_MEMORY_CHECKPOINT_H
#define SIM_CORE_MEMORY_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "sim/core/options.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sim_world;
struct sim_scenario;
struct sim_strategy;
struct sim_resumption;

#define SIM_CHECKPOINTS_MAX 1024u
#define SIM_CHECKPOINTS_SIZE ((size_t)64 << 20)
#define SIM_SNAPSHOT_SIZE ((size_t)16 << 20)
#define SIM_SNAPSHOTS 4u
#define SIM_BEGINNING_SIZE ((size_t)256 << 10) /* Larger ones are not kept. */

struct sim_checkpoint {
    size_t offset;  /* Where its copy begins. */
    uint64_t asked; /* Answers before it. */
    uint64_t step;
};

/* A run behind `setup`. */
struct sim_beginning {
    const struct sim_scenario *scenario; /* Of the last run that looked here; NULL: none has. */
    struct sim_options options;
    bool again; /* The one before it was of the same. */
    bool kept;
    char *memory; /* SIM_BEGINNING_SIZE. */
};

struct sim_checkpoints {
    char *memory;
    size_t size;
    size_t used;
    uint32_t count; /* Along the run in progress, oldest first. */
    struct sim_checkpoint all[SIM_CHECKPOINTS_MAX];
    /* Whose they are. */
    const struct sim_strategy *strategy;
    const struct sim_scenario *scenario;
    struct sim_options options;
    bool events;
    bool texts;
    struct sim_beginning beginnings[2]; /* Of runs without events, and with. */
    bool sets_up_anew;                  /* Each run: no beginning is used. */
    /* Ever. */
    uint64_t taken;
    uint64_t resumed;
    uint64_t begun; /* Runs that began with a beginning that was kept. */
};

/* Reserves `size` bytes for copies; no page is touched. RT_E_FULL: the system has no room. */
RT_MUST_CHECK rt_err sim_checkpoints_init(struct sim_checkpoints *checkpoints, size_t size);
void sim_checkpoints_fini(struct sim_checkpoints *checkpoints);

/* Forgets them all. */
void sim_checkpoints_drop(struct sim_checkpoints *checkpoints);

#ifdef __cplusplus
}
#endif
#endif
