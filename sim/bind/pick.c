/*
 * pick.c -- the executor's policy: which task is polled next.
 *
 *   order       driven by the world                    driven by a loop
 *   any         a push enables the task's actor; the   pop pauses the loop, then picks among
 *               world picks, there is no pop           the runnable: a decision
 *   fifo,       a push enables the executor's actor;   pop pauses the loop, then the runtime's
 *   lifo-slot,  its step pops the runtime's policy     policy picks
 *   priority,
 *   edf, fair
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/base/assert.h"
#include "runtime/sched/fair.h"
#include "runtime/sched/ranked.h"
#include "sim/bind/bind_priv.h"
#include "sim/core/loop.h"

/* How often the runnable are checked for starvation, in pops. */
#define CHECK_EVERY 32u

static struct sim_rt *
rt_of(struct rt_sched *sched)
{
    return rt_container_of(sched, struct sim_rt, sched);
}

/* ---- Starvation. ----------------------------------------------------------------------------- */

static uint64_t
starvation_limit(const struct sim_rt *rt)
{
    return rt->world->options.starvation_steps + 16 * (uint64_t)rt->runtime.executor.woken;
}

/* Counts polls of this executor, not steps of the world: the strategy may delay an executor while
 * others run. */
static void
check_passed_over(struct sim_rt *rt)
{
    for (uint32_t i = 0; i < rt->bound_count; i++) {
        const struct sim_bound *bound = rt->bound[i];
        if (bound == NULL || !bound->runnable) {
            continue;
        }
        uint64_t waited = rt->pops - bound->runnable_pops;
        sim__keep_waiting(rt->world, waited, starvation_limit(rt));
        if (waited > starvation_limit(rt)) {
            rt->world->outcome.reason = SIM_REASON_NAMED;
            sim_fail(rt->world, SIM_VERDICT_STARVATION, SIM_ORACLE_LIMIT, &bound->actor, 0,
                    "task '%s' was woken at step %llu and has been passed over for %llu polls",
                    bound->actor.name, (unsigned long long)bound->runnable_step,
                    (unsigned long long)waited);
        }
    }
}

/* A loop that never asks its host, while a source is ready or a timer due. */
static void
check_not_asked(struct sim_rt *rt)
{
    struct sim_world *world = rt->world;
    if (!rt_runtime_turn_useful(&rt->runtime)) {
        rt->useful_step = 0;
        return;
    }
    uint64_t asked_step = world->stepping->asked_step;
    if (rt->useful_step <= asked_step) {
        rt->useful_step = world->step > asked_step ? world->step : asked_step + 1;
        rt->useful_pops = rt->pops;
    }
    uint64_t late = rt->pops - rt->useful_pops;
    sim__keep_waiting(world, late, world->options.starvation_steps);
    if (late > world->options.starvation_steps) {
        sim_fail(world, SIM_VERDICT_STARVATION, SIM_ORACLE_LIMIT, world->stepping, 0,
                "a timer is due or a source is ready since step %llu, and the loop has polled "
                "%llu tasks without asking its host",
                (unsigned long long)rt->useful_step, (unsigned long long)late);
    }
}

/* ---- Under `any`, by a loop: a list and a decision. ------------------------------------------ */

static void
list_push(struct sim_rt *rt, uint32_t index)
{
    rt_assert(rt->runnable_count < rt->capacity);
    rt->runnable[rt->runnable_count++] = (uint16_t)index;
}

static void
list_take(struct sim_rt *rt, uint32_t place)
{
    rt_assert(place < rt->runnable_count);
    rt->runnable_count--;
    memmove(rt->runnable + place, rt->runnable + place + 1,
            (rt->runnable_count - place) * sizeof(*rt->runnable));
}

static void
list_remove(struct sim_rt *rt, uint32_t index)
{
    for (uint32_t i = 0; i < rt->runnable_count; i++) {
        if (rt->runnable[i] == index) {
            list_take(rt, i);
            return;
        }
    }
}

static void
describe(const struct sim_choice *choice, uint32_t index, struct sim_alternative *ret)
{
    const struct sim_rt *rt = choice->context;
    const struct sim_actor *actor = &rt->bound[rt->runnable[index]]->actor;
    ret->id = actor->id;
    ret->actor = actor->index;
}

