/*
 * actor.c -- making actors, their queue, their due times.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/actor.h"

#include <string.h>

#include "runtime/base/assert.h"
#include "sim/core/world.h"
#include "sim/core/world_priv.h"

/* An id depends on the parent's and on the n-th child of it, not on how many other actors were
 * created in between. */
static uint32_t
child_id(uint32_t parent, uint32_t nth)
{
    uint64_t hash = ((uint64_t)parent << 32 | nth) + UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ (hash >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ (hash >> 27)) * UINT64_C(0x94d049bb133111eb);
    uint32_t id = (uint32_t)(hash >> 32);
    return id != 0 ? id : 1;
}

void
sim_actor_announce(struct sim_actor *actor, uint32_t object)
{
    struct sim_world *world = actor->world;
    struct sim_actor *stepping = world->current;
    rt_assert(sim_world_actor(world, actor->index) == actor);
    actor->object = object;
    world->current = actor;
    sim_world_event(
            world, SIM_EVENT_ACTOR, object, 0, 0, (uint64_t)actor->ops->kind << 32 | actor->id);
    world->current = stepping;
    if (world->recorder.texts_on) {
        sim_record_text(
                &world->recorder, SIM_TEXT_ACTOR, actor->index, actor->name, strlen(actor->name));
        if (object != 0) {
            sim_record_text(
                    &world->recorder, SIM_TEXT_OBJECT, object, actor->name, strlen(actor->name));
        }
    }
}

void
sim_actor_init(struct sim_actor *actor, struct sim_world *world, const struct sim_actor_ops *ops,
        struct sim_actor *parent, const char *name, bool waited_for)
{
    rt_assert(ops != NULL && ops->step != NULL);
    rt_assert(name != NULL);
    if (world->actor_count > SIM_ACTORS_MAX && world->program) {
        sim_fail(world, SIM_VERDICT_REFUSED, SIM_ORACLE_PROGRAM, world->current, 0,
                "more than %u threads and descriptors in one run are not simulated",
                SIM_ACTORS_MAX);
    }
    if (world->actor_count > SIM_ACTORS_MAX) {
        sim_fail(world, SIM_VERDICT_CONTRACT, SIM_ORACLE_LIMIT, NULL, 0,
                "the scenario makes more than %u actors (tasks, loops, sources)", SIM_ACTORS_MAX);
    }
    if (parent == NULL) {
        parent = world->current;
    }
    rt_assert(parent->world == world);
    memset(actor, 0, sizeof(*actor));
    actor->ops = ops;
    actor->world = world;
    actor->name = name;
    actor->due_ns = SIM_NEVER;
    actor->parent = parent;
    actor->id = child_id(parent->id, parent->children++);
    actor->index = world->actor_count;
    actor->made_step = world->step;
    actor->foreground = waited_for;
    actor->background = !waited_for;
    world->actors[world->actor_count++] = actor;
    world->foreground += waited_for;
    world->tasks += ops->kind == SIM_ACTOR_TASK;
    if (ops->kind != SIM_ACTOR_TASK) {
        sim_actor_announce(actor, 0);
    }
}

/* ---- The queue of the enabled. --------------------------------------------------------------- */

void
sim__enabled_rewind(struct sim_enabled *enabled)
{
    rt_assert(enabled->count <= SIM_ACTORS_MAX);
    memmove(enabled->ring, enabled->ring + enabled->head, enabled->count * sizeof(*enabled->ring));
    enabled->head = 0;
}

void
sim__enabled_make_front(struct sim_enabled *enabled)
{
    rt_assert(enabled->head == 0);
    rt_assert(enabled->count + SIM_ENABLED_SLACK < SIM_ENABLED_RING);
    enabled->head = SIM_ENABLED_SLACK;
    memmove(enabled->ring + enabled->head, enabled->ring, enabled->count * sizeof(*enabled->ring));
}

/* Up to SIM_ENABLED_SLACK entries are moved as that many: the number after a random place is
 * unpredictable, and a move of one size needs no branch. */
void
sim__enabled_close(struct sim_enabled *enabled, uint32_t k)
{
    rt_assert(k < enabled->count);
    uint16_t *place = enabled->ring + enabled->head + k;
    uint32_t behind = enabled->count - k - 1;
    if (behind < SIM_ENABLED_SLACK) {
        memmove(place, place + 1, (SIM_ENABLED_SLACK - 1) * sizeof(*place));
    } else {
        memmove(place, place + 1, behind * sizeof(*place));
    }
}

void
sim_actor_enable(struct sim_actor *actor)
{
    sim__actor_enable(actor);
}

void
sim_actor_disable(struct sim_actor *actor)
{
    if (!actor->enabled) {
        return;
    }
    struct sim_enabled *enabled = &actor->world->enabled;
    for (uint32_t k = 0; k < enabled->count; k++) {
        if (enabled->ring[enabled->head + k] == actor->index) {
            (void)sim__enabled_take(enabled, k);
            actor->enabled = false;
            return;
        }
    }
    rt_unreached("an enabled actor is in the queue");
}

/* ---- Those with a time. ---------------------------------------------------------------------- */

void
sim_actor_due(struct sim_actor *actor, uint64_t time_ns)
{
    struct sim_world *world = actor->world;
    bool listed = actor->due_ns != SIM_NEVER;
    actor->due_ns = actor->done ? SIM_NEVER : time_ns;
    actor->oversleeps = false;
    if (actor->due_ns != SIM_NEVER && !listed) {
        actor->due_slot = world->timed_count;
        world->timed[world->timed_count++] = (uint16_t)actor->index;
    } else if (actor->due_ns == SIM_NEVER && listed) {
        rt_assert(actor->due_slot < world->timed_count);
        uint16_t last = world->timed[--world->timed_count];
        world->timed[actor->due_slot] = last;
        world->actors[last]->due_slot = actor->due_slot;
    }
    /* Too early is harmless: the step rule checks again. */
    if (actor->due_ns < world->next_due_ns) {
        world->next_due_ns = actor->due_ns;
    }
}

void
sim_actor_leave(struct sim_actor *actor)
{
    if (actor->done) {
        return;
    }
    struct sim_world *world = actor->world;
    sim_actor_disable(actor);
    sim_actor_due(actor, SIM_NEVER);
    actor->done = true;
    if (actor->foreground) {
        rt_assert(world->foreground > 0);
        world->foreground--;
        actor->foreground = false;
    }
}

void
sim_actor_return(struct sim_actor *actor)
{
    rt_assert(actor->done);
    rt_assert(!actor->enabled);
    actor->done = false;
    actor->foreground = !actor->background;
    actor->world->foreground += actor->foreground;
}

void
sim_actor_finish(struct sim_actor *actor)
{
    if (!actor->done) {
        sim_actor_leave(actor);
        sim_world_progress(actor->world);
    }
}

uint32_t
sim_actor_choose_of(struct sim_actor *actor, enum sim_kind kind, uint32_t n, struct sim_odds odds,
        void (*describe)(const struct sim_choice *, uint32_t, struct sim_alternative *),
        const void *context)
{
    uint32_t index = sim_decide(&actor->world->decider, &actor->streams[kind],
            sim__stream_id(actor, kind), kind, n, odds, describe, context);
    sim__chosen(actor->world, kind, index);
    return index;
}

uint32_t
sim_actor_choose(struct sim_actor *actor, enum sim_kind kind, uint32_t n, struct sim_odds odds)
{
    return sim__actor_choose(actor, kind, n, odds);
}
