/*
 * nudge.c -- has it moved?
 *
 * A sleeper moved if it finished, if something was consumed, or if what it waits
 * for is another set than before. Where it waits is compared by object, and by line or by the
 * reason that it gives, with three things forgiven, for they are what a healthy task does when it
 * is polled for nothing: a timer or a pollable of its own that is armed anew, an object that
 * it made during the question in place of one like it, and waking itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/judge/nudge.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/assert.h"

/* What a sleeper waits for at once is compared up to so many things. */
#define WAITS_MAX 64u

/* Steps that the consequences of a question may take. */
#define SETTLE_STEPS 1000u

struct waits {
    struct sim_waiting all[WAITS_MAX];
    uint32_t count;
};

/* What is remembered of a sleeper before it is asked. */
struct before {
    struct waits waits;
    uint16_t objects[16];
    uint64_t consumed;
    uint32_t foreground;
    bool waited_for;
    bool no_deadline; /* It slept for ever; asked by who explains, a deadline is a move. */
};

/* ---- Sets of waits. -------------------------------------------------------------------------- */

static void
look(const struct sim_actor *actor, struct waits *ret)
{
    ret->count = actor->ops->waiting != NULL ? actor->ops->waiting(actor, ret->all, WAITS_MAX) : 0;
}

/* The name by which two waits are the same place. */
static uint32_t
place_of(const struct sim_actor *actor, const struct before *before, uint32_t object)
{
    uint32_t kind = SIM_OBJECT_KIND(object);
    if (kind == RT_OBJECT_TIMER || kind == RT_OBJECT_POLLABLE) {
        return SIM_OBJECT(kind, 0, 0);
    }
    bool own = SIM_OBJECT_ACTOR(object) == actor->index;
    if (own && SIM_OBJECT_NTH(object) > before->objects[kind]) {
        return SIM_OBJECT(kind, 0, 0); /* Made during the question. */
    }
    return object;
}

/* One wait may be polled at several lines of its task: the first poll here, the next ones there. In
 * the words of who waits it is the same wait still. */
static bool
same_line(const struct sim_waiting *a, const struct sim_waiting *b)
{
    bool said = a->reason != NULL && b->reason != NULL;
    return a->site == b->site || (said && strcmp(a->reason, b->reason) == 0);
}

/* Each of `a` finds one of `b` at the same line and place that no other has found. An object that
 * was made during the question stands for any of its kind. */
static bool
matches(const struct sim_waiting *a, uint32_t place_a, const struct sim_waiting *b,
        uint32_t place_b)
{
    if (!same_line(a, b) || SIM_OBJECT_KIND(place_a) != SIM_OBJECT_KIND(place_b)) {
        return false;
    }
    return place_a == place_b || SIM_OBJECT_NTH(place_a) == 0 || SIM_OBJECT_NTH(place_b) == 0;
}

static bool
same_waits(const struct sim_actor *actor, const struct before *before, const struct waits *after)
{
    bool found[WAITS_MAX] = {false};
    if (before->waits.count != after->count) {
        return false;
    }
    for (uint32_t i = 0; i < after->count; i++) {
        uint32_t place = place_of(actor, before, after->all[i].object);
        uint32_t k = 0;
        while (k < after->count &&
                (found[k] || !matches(&before->waits.all[k],
                                     place_of(actor, before, before->waits.all[k].object),
                                     &after->all[i], place))) {
            k++;
        }
        if (k == after->count) {
            return false;
        }
        found[k] = true;
    }
    return true;
}

/* ---- The question. --------------------------------------------------------------------------- */

struct asking {
    struct sim_world *world;
    struct sim_actor *actor;
    enum sim_rung rung;
    enum sim_nudge answer;
};

static void
ask(void *argument)
{
    struct asking *asking = argument;
    struct sim_world *world = asking->world;
    if (asking->rung == SIM_RUNG_POLL) {
        asking->answer = asking->actor->ops->nudge(asking->actor);
        return;
    }
    if (asking->rung == SIM_RUNG_INTERRUPT) {
        asking->actor->ops->interrupt(asking->actor);
        asking->answer = SIM_NUDGE_STILL;
        return;
    }
    if (asking->rung == SIM_RUNG_ASK_AGAIN || asking->rung == SIM_RUNG_PRETEND) {
        rt_list_each(link, &world->renewables)
        {
            struct sim_renewable *renewable = rt_container_of(link, struct sim_renewable, link);
            void (*does)(void *argument) =
                    asking->rung == SIM_RUNG_PRETEND ? renewable->pretend : renewable->ask_again;
            if (does != NULL) {
                does(renewable->argument);
            }
        }
        asking->answer = SIM_NUDGE_STILL;
        return;
    }
    if (asking->actor->ops->fire_derived != NULL) {
        asking->actor->ops->fire_derived(asking->actor);
    }
    rt_list_each(link, &world->renewables)
    {
        struct sim_renewable *renewable = rt_container_of(link, struct sim_renewable, link);
        renewable->renew(renewable->argument);
    }
    asking->answer = SIM_NUDGE_STILL;
}

static void
remember(const struct sim_world *world, const struct sim_actor *actor, struct before *ret)
{
    look(actor, &ret->waits);
    memcpy(ret->objects, actor->objects, sizeof(ret->objects));
    ret->consumed = world->consumed;
    ret->foreground = world->foreground;
    ret->waited_for = actor->foreground;
    ret->no_deadline = actor->due_ns == SIM_NEVER;
}