static uint32_t
list_pick(struct sim_rt *rt)
{
    uint32_t n =
            rt->runnable_count < SIM_ALTERNATIVES_MAX ? rt->runnable_count : SIM_ALTERNATIVES_MAX;
    struct sim_actor *owner = &rt->bound[rt->runnable[0]]->actor;
    uint64_t waited = rt->pops - rt->bound[rt->runnable[0]]->runnable_pops;
    uint32_t place = 0;
    if (waited <= rt->world->options.fair_steps + 8 * (uint64_t)n) {
        place = sim_actor_choose_of(owner, SIM_KIND_RUN, n, SIM_ODDS_EVEN, describe, rt);
    }
    uint32_t index = rt->runnable[place];
    list_take(rt, place);
    return index;
}

/* ---- The policy. ----------------------------------------------------------------------------- */

/* An entry without an actor: a new task, or one that has just got another waker. */
static struct sim_bound *
unknown_at(struct sim_rt *rt, uint32_t index)
{
    struct sim_bound *moving = rt->migrating;
    if (moving == NULL || index != moving->task->target.key.index) {
        return sim__bind(rt, index);
    }
    rt->bound[moving->key.index] = NULL;
    moving->key = moving->task->target.key;
    rt->bound[index] = moving;
    rt->bound_count = index >= rt->bound_count ? index + 1 : rt->bound_count;
    return moving;
}

static inline struct sim_bound *
bound_at(struct sim_rt *rt, uint32_t index)
{
    struct sim_bound *bound = rt->bound[index];
    uint32_t generation = rt->runtime.executor.targets.entries[index].generation;
    bool known = bound != NULL && bound->key.generation == generation;
    return __builtin_expect(known, 1) ? bound : unknown_at(rt, index);
}

static void
world_push(struct rt_sched *sched, uint32_t index)
{
    sim__actor_enable(&bound_at(rt_of(sched), index)->actor);
}

static uint32_t
world_pop(struct rt_sched *sched)
{
    (void)sched;
    rt_unreached("where the world picks, there is no pop");
}

static void
world_remove(struct rt_sched *sched, uint32_t index)
{
    sim_actor_disable(&rt_of(sched)->bound[index]->actor);
}

static const struct rt_sched_ops world_picks = {
        .push = world_push,
        .pop = world_pop,
        .remove = world_remove,
};

static void
push(struct rt_sched *sched, uint32_t index)
{
    struct sim_rt *rt = rt_of(sched);
    struct sim_bound *bound = bound_at(rt, index);
    bound->runnable = true;
    bound->runnable_step = rt->world->step;
    bound->runnable_pops = rt->pops;
    bound->actor.cause = (uint32_t)rt->world->step;
    if (rt->inner != NULL) {
        rt->inner->ops->push(rt->inner, index);
    } else {
        list_push(rt, index);
    }
    if (!rt->by_loop) {
        sim_actor_enable(rt->executor);
    }
}

static uint32_t
pop(struct rt_sched *sched)
{
    struct sim_rt *rt = rt_of(sched);
    if (rt->by_loop) {
        sim_loop_pause(rt->world);
        rt->driver = rt->world->stepping;
    }
    uint32_t index = rt->inner != NULL ? rt->inner->ops->pop(rt->inner) : list_pick(rt);
    if (index == RT_SCHED_NONE) {
        return index;
    }
    if (++rt->pops % CHECK_EVERY == 0) {
        check_passed_over(rt);
        if (rt->by_loop) {
            check_not_asked(rt);
        }
    }
    rt->last = rt->bound[index];
    rt->last->runnable = false;
    rt->world->current = &rt->last->actor;
    return index;
}

static void
take_out(struct rt_sched *sched, uint32_t index)
{
    struct sim_rt *rt = rt_of(sched);
    rt->bound[index]->runnable = false;
    if (rt->inner != NULL) {
        rt->inner->ops->remove(rt->inner, index);
    } else {
        list_remove(rt, index);
    }
}

static void
admit(struct rt_sched *sched, uint32_t index, uint64_t rank)
{
    struct rt_sched *inner = rt_of(sched)->inner;
    if (inner != NULL && inner->ops->admit != NULL) {
        inner->ops->admit(inner, index, rank);
    }
}

