/*
 * spurious_poll.c -- one question, and what changed because of it.
 *
 * Whether the actor waits for something else is compared by object and line, with three things
 * forgiven, as a healthy task does them when it is polled for nothing: a timer or a pollable of its
 * own that is armed again, an object that it made during the question in place of one like it, and
 * waking itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/judge/spurious_poll.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/core/memory/word.h"

/* Steps that follow a question which says nothing of them. */
#define CONVERGE_STEPS 1000u

/* What is remembered of an actor before it is asked. */
struct before {
    struct sim_waits waits;
    uint64_t consumed;
    uint32_t foreground;
    bool waited_for;
    bool no_deadline; /* It waited without one; asked by an explanation, a deadline is a move. */
};

/* ---- Sets of waits. -------------------------------------------------------------------------- */

void
sim_waits_of(const struct sim_actor *actor, struct sim_waits *ret)
{
    rt_assert(actor->ops != NULL);
    ret->count =
            actor->ops->waiting != NULL ? actor->ops->waiting(actor, ret->all, SIM_WAITS_MAX) : 0;
    memcpy(ret->objects, actor->objects, sizeof(ret->objects));
}

/* The name by which two waits are the same place. */
static uint32_t
place_of(const struct sim_actor *actor, const struct sim_waits *before, uint32_t object)
{
    rt_assert(SIM_OBJECT_KIND(object) < sizeof(before->objects) / sizeof(*before->objects));
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

/* Each of `a` finds one of `b` at the same line and place that no other has found. An object that
 * was made during the question stands for any of its kind. */
static bool
matches(const struct sim_waiting *a, uint32_t place_a, const struct sim_waiting *b,
        uint32_t place_b)
{
    if (a->site != b->site || SIM_OBJECT_KIND(place_a) != SIM_OBJECT_KIND(place_b)) {
        return false;
    }
    return place_a == place_b || SIM_OBJECT_NTH(place_a) == 0 || SIM_OBJECT_NTH(place_b) == 0;
}

static bool
same_waits(const struct sim_actor *actor, const struct sim_waits *before,
        const struct sim_waits *after)
{
    rt_assert(before->count <= SIM_WAITS_MAX);
    rt_assert(after->count <= SIM_WAITS_MAX);
    bool found[SIM_WAITS_MAX] = {false};
    if (before->count != after->count) {
        return false;
    }
    for (uint32_t i = 0; i < after->count; i++) {
        uint32_t place = place_of(actor, before, after->all[i].object);
        uint32_t k = 0;
        while (k < after->count &&
                (found[k] ||
                        !matches(&before->all[k], place_of(actor, before, before->all[k].object),
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
    enum sim_oracle_stage stage;
    uint32_t nth;
    const struct sim_silence *silence;
    enum sim_spurious_poll answer;
};

static void
ask(void *argument)
{
    struct asking *asking = argument;
    struct sim_world *world = asking->world;
    if (asking->stage == SIM_ORACLE_STAGE_POLL) {
        asking->answer = asking->actor->ops->spurious_poll(asking->actor);
        return;
    }
    if (asking->stage == SIM_ORACLE_STAGE_INTERRUPT) {
        asking->actor->ops->interrupt(asking->actor, asking->nth);
        asking->answer = SIM_SPURIOUS_POLL_STILL;
        return;
    }
    if (asking->stage == SIM_ORACLE_STAGE_ASK_AGAIN) {
        sim_bindings_each(host, world, ask_again)
        {
            host->ops->ask_again(host->argument, asking->silence);
        }
        asking->answer = SIM_SPURIOUS_POLL_STILL;
        return;
    }
    if (asking->stage == SIM_ORACLE_STAGE_PRETEND) {
        sim_bindings_each(host, world, pretend)
        {
            host->ops->pretend(host->argument);
        }
        asking->answer = SIM_SPURIOUS_POLL_STILL;
        return;
    }
    if (asking->actor->ops->fire_derived != NULL) {
        asking->actor->ops->fire_derived(asking->actor);
    }
    sim_bindings_each(host, world, renew)
    {
        host->ops->renew(host->argument);
    }
    asking->answer = SIM_SPURIOUS_POLL_STILL;
}

static void
remember(const struct sim_world *world, const struct sim_actor *actor, struct before *ret)
{
    sim_waits_of(actor, &ret->waits);
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
    struct sim_waits after;
    sim_waits_of(actor, &after);
    return at_rest(actor) && !same_waits(actor, &before->waits, &after);
}

static bool
askable(const struct sim_actor *actor, enum sim_oracle_stage stage)
{
    if (actor == NULL || actor->done) {
        return false;
    }
    if (stage == SIM_ORACLE_STAGE_INTERRUPT) {
        struct sim_waiting waiting;
        return actor->ops->interrupt != NULL && actor->ops->waiting(actor, &waiting, 1) > 0;
    }
    return stage == SIM_ORACLE_STAGE_SOURCES || stage == SIM_ORACLE_STAGE_ASK_AGAIN ||
           stage == SIM_ORACLE_STAGE_PRETEND || actor->ops->spurious_poll != NULL;
}

void
sim_describe(const struct sim_actor *actor, struct sim_answer *ret)
{
    rt_assert(actor != NULL);
    rt_assert(ret != NULL);
    struct sim_waits waits;
    sim_waits_of(actor, &waits);
    ret->waits = waits.count > 0;
    if (ret->waits) {
        ret->waiting = waits.all[0];
    }
    if (actor->ops->waited != NULL && actor->ops->waited(actor, &ret->waiting)) {
        ret->waits = true;
    }
    ret->blocked_since_step = actor->stopped_step;
    ret->blocked_since_ns = actor->stopped_ns;
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

/* Of other actors nothing comes due; the question itself may have set a time again. */
static void
hold_times(struct sim_world *world, const struct sim_actor *asked)
{
    rt_assert(asked != NULL);
    for (uint32_t i = 1; i < world->actor_count; i++) {
        if (world->actors[i] != asked) {
            sim_actor_due(world->actors[i], SIM_NEVER);
        }
    }
}

void
sim_hold_others(struct sim_world *world, const struct sim_actor *asked, enum sim_oracle_stage stage)
{
    rt_assert(asked == NULL || asked->index > 0);
    for (uint32_t i = 1; i < world->actor_count; i++) {
        struct sim_actor *actor = world->actors[i];
        bool brings = stage == SIM_ORACLE_STAGE_SOURCES && actor->asks_host;
        if (actor != asked) {
            if (!brings) {
                sim_actor_disable(actor);
            }
            sim_actor_due(actor, SIM_NEVER);
        }
    }
}

static void
prepare(struct sim_world *world, struct sim_actor *actor, const struct sim_question *question)
{
    rt_assert(question->actor == actor->index);
    if (question->clock_back) {
        world->now_ns = actor->stopped_ns;
    }
    if (question->alone) {
        sim_hold_others(world, actor, question->stage);
    }
    if (question->patch != NULL) {
        sim_word_put(world, question->patch->offset, question->patch->value);
    }
}

/* The task is polled past its executor, which does not hear that it has finished. */
static void
note_finished(struct sim_world *world, const struct sim_actor *actor)
{
    rt_assert(actor->index > 0);
    struct sim_gains *gains = world->gains;
    if (gains != NULL && sim_gains_count(gains, SIM_GAIN_COMPLETED, actor->object) == 0) {
        const struct sim_gain gain = {
                .kind = SIM_GAIN_COMPLETED, .of = actor->object, .at_ns = world->now_ns};
        sim_gains_add(gains, &gain);
    }
}

static struct sim_settling
settling_of(const struct sim_question *question)
{
    rt_assert(question->actor > 0);
    struct sim_settling settling = question->settling;
    if (settling.steps == 0 && question->stage != SIM_ORACLE_STAGE_POLL) {
        settling.steps = CONVERGE_STEPS;
    }
    return settling;
}

static void
ask_and_settle(struct sim_world *world, struct sim_actor *actor,
        const struct sim_question *question, struct sim_answer *ret)
{
    rt_assert(actor->index == question->actor);
    rt_assert(!ret->asked);
    struct before before;
    remember(world, actor, &before);
    if (question->waited != NULL) {
        before.waits = *question->waited;
    }
    before.no_deadline = before.no_deadline && question->stage >= SIM_ORACLE_STAGE_INTERRUPT;
    note_asked(world, actor, ret);
    prepare(world, actor, question);
    struct asking asking = {world, actor, question->stage, question->nth, question->silence,
            SIM_SPURIOUS_POLL_UNSUPPORTED};
    bool alive = sim_world_call(world, actor, ask, &asking);
    if (alive && asking.answer == SIM_SPURIOUS_POLL_UNSUPPORTED) {
        return;
    }
    ret->asked = true;
    bool finished = alive && asking.answer == SIM_SPURIOUS_POLL_MOVED;
    bool left = finished || (alive && asking.answer == SIM_SPURIOUS_POLL_PARKED);
    const struct sim_settling settling = settling_of(question);
    enum sim_settled settled = alive ? SIM_SETTLED : SIM_SETTLED_VERDICT;
    if (finished) {
        note_finished(world, actor);
    }
    if (question->alone) {
        hold_times(world, actor);
    }
    if (alive && !left && settling.steps > 0) {
        settled = sim_world_settle(world, &settling);
    }
    ret->failed = settled == SIM_SETTLED_VERDICT;
    ret->limit = settled == SIM_SETTLED_LIMIT;
    ret->outcome = world->outcome;
    ret->gained = finished || (world->gains != NULL && world->gains->count > 0);
    ret->moved = left || (!ret->failed && has_moved(world, actor, &before));
    ret->freed = world->foreground + (before.waited_for && actor->done) < before.foreground;
}

void
sim_put(struct sim_world *world, const struct sim_question *question, struct sim_answer *ret_answer)
{
    rt_assert(question->actor > 0);
    rt_assert(ret_answer != NULL);
    memset(ret_answer, 0, sizeof(*ret_answer));
    struct sim_actor *asked = sim_world_actor(world, question->actor);
    if (asked != NULL) {
        sim_describe(asked, ret_answer);
    }
    if (askable(asked, question->stage)) {
        ask_and_settle(world, asked, question, ret_answer);
    }
}

bool
sim_judge_replay(struct sim_world *world, const struct sim_case *what, struct sim_stop stop)
{
    const struct sim_recording nothing = {false, false};
    rt_assert(what->strategy != NULL);
    return sim_world_run_to(
            world, what->scenario, &what->options, what->seed, what->strategy, nothing, stop);
}

void
sim_spurious_poll(struct sim_world *world, const struct sim_case *what,
        const struct sim_question *question, struct sim_answer *ret_answer)
{
    rt_assert(question->actor > 0);
    rt_assert(ret_answer != NULL);
    memset(ret_answer, 0, sizeof(*ret_answer));
    if (sim_judge_replay(world, what, question->stop)) {
        sim_put(world, question, ret_answer);
    }
    sim_world_drop(world);
}
