/*
 * moment.c -- stopping a replay before the step, and listening while it is taken.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/step/moment.h"

#include <stdio.h>
#include <sys/mman.h>

#include "runtime/base/assert.h"
#include "sim/judge/spurious_poll.h"

struct sim_moment *
sim_moment_new(uint64_t step)
{
    struct sim_moment *moment = mmap(NULL, sizeof(struct sim_moment), PROT_READ | PROT_WRITE,
            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (moment == MAP_FAILED) {
        return NULL;
    }
    moment->step = step;
    return moment;
}

void
sim_moment_free(struct sim_moment **moment)
{
    if (*moment != NULL) {
        (void)munmap(*moment, sizeof(**moment));
        *moment = NULL;
    }
}

/* ---- Who listens. ---------------------------------------------------------------------------- */

/* Answers as another strategy does, and notes what is asked. */
struct listener {
    struct sim_strategy strategy;
    struct sim_strategy *inner;
    struct sim_strategy *maker; /* Of the run: `inner`, or what it delegates to. */
    struct sim_moment *moment;  /* NULL: not yet. */
};

static struct listener *
listener_of(struct sim_strategy *strategy)
{
    return (struct listener *)(void *)strategy;
}

static void
listener_begin(struct sim_strategy *strategy, uint64_t seed)
{
    struct listener *listener = listener_of(strategy);
    listener->maker = sim_strategy_begin(listener->inner, seed);
}

static void
note_choice(struct sim_moment *moment, const struct sim_choice *choice, uint32_t index)
{
    if (moment->choice_count == SIM_MOMENT_CHOICES) {
        return;
    }
    struct sim_answered *answered = &moment->choices[moment->choice_count++];
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
    if (listener->moment != NULL) {
        note_choice(listener->moment, choice, index);
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
note_waits(const struct sim_actor *actor, struct sim_stance *stance)
{
    struct sim_waiting waiting[16];
    if (actor->ops->waiting == NULL) {
        return;
    }
    stance->wait_count = actor->ops->waiting(actor, waiting, 16);
    for (uint32_t i = 0; i < stance->wait_count && i < SIM_MOMENT_WAITS; i++) {
        const char *reason = waiting[i].reason;
        stance->waits[i].object = waiting[i].object;
        stance->waits[i].site = waiting[i].site;
        (void)snprintf(stance->waits[i].reason, sizeof(stance->waits[i].reason), "%s",
                reason != NULL ? reason : "");
    }
}

static void
note_stances(struct sim_moment *moment, const struct sim_world *world)
{
    moment->now_ns = world->now_ns;
    for (uint32_t i = 1; i < world->actor_count; i++) {
        const struct sim_actor *actor = world->actors[i];
        if (moment->who_count == SIM_MOMENT_WHO) {
            moment->more = world->actor_count - i;
            return;
        }
        struct sim_stance *stance = &moment->who[moment->who_count++];
        *stance = (struct sim_stance){
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
            note_waits(actor, stance);
        }
    }
}

/* The step is taken, or the run ends in it: either way somebody had its turn. */
static void
take_it(struct sim_moment *moment, struct sim_world *world, struct listener *listener)
{
    listener->moment = moment;
    (void)sim_world_continue(world, (struct sim_stop){moment->step, false});
    listener->moment = NULL;
    moment->taken = world->step == moment->step;
    moment->actor = world->stepping->index;
}

void
sim_moment_study(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *argument)
{
    struct sim_moment *moment = argument;
    struct sim_aside kept;
    struct listener listener = {.strategy = {&listener_ops}, .inner = what->strategy};
    (void)outcome;
    rt_assert(moment->step >= 1);
    sim_keep(world, &kept);
    moment->reached = sim_world_run_to(world, what->scenario, &what->options, what->seed,
            &listener.strategy, (struct sim_recording){false, false},
            (struct sim_stop){moment->step - 1, false});
    if (moment->reached) {
        note_stances(moment, world);
        if (!moment->before_only) {
            take_it(moment, world, &listener);
        }
    }
    sim_world_drop(world);
    sim_restore(world, &kept);
}