static void
change_rank(struct rt_sched *sched, uint32_t index, uint64_t rank)
{
    struct rt_sched *inner = rt_of(sched)->inner;
    if (inner != NULL && inner->ops->rank != NULL) {
        inner->ops->rank(inner, index, rank);
    }
}

static const struct rt_sched_ops runtime_picks = {
        .push = push,
        .pop = pop,
        .remove = take_out,
        .admit = admit,
        .rank = change_rank,
};

void
sim__after_step(void *argument)
{
    struct sim_rt *rt = argument;
    if (rt->last != NULL) {
        struct sim_bound *last = rt->last;
        rt->last = NULL;
        sim__actor_stepped(&last->actor); /* The step was the loop's. */
        sim__after_poll(last);
    } else {
        /* It may have cancelled tasks: an operator's loop, a timer's wake, another runtime. */
        sim__reap(rt);
    }
}

/* ---- The executor as one actor, where it picks by itself. ------------------------------------ */

struct executor {
    struct sim_actor actor;
    struct sim_rt *rt;
};

static void
executor_step(struct sim_actor *actor)
{
    struct sim_rt *rt = rt_container_of(actor, struct executor, actor)->rt;
    (void)rt_run_one(&rt->runtime.executor);
    rt->world->current = actor;
    sim__after_step(rt);
    if (rt->runtime.executor.woken > 0) {
        sim_actor_enable(actor);
    }
    sim__refresh(rt);
}

static const struct sim_actor_ops executor_ops = {
        .kind = SIM_ACTOR_LOOP,
        .step = executor_step,
};

/* The runtime's policy for the order; NULL where each pick is a decision. */
static struct rt_sched *
make_order(struct sim_rt *rt)
{
    struct sim_world *world = rt->world;
    uint32_t n = rt->capacity;
    switch (rt->order) {
    case SIM_ORDER_DEFAULT:
    case SIM_ORDER_ANY:
        return NULL;
    case SIM_ORDER_FIFO: {
        struct rt_sched_fifo *fifo = sim_new(world, struct rt_sched_fifo);
        rt_sched_fifo_init(fifo, sim__array(rt, struct rt_sched_link), n);
        return &fifo->sched;
    }
    case SIM_ORDER_LIFO_SLOT: {
        struct rt_sched_lifo_slot *lifo_slot = sim_new(world, struct rt_sched_lifo_slot);
        rt_sched_lifo_slot_init(lifo_slot, sim__array(rt, struct rt_sched_link), n);
        return &lifo_slot->sched;
    }
    case SIM_ORDER_PRIORITY: {
        struct rt_sched_ranked *ranked = sim_new(world, struct rt_sched_ranked);
        rt_sched_priority_init(
                ranked, sim__array(rt, struct rt_sched_heap_entry), sim__array(rt, uint64_t), n);
        return &ranked->sched;
    }
    case SIM_ORDER_EDF: {
        struct rt_sched_ranked *ranked = sim_new(world, struct rt_sched_ranked);
        rt_sched_edf_init(
                ranked, sim__array(rt, struct rt_sched_heap_entry), sim__array(rt, uint64_t), n);
        return &ranked->sched;
    }
    case SIM_ORDER_FAIR: {
        struct rt_sched_fair *fair = sim_new(world, struct rt_sched_fair);
        rt_sched_fair_init(fair, sim__array(rt, struct rt_sched_heap_entry),
                sim__array(rt, struct rt_sched_share), n);
        return &fair->sched;
    }
    }
    return NULL;
}

static struct sim_actor *
make_executor(struct sim_rt *rt)
{
    struct executor *executor = sim_new(rt->world, struct executor);
    executor->rt = rt;
    sim_actor_init(&executor->actor, rt->world, &executor_ops, NULL, "executor", false);
    return &executor->actor;
}

void
sim__pick_init(struct sim_rt *rt)
{
    if (rt->inner == NULL) {
        rt->inner = make_order(rt);
    }
    bool any = rt->inner == NULL;
    rt->sched.ops = any && !rt->by_loop ? &world_picks : &runtime_picks;
    if (rt->by_loop || !any) {
        sim_world_loop_polls(rt->world);
    }
    if (any) {
        rt->runnable = rt->by_loop ? sim__array(rt, uint16_t) : NULL;
    } else if (!rt->by_loop) {
        rt->executor = make_executor(rt);
    }
}
