/*
 * experiment.h -- the run again, with one thing different: does the waiter make progress?
 *
 * All questions below the level of steps are put like this: a replay of the run is stopped, a word
 * of memory is given another value, the replay continues or the blocked task is asked there (the
 * judge's spurious poll), and what happens is compared. A question may kill its process, as a word
 * is changed without the program's knowledge. So questions are numbered in a fixed order and
 * counted in shared memory before they are put; a worker that follows a dead one skips as many.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/core/memory/word.h"
#include "sim/engine/worker/single.h"
#include "sim/explain/look/walk.h"
#include "sim/judge/spurious_poll.h"

/* ---- In the parent: the two runs, and what workers find in them. ----------------------------- */

/* The failing run and the nearest one that passes. All is borrowed. */
struct sim_runs {
    const struct sim_scenario *scenario;
    const struct sim_options *options;
    uint64_t seed;
    uint32_t hang_ms;
    struct sim_budget *budget;
    const struct sim_tape *failing;
    const struct sim_tape *passing; /* NULL: there is none. */
};

typedef void sim_analyze_fn(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *results);

/* Zeroed memory that workers forked from now on share. Freed by sim_results_free, which takes the
 * address of the pointer (NULL in it: nothing to do) and nulls it. */
void *sim_results_new(size_t size);
void sim_results_free(void *pointer);

/* Makes one of the two runs, with `analyze` after it, in the worker, or (NULL) in a separate one
 * where the budget has something left. */
void sim_runs_analyze(const struct sim_runs *runs, struct sim_single *worker,
        const struct sim_tape *tape, sim_analyze_fn *analyze, void *results);

/* ---- In the worker. -------------------------------------------------------------------------- */

/* Questions that were begun, and the steps of their replays. */
struct sim_tries {
    uint32_t begun;
    uint64_t steps;
};

/* A word that a step changed. */
struct sim_change {
    uint64_t step;
    uint64_t offset; /* In the arena; a multiple of 8. */
    uint64_t before;
    uint64_t after;
    uint32_t actor_id; /* Whose step it was: the stable id. */
};

/* The bytes that it changes, as a mask. Neighbours in one word are not its own. */
uint64_t sim_change_bytes(const struct sim_change *change);
/* `word` with those bytes as they were before the change. */
uint64_t sim_change_undone(const struct sim_change *change, uint64_t word);
/* The same change the other way round: undone, it is done. */
struct sim_change sim_change_reversed(const struct sim_change *change);

struct sim_experiment {
    struct sim_world *world;
    const struct sim_case *what;
    const struct sim_outcome *outcome; /* Of the run itself. */
    struct sim_tries *tries;           /* In shared memory; NULL: nothing is counted. */
    uint32_t tries_max;
    uint64_t steps_max; /* 0: no bound. */
    uint32_t numbered;  /* Questions so far, those of other workers included. */
    uint64_t *words;    /* Of the arena, when sim_experiment_remember was called; or NULL. */
    size_t word_count;
    size_t word_capacity;
    struct sim_aside kept;
};

/* Sets aside what the run has written down; sim_experiment_end puts it back. */
void sim_experiment_begin(struct sim_experiment *experiment, struct sim_world *world,
        const struct sim_case *what, const struct sim_outcome *outcome);
void sim_experiment_end(struct sim_experiment *experiment);

/* Replays up to the end of step `step`, or to the quiescence in which the run ended. False: it is
 * not reached. sim_world_drop must follow in any case. */
bool sim_experiment_at(const struct sim_experiment *experiment, uint64_t step);
bool sim_experiment_at_end(const struct sim_experiment *experiment);
struct sim_stop sim_experiment_end_stop(const struct sim_experiment *experiment);

/* Replays up to the end of `step`, undoes the change, and continues to `to`. False: that is not
 * reached. sim_world_drop must follow in any case. */
bool sim_experiment_undo(const struct sim_experiment *experiment, uint64_t step,
        const struct sim_change *change, struct sim_stop to);

/* Whether one more question may be put, whose replay takes `steps`: then it counts as begun. False:
 * another worker has put it, or there were enough. */
bool sim_experiment_next(struct sim_experiment *experiment, uint64_t steps);

enum sim_reaction {
    SIM_REACTION_NONE,    /* It could not be asked, or died of it. */
    SIM_REACTION_BLOCKED, /* Nothing has changed for it. */
    SIM_REACTION_PROGRESS /* It gains something, or waits for something else. */
};

/* Asks the blocked actor. */
enum sim_reaction sim_experiment_ask(
        const struct sim_experiment *experiment, const struct sim_question *question);

/* The same of the failing run after `step`, with all others held back and in a process of its own:
 * whether the actor with that index makes progress by a poll alone. */
enum sim_reaction sim_runs_ask(const struct sim_runs *runs, uint32_t actor, uint64_t step);

/* Keeps a copy of the arena as it is now, in place of an earlier one. False: the system has no
 * memory. sim_experiment_end frees it. */
bool sim_experiment_remember(struct sim_experiment *experiment);

/* Whether the arena is as it was then, but for `change` (NULL: none), which is undone. Addresses on
 * the replay's own stack count as equal: they depend on who replays. */
bool sim_experiment_is_same(
        const struct sim_experiment *experiment, const struct sim_change *change);

/*
 * Finds the instruction that writes the bytes of `change` in step `step`: the first of several, or
 * the last. Where `step` is the change's own, it is undone before: what is written may be there
 * already. No frames: not found.
 */
void sim_experiment_find_writer(const struct sim_experiment *experiment,
        const struct sim_change *change, uint64_t step, bool first, struct sim_walk_stop *ret);

/* Undoes the change in the world as it stands. */
void sim_word_undo(struct sim_world *world, const struct sim_change *change);

/* A word to watch during a walk; `writer` is borrowed. */
struct sim_watch sim_word_watch(
        const struct sim_world *world, size_t offset, struct sim_walk_stop *writer);
