/*
 * step_view.c -- stopping a replay before the step, and listening while it is taken.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/step/step_view.h"

#include <stdio.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/judge/spurious_poll.h"

struct sim_step_view *
sim_step_view_new(uint64_t step)
{
    struct sim_step_view *view = sim_heap_map_shared(sizeof(*view));
    view->step = step;
    return view;
}

void
sim_step_view_free(struct sim_step_view **view)
{
    sim_heap_unmap(*view, sizeof(**view));
    *view = NULL;
}

/* ---- Who listens. ---------------------------------------------------------------------------- */

/* Answers as another strategy does, and notes what is asked. */
struct listener {
    struct sim_strategy strategy;
    struct sim_strategy *inner;
    struct sim_strategy *maker; /* Of the run: `inner`, or what it delegates to. */
    struct sim_step_view *view; /* NULL: not yet. */
};

static struct listener *
listener_of(struct sim_strategy *strategy)
{
    rt_assert(strategy != NULL);
    return (struct listener *)(void *)strategy;
}

static void
listener_begin(struct sim_strategy *strategy, uint64_t seed)
{
    struct listener *listener = listener_of(strategy);
    listener->maker = sim_strategy_begin(listener->inner, seed);
}

static void
note_choice(struct sim_step_view *view, const struct sim_choice *choice, uint32_t index)
{
    rt_assert(view->choice_count <= SIM_STEP_VIEW_CHOICES);
    rt_assert(choice->n <= SIM_ALTERNATIVES_MAX);
    rt_assert(index < choice->n);
    if (view->choice_count == SIM_STEP_VIEW_CHOICES) {
        return;
    }
    struct sim_answered *answered = &view->choices[view->choice_count++];
    *answered = (struct sim_answered){.kind = choice->kind, .n = choice->n, .index = index};
    for (uint32_t i = 0; i < choice->n; i++) {
        struct sim_alternative alternative = {.actor = UINT32_MAX};
        if (choice->kind == SIM_KIND_RUN && choice->describe != NULL) {
            choice->describe(choice, i, &alternative);
        }
        answered->actors[i] = alternative.actor;
    }
}

static uint32_t
listener_choose(struct sim_strategy *strategy, const struct sim_choice *choice)
{
    struct listener *listener = listener_of(strategy);
    const struct sim_strategy_ops *ops = listener->maker->ops;
    uint32_t index = ops->choose(listener->maker, choice);
    if (listener->view != NULL) {
        note_choice(listener->view, choice, index);
    }
    return index;
}

static const struct sim_strategy_ops listener_ops = {
        .repeats = true,
        .begin = listener_begin,
        .choose = listener_choose,
};

/* ---- What is noted of the world. ------------------------------------------------------------- */

static void
note_waits(const struct sim_actor *actor, struct sim_actor_state *state)
{
    rt_assert(!actor->done);
    struct sim_waiting waiting[16];
    if (actor->ops->waiting == NULL) {
        return;
    }
    state->wait_count = actor->ops->waiting(actor, waiting, 16);
    for (uint32_t i = 0; i < state->wait_count && i < SIM_STEP_VIEW_WAITS; i++) {
        const char *reason = waiting[i].reason;
        state->waits[i].object = waiting[i].object;
        state->waits[i].site = waiting[i].site;
        (void)snprintf(state->waits[i].reason, sizeof(state->waits[i].reason), "%s",
                reason != NULL ? reason : "");
    }
}

static void
note_actors(struct sim_step_view *view, const struct sim_world *world)
{
    rt_assert(view->actor_count == 0);
    view->now_ns = world->now_ns;
    for (uint32_t i = 1; i < world->actor_count; i++) {
        const struct sim_actor *actor = world->actors[i];
        if (view->actor_count == SIM_STEP_VIEW_ACTORS) {
            view->more = world->actor_count - i;
            return;
        }
        struct sim_actor_state *state = &view->actors[view->actor_count++];
        *state = (struct sim_actor_state){
                .actor = i,
                .kind = actor->ops->kind,
                .done = actor->done,
                .enabled = actor->enabled,
                .background = actor->background,
                .since_step = actor->enabled ? actor->enabled_step : actor->stopped_step,
                .due_ns = actor->due_ns,
                .steps = actor->polls,
        };
        if (!actor->done && !actor->enabled) {
            note_waits(actor, state);
        }
    }
}

/* The step is taken, or the run ends in it: either way an actor had its turn. */
static void
take_it(struct sim_step_view *view, struct sim_world *world, struct listener *listener)
{
    rt_assert(view->reached);
    rt_assert(listener->view == NULL);
    listener->view = view;
    (void)sim_world_continue(world, (struct sim_stop){view->step, false});
    listener->view = NULL;
    view->taken = world->step == view->step;
    view->actor = world->stepping->index;
}

void
sim_step_view_run(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *argument)
{
    struct sim_step_view *view = argument;
    struct sim_aside kept;
    struct listener listener = {.strategy = {&listener_ops}, .inner = what->strategy};
    (void)outcome;
    rt_assert(view->step >= 1);
    sim_keep(world, &kept);
    view->reached =
            sim_world_run_to(world, what->scenario, &what->options, what->seed, &listener.strategy,
                    (struct sim_recording){false, false}, (struct sim_stop){view->step - 1, false});
    if (view->reached) {
        note_actors(view, world);
        if (!view->before_only) {
            take_it(view, world, &listener);
        }
    }
    sim_world_drop(world);
    sim_restore(world, &kept);
}