/* Still on its way (it woke itself, or something else did, and it has not come to rest): its waits
 * say nothing. */
static bool
at_rest(const struct sim_actor *actor)
{
    return !actor->enabled;
}

static bool
has_moved(const struct sim_world *world, const struct sim_actor *actor, const struct before *before)
{
    if (before->no_deadline && actor->due_ns != SIM_NEVER && !actor->enabled) {
        return true;
    }
    if (actor->done || world->consumed != before->consumed ||
            world->foreground < before->foreground) {
        return true;
    }
    struct waits after;
    look(actor, &after);
    return at_rest(actor) && !same_waits(actor, before, &after);
}

static bool
askable(const struct sim_actor *actor, enum sim_rung rung)
{
    if (actor == NULL || actor->done) {
        return false;
    }
    if (rung == SIM_RUNG_INTERRUPT) {
        struct sim_waiting waiting;
        return actor->ops->interrupt != NULL && actor->ops->waiting(actor, &waiting, 1) > 0;
    }
    return rung == SIM_RUNG_SOURCES || rung == SIM_RUNG_ASK_AGAIN || rung == SIM_RUNG_PRETEND ||
           actor->ops->nudge != NULL;
}

/* Also of one that can not be asked: a deadlock names everybody with what they wait for. */
static void
describe(const struct sim_actor *actor, struct sim_answer *ret)
{
    struct waits waits;
    look(actor, &waits);
    ret->waits = waits.count > 0;
    if (ret->waits) {
        ret->waiting = waits.all[0];
    }
    if (actor->ops->waited != NULL && actor->ops->waited(actor, &ret->waiting)) {
        ret->waits = true;
    }
    ret->sleeps_since_step = actor->stopped_step;
    ret->sleeps_since_ns = actor->stopped_ns;
}

/* In case that the process dies of it. */
static void
note_asked(struct sim_world *world, const struct sim_actor *actor, const struct sim_answer *answer)
{
    struct sim_outcome *outcome = &world->ended.outcome;
    outcome->actor = actor->index;
    outcome->object = answer->waits ? answer->waiting.object : 0;
    outcome->site = answer->waits ? answer->waiting.site : 0;
    (void)snprintf(outcome->actor_name, sizeof(outcome->actor_name), "%s", actor->name);
}

/* Unseen by a sanitizer: the word may be in a red zone by now. */
__attribute__((no_sanitize_address, noinline)) static void
change(const struct sim_world *world, const struct sim_patch *patch)
{
    rt_assert(patch->offset + sizeof(uint64_t) <= world->arena.used);
    *(volatile uint64_t *)(void *)(world->arena.base + patch->offset) = patch->value;
}

static void
put(struct sim_world *world, struct sim_actor *actor, const struct sim_question *question,
        struct sim_answer *ret)
{
    struct before before;
    remember(world, actor, &before);
    before.no_deadline = before.no_deadline && question->rung >= SIM_RUNG_INTERRUPT;
    note_asked(world, actor, ret);
    if (question->clock_back) {
        world->now_ns = actor->stopped_ns;
    }
    struct sim_actor *held = question->held != 0 ? sim_world_actor(world, question->held) : NULL;
    if (held != NULL) {
        sim_actor_disable(held);
    }
    if (question->patch != NULL) {
        change(world, question->patch);
    }
    struct asking asking = {world, actor, question->rung, SIM_NUDGE_UNSUPPORTED};
    bool alive = sim_world_call(world, actor, ask, &asking);
    if (alive && asking.answer == SIM_NUDGE_UNSUPPORTED) {
        return;
    }
    ret->asked = true;
    ret->moved = asking.answer == SIM_NUDGE_MOVED;
    if (alive && !ret->moved && (question->settle || question->rung != SIM_RUNG_POLL)) {
        alive = sim_world_settle(world, SETTLE_STEPS, question->clock_moves);
    }
    ret->failed = !alive;
    ret->outcome = world->outcome;
    ret->moved = ret->moved || (alive && has_moved(world, actor, &before));
    ret->freed = world->foreground + (before.waited_for && actor->done) < before.foreground;
}

void
sim_look(struct sim_world *world, const struct sim_case *what, struct sim_stop stop, uint32_t actor,
        struct sim_answer *ret_answer)
{
    memset(ret_answer, 0, sizeof(*ret_answer));
    struct sim_recording nothing = {false, false};
    bool reached = sim_world_run_to(
            world, what->scenario, &what->options, what->seed, what->strategy, nothing, stop);
    const struct sim_actor *looked_at = sim_world_actor(world, actor);
    if (reached && looked_at != NULL) {
        describe(looked_at, ret_answer);
    }
    sim_world_drop(world);
}

void
sim_nudge(struct sim_world *world, const struct sim_case *what, const struct sim_question *question,
        struct sim_answer *ret_answer)
{
    memset(ret_answer, 0, sizeof(*ret_answer));
    struct sim_recording nothing = {false, false};
    bool reached = sim_world_run_to(world, what->scenario, &what->options, what->seed,
            what->strategy, nothing, question->stop);
    struct sim_actor *asked = sim_world_actor(world, question->actor);
    if (reached && asked != NULL) {
        describe(asked, ret_answer);
    }
    if (reached && askable(asked, question->rung)) {
        put(world, asked, question, ret_answer);
    }
    sim_world_drop(world);
}
