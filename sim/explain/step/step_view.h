/*
 * step_view.h -- one step of a run, and the world as it stood just before.
 *
 * A recording says what was done; it does not say what else could have been done, nor
 * how all actors stood. So the run is made again in a worker, up to the step before, and
 * the step is taken with a listener at the strategy. What is found is left in
 * memory that the worker shares, as with other analyses (explain/look/analysis.h).
 *
 *      struct sim_step_view *view = sim_step_view_new(12);
 *      … the run is made with .analyze = sim_step_view_run, .analysis = view …
 *      sim_step_view_print(&page, view, recorder, steps);
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/base/page.h"
#include "sim/core/world.h"
#include "sim/judge/judge.h"

#define SIM_STEP_VIEW_ACTORS 256u /* So many actors are listed, … */
#define SIM_STEP_VIEW_CHOICES 24u /* … so many choices of the step, … */
#define SIM_STEP_VIEW_WAITS 3u    /* … and so many things that one waits for. */

/* One who acts, before the step. */
struct sim_actor_state {
    uint32_t actor; /* Its index. */
    uint32_t kind;  /* enum sim_actor_kind */
    bool done;
    bool enabled;
    bool background;
    uint64_t since_step; /* Enabled, or blocked, since then. */
    uint64_t due_ns;     /* SIM_NEVER: it waits for no time. */
    uint64_t steps;      /* Taken so far. */
    uint32_t wait_count; /* All that there are; the first SIM_STEP_VIEW_WAITS of them are listed. */
    struct {
        uint32_t object;
        uint32_t site;
        char reason[48]; /* "": none. */
    } waits[SIM_STEP_VIEW_WAITS];
};

/* One question that was answered on the way to the step, or in it. */
struct sim_answered {
    uint32_t kind; /* enum sim_kind */
    uint32_t n;
    uint32_t index;
    uint32_t actors[SIM_ALTERNATIVES_MAX]; /* That each alternative names; UINT32_MAX: none. */
};

struct sim_step_view {
    uint64_t step;    /* Which; set before the run. */
    bool before_only; /* Likewise: the step itself is not looked at, nor need it be there. */
    bool reached;     /* The run came to stand before it, … */
    bool taken;       /* … and it was taken. */
    uint64_t now_ns;  /* Before it. */
    uint32_t actor;   /* Who took it. */
    uint32_t actor_count;
    struct sim_actor_state actors[SIM_STEP_VIEW_ACTORS];
    uint32_t more; /* Actors beyond the capacity. */
    uint32_t choice_count;
    struct sim_answered choices[SIM_STEP_VIEW_CHOICES];
};

/* Of step `step`, in shared memory. */
struct sim_step_view *sim_step_view_new(uint64_t step);
void sim_step_view_free(struct sim_step_view **view);

/* The analysis (sim/engine/worker/single.h). `argument`: the view. */
void sim_step_view_run(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *argument);

/* Adds the step, or that there is none, in words; `recorder` has the run, of which `steps` were
 * taken. */
void sim_step_view_print(struct sim_page *page, const struct sim_step_view *view,
        const struct sim_recorder *recorder, uint64_t steps);

/* Adds only how all actors stood. */
void sim_step_view_print_actors(struct sim_page *page, const struct sim_step_view *view,
        const struct sim_recorder *recorder);
