/*
 * rounds.c -- all blocked tasks are polled, again and again.
 *
 * One poll of one blocked task says little where wakes are lost again and again between plain
 * variables: it takes its turn, waits at the same line, and the task whose turn is next stays
 * blocked. In a deadlock polling helps no task, however often; a program that reaches its end by
 * being polled lacked nothing but wakes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/judge/rounds.h"

#include "runtime/base/assert.h"

#define ROUNDS 64u
#define CONVERGE_STEPS 1000u

/* What all of it may take: a polled task may begin something that has no end. */
#define STEPS_MAX (32u * CONVERGE_STEPS)

struct poll {
    struct sim_actor *actor;
    enum sim_spurious_poll answer;
};

static void
ask(void *argument)
{
    rt_assert(argument != NULL);
    struct poll *poll = argument;
    poll->answer = poll->actor->ops->spurious_poll(poll->actor);
}

/* False when a verdict fell. */
static bool
poll_one(struct sim_world *world, struct sim_actor *actor, bool clock_moves, bool *ret_finished)
{
    rt_assert(actor->index > 0);
    rt_assert(!*ret_finished);
    struct poll poll = {actor, SIM_SPURIOUS_POLL_UNSUPPORTED};
    uint32_t before = world->foreground;
    if (actor->done || actor->ops->spurious_poll == NULL) {
        return true;
    }
    if (!sim_world_call(world, actor, ask, &poll)) {
        return false;
    }
    *ret_finished = poll.answer == SIM_SPURIOUS_POLL_MOVED && actor->foreground;
    const struct sim_settling settling = {
            .steps = CONVERGE_STEPS, .until_ns = clock_moves ? SIM_NEVER : 0};
    if (!*ret_finished && sim_world_settle(world, &settling) == SIM_SETTLED_VERDICT) {
        return false;
    }
    *ret_finished = *ret_finished || world->foreground < before;
    return true;
}

static uint32_t
poll_all(struct sim_world *world, const uint32_t *actors, uint32_t count, bool clock_moves)
{
    rt_assert(count <= SIM_ACTORS_MAX);
    uint64_t until = world->step + STEPS_MAX;
    for (uint32_t i = 0; i < count * ROUNDS && world->step < until; i++) {
        struct sim_actor *actor = sim_world_actor(world, actors[i % count]);
        bool finished = false;
        rt_assert(actor != NULL);
        if (!poll_one(world, actor, clock_moves, &finished)) {
            return 0;
        }
        if (finished) {
            return actor->index;
        }
    }
    return 0;
}

uint32_t
sim_spurious_poll_rounds(struct sim_stand *stand, struct sim_stop stop, const uint32_t *actors,
        uint32_t count, bool clock_moves)
{
    rt_assert(count <= SIM_ACTORS_MAX);
    rt_assert(stop.at_quiet);
    return sim_stand_at(stand, stop) ? poll_all(stand->world, actors, count, clock_moves) : 0;
}
