/*
 * wakes.c -- a replay in which each call of sim_loop_wake is noted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/look/wakes.h"

#include <execinfo.h>
#include <string.h>

#include "runtime/base/assert.h"

static struct sim_wakes *noting;

static void
note_wake(struct sim_actor *loop, bool blocked)
{
    const struct sim_world *world = loop->world;
    rt_assert(noting != NULL);
    if (noting->count == SIM_WAKES_MAX) {
        noting->count /= 2;
        memmove(noting->all, noting->all + noting->count, noting->count * sizeof(*noting->all));
    }
    struct sim_loop_wake *wake = &noting->all[noting->count++];
    *wake = (struct sim_loop_wake){.step = world->step,
            .by_id = world->stepping != NULL ? world->stepping->id : 0,
            .loop_id = loop->id,
            .blocked = blocked};
    sim_walk_stop_here(&wake->stack);
}

/* The actor itself, or the loop that runs it. */
static const struct sim_actor *
loop_of(const struct sim_actor *actor)
{
    while (actor != NULL && actor->ops->kind != SIM_ACTOR_LOOP) {
        actor = actor->parent;
    }
    return actor;
}

void
sim_wakes_run(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *argument)
{
    struct sim_wakes *wakes = argument;
    struct sim_experiment experiment;
    void *first[1];
    (void)backtrace(first, 1); /* The first one takes memory, which is not the run's. */
    wakes->count = 0;
    noting = wakes;
    sim_experiment_begin(&experiment, world, what, outcome);
    world->on_loop_wake = note_wake;
    (void)sim_experiment_at(&experiment, outcome->steps);
    const struct sim_actor *loop = loop_of(sim_world_actor(world, wakes->actor));
    wakes->loop_id = loop != NULL ? loop->id : 0;
    wakes->blocked_step = loop != NULL ? loop->stopped_step : 0;
    world->on_loop_wake = NULL;
    sim_world_drop(world);
    sim_experiment_end(&experiment);
}
