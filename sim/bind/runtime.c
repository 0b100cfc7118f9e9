/*
 * runtime.c -- a runtime and its host in the arena, its tasks and its loop as actors.
 *
 * The executor's policy is ours (sched.h): a push enables the task's actor, and the
 * world's pick is the executor's. Where the run has another order (fifo, lifo-slot …), or
 * a loop drives the runtime (`by_loop`), a policy picks instead; see pick.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/bind/runtime.h"

#include "runtime/base/assert.h"
#include "sim/bind/bind_priv.h"
#include "sim/core/world.h"

#define CAPACITY 64u

/* ---- Tasks as actors. ------------------------------------------------------------------------ */

static struct sim_bound *
bound_of(const struct sim_actor *actor)
{
    return rt_container_of(actor, struct sim_bound, actor);
}

static uint64_t
ended_so_far(const struct sim_rt *rt)
{
    return rt->runtime.executor.counters.completed + rt->runtime.executor.counters.cancelled;
}

static void
finish(struct sim_bound *bound)
{
    bound->rt->ended++;
    sim_actor_finish(&bound->actor);
}

/* Tasks may end in another actor's step (they are cancelled), or by parking, which is not counted
 * as an end. */
static void
reap(struct sim_rt *rt)
{
    for (uint32_t i = 0; i < rt->bound_count; i++) {
        struct sim_bound *bound = rt->bound[i];
        if (bound != NULL && !bound->actor.done && sim__has_left(bound)) {
            finish(bound);
        }
    }
}

/*
 * What the simulator adds to a step, its cost and a slow step, is added after this and is not
 * charged to the task. A task that calls rt_need_preempt, and gets false, may work for one more
 * quota: it cannot know before its next call that the quota is used up.
 */
static void
check_quota(struct sim_bound *bound)
{
    struct sim_world *world = bound->rt->world;
    uint64_t quota_ns = bound->rt->quota_ns;
    if (quota_ns == RT_NEVER || world->work_ns <= quota_ns) {
        return;
    }
    sim__allow(world);
    if (world->slow_ns > quota_ns) {
        world->outcome.reason = SIM_REASON_NAMED;
        sim_fail(world, SIM_VERDICT_OVER_BUDGET, SIM_ORACLE_LIMIT, &bound->actor, 0,
                "a poll of task '%s' took %llu ns of work, %llu ns of them without heeding its "
                "quota of %llu ns",
                bound->actor.name, (unsigned long long)world->work_ns,
                (unsigned long long)world->slow_ns, (unsigned long long)quota_ns);
    }
}

/* Whether the task that was just polled has parked: its memory is still valid. */
static bool
has_parked(struct sim_rt *rt, const struct sim_bound *bound)
{
    bool parked = rt->parks != rt->runtime.executor.counters.parked;
    rt->parks = rt->runtime.executor.counters.parked;
    return parked && bound->task->object.id == bound->object && bound->task->end == RT_TASK_PARKED;
}

void
sim__reap(struct sim_rt *rt)
{
    if (rt->ended != ended_so_far(rt)) {
        reap(rt);
        rt->ended = ended_so_far(rt);
    }
}

/* When the task is spawned again it is the same actor. */
static void
park(struct sim_rt *rt, struct sim_bound *bound)
{
    sim_actor_leave(&bound->actor);
    rt_list_push_front(&rt->parked, &bound->parked);
    sim__disturb_parked(bound);
}

/* The actor of a parked task that has been spawned again, or NULL. */
static struct sim_bound *
take_parked(struct sim_rt *rt, const struct rt_task *task)
{
    rt_list_each(link, &rt->parked)
    {
        struct sim_bound *bound = rt_container_of(link, struct sim_bound, parked);
        if (bound->task == task && bound->object == task->object.id) {
            rt_list_unlink(link);
            sim_actor_return(&bound->actor);
            if (rt->bound[bound->key.index] == bound) {
                rt->bound[bound->key.index] = NULL; /* It returns with another index. */
            }
            return bound;
        }
    }
    return NULL;
}

static inline void
after_poll(struct sim_rt *rt, struct sim_bound *bound)
{
    check_quota(bound);
    if (sim__has_left(bound)) {
        if (has_parked(rt, bound)) {
            park(rt, bound);
        } else {
            finish(bound);
        }
    } else if (bound->task->state == RT_TASK_SLEEPING) {
        sim__perturb_task(bound);
    }
    sim__reap(rt);
}

void
sim__after_poll(struct sim_bound *bound)
{
    after_poll(bound->rt, bound);
}

static uint64_t
next_time(const void *argument)
{
    const struct sim_rt *rt = argument;
    uint64_t timers_ns = rt_timers_next(&rt->runtime.timers);
    uint64_t clocks_ns = sim_host_next_instant(rt->host);
    return timers_ns < clocks_ns ? timers_ns : clocks_ns;
}

static inline void
refresh(struct sim_rt *rt)
{
    const struct rt_runtime *runtime = &rt->runtime;
    /* A task may wait for a socket whose event the network has reported already, and which was not
     * fetched; no further report will follow. */
    if (runtime->deferred_count != 0 || (rt->node != NULL && rt_io_useful(&runtime->io))) {
        sim__enable_useful(rt);
    }
    bool nothing_armed = runtime->timers.armed == 0 && runtime->reactor.waiting == 0;
    if ((nothing_armed && rt->loop.due_ns == SIM_NEVER) || rt->by_loop) {
        return;
    }
    uint64_t next_ns = next_time(rt);
    if (next_ns != rt->loop.due_ns && !rt->loop.enabled) {
        sim_actor_due(&rt->loop, next_ns);
    }
}

void
sim__refresh(struct sim_rt *rt)
{
    refresh(rt);
}

static void
task_step(struct sim_actor *actor)
{
    struct sim_bound *bound = bound_of(actor);
    if ((actor->world->faults & SIM_FAULT_CANCEL) != 0 && sim__cancelled_instead(bound)) {
        return;
    }
    struct sim_rt *rt = bound->rt;
    rt_run_taken(&rt->runtime.executor, bound->task);
    after_poll(rt, bound);
    refresh(rt);
}

static void
task_cancel(struct sim_actor *actor)
{
    struct sim_bound *bound = bound_of(actor);
    if (!sim__has_left(bound)) {
        rt_task_cancel(bound->task);
    }
    actor->done = true;
}

static uintptr_t
task_code(const struct sim_actor *actor)
{
    const struct sim_bound *bound = rt_container_of(actor, struct sim_bound, actor);
    return sim__has_left(bound) ? 0 : (uintptr_t)bound->task->poll;
}

static const struct sim_actor_ops task_ops = {
        .kind = SIM_ACTOR_TASK,
        .undivided = true,
        .step = task_step,
        .spurious_poll = sim__task_spurious_poll,
        .waiting = sim__task_waiting,
        .cancel = task_cancel,
        .fire_derived = sim__task_fire_derived,
        .code = task_code,
};

static struct sim_bound *
bind_new(struct sim_rt *rt, struct rt_task *task)
{
    struct sim_bound *bound = sim_new(rt->world, struct sim_bound);
    bound->rt = rt;
    bound->task = task;
    bound->object = task->object.id;
    rt_list_init(&bound->parked);
    sim_actor_init(&bound->actor, rt->world, &task_ops, NULL, task->name, !task->background);
    sim_actor_announce(&bound->actor, bound->object);
    return bound;
}

struct sim_bound *
sim__bind(struct sim_rt *rt, uint32_t index)
{
    rt_assert(index < rt->capacity);
    struct sim_bound *bound = rt->bound[index];
    if (bound != NULL && !bound->actor.done) {
        finish(bound);
    }
    struct rt_task *task = rt_executor_task(&rt->runtime.executor, index);
    rt_assert(task != NULL);
    bound = take_parked(rt, task);
    if (bound == NULL) {
        bound = bind_new(rt, task);
    }
    bound->key = task->target.key;
    rt->bound[index] = bound;
    rt->bound_count = index >= rt->bound_count ? index + 1 : rt->bound_count;
    return bound;
}

/* ---- The loop as an actor: timers that are due, pollables that are ready. -------------------- */

static struct sim_rt *
rt_of_loop(struct sim_actor *actor)
{
    return rt_container_of(actor, struct sim_rt, loop);
}

static void
loop_step(struct sim_actor *actor)
{
    struct sim_rt *rt = rt_of_loop(actor);
    uint32_t woken = 0;
    rt_err err = rt_runtime_turn(&rt->runtime, RT_TURN_POLL, &woken);
    if (err != RT_OK) {
        sim_fail(rt->world, SIM_VERDICT_CONTRACT, SIM_ORACLE_HOST, actor, 0,
                "a turn of the reactor failed: %s (%s)", rt_err_text(err), rt_err_name(err));
    }
    sim__refresh(rt);
    sim__enable_useful(rt);
}

static const struct sim_actor_ops loop_ops = {
        .kind = SIM_ACTOR_LOOP,
        .step = loop_step,
};

void
sim__enable_useful(void *argument)
{
    struct sim_rt *rt = argument;
    if (!rt->by_loop && rt_runtime_turn_useful(&rt->runtime)) {
        sim_actor_enable(&rt->loop);
    }
}

/* ---- Making it. ------------------------------------------------------------------------------ */

/* A world-driven runtime is checked after each step: no notification is needed. */
static void
no_notify(void *argument)
{
    (void)argument;
}

/* Freedoms of the runtime are drawn in the stream of the actor that is being polled. */
static uint32_t
choose(void *argument, uint32_t n)
{
    struct sim_rt *rt = argument;
    uint32_t among = n < SIM_ALTERNATIVES_MAX ? n : SIM_ALTERNATIVES_MAX;
    return sim_actor_choose(rt->world->current, SIM_KIND_FREEDOM, among, SIM_ODDS_EVEN);
}

static const char *
audit(void *argument)
{
    const struct sim_rt *rt = argument;
    /* Panics on an inconsistency, with a message. */
    rt_executor_audit(&rt->runtime.executor);
    rt_timers_audit(&rt->runtime.timers);
    rt_reactor_audit(&rt->runtime.reactor);
    return NULL;
}

static bool
firing(const void *argument)
{
    const struct sim_rt *rt = argument;
    return rt->runtime.firing;
}

static const struct sim_binding_ops binding_ops = {
        .audit = audit,
        .close = sim__close,
        .lost = sim__lost,
        .after_step = sim__after_step,
        .reenter = sim__reenter,
        .turned = sim__perturb_late,
        .firing = firing,
        .next_ns = next_time,
};

static void
configure(struct sim_rt *rt, const struct sim_rt_options *options, struct rt_runtime_config *config)
{
    struct sim_world *world = rt->world;
    uint32_t n = rt->capacity;
    uint32_t levels = options->timer_levels != 0 ? options->timer_levels : RT_TIMERS_LEVELS;
    uint32_t bits = options->timer_bits != 0 ? options->timer_bits : RT_TIMERS_BITS;
    config->host = sim_host_seam(rt->host);
    config->event_interval = options->event_interval;
    config->task_quota_ns = rt->quota_ns;
    config->deferred = sim__array(rt, struct rt_waker);
    config->deferred_capacity = n;
    config->executor = (struct rt_executor_config){
            .entries = sim__array(rt, struct rt_slab_entry),
            .capacity = n,
            .sched = &rt->sched,
            .self_wake = options->self_wake,
            .budget = options->budget,
            .notify = rt->by_loop ? NULL : no_notify,
            .choose = choose,
            .choose_argument = rt,
    };
    config->timers = (struct rt_timers_config){
            .slots = sim_alloc(world, RT_TIMERS_SLOTS(levels, bits) * sizeof(struct rt_list *)),
            .levels = levels,
            .bits = bits,
            .tick_ns = options->tick_ns,
            .start_ns = world->now_ns,
            .on_earliest = options->on_earliest,
            .argument = options->on_earliest_argument,
    };
    config->reactor = (struct rt_reactor_config){
            .poller =
                    {
                            .entries = sim__array(rt, struct rt_slab_entry),
                            .list = sim_alloc(
                                    world, (n + RT_POLLER_EXTRA) * sizeof(struct rt_pollable *)),
                            .list_keys =
                                    sim_alloc(world, (n + RT_POLLER_EXTRA) * sizeof(struct rt_key)),
                            .ready = sim_alloc(world, (n + RT_POLLER_EXTRA) * sizeof(uint32_t)),
                            .capacity = n,
                    },
            .keys = sim__array(rt, struct rt_key),
    };
    if (rt->node != NULL) {
        config->io = (struct rt_io_config){
                .net = sim_node_seam(rt->node),
                .entries = sim__array(rt, struct rt_slab_entry),
                .capacity = n,
                .events = sim__array(rt, struct rt_net_event),
                .events_max = n,
        };
    }
}

struct sim_rt *
sim_rt_new(struct sim_world *world, const struct sim_rt_options *options)
{
    static const struct sim_rt_options defaults = {0};
    options = options != NULL ? options : &defaults;
    struct sim_rt *rt = sim_new(world, struct sim_rt);
    rt->world = world;
    rt->name = options->name != NULL ? options->name : "rt";
    rt->capacity = options->capacity != 0 ? options->capacity : CAPACITY;
    rt->by_loop = options->by_loop;
    rt->quota_ns = options->task_quota_ns != 0 ? options->task_quota_ns : RT_NEVER;
    rt->order = options->order != SIM_ORDER_DEFAULT ? options->order : (enum sim_order)world->order;
    rt->host = sim_host_new(world, "host", SIM_PROFILE_DEFAULT);
    sim_host_undivided(rt->host);
    rt->node = options->net != NULL ? sim_node_new(options->net, rt->host, rt->name) : NULL;
    rt->bound = sim_zalloc(world, rt->capacity * sizeof(struct sim_bound *));
    rt_list_init(&rt->parked);
    rt->inner = options->sched;
    sim__pick_init(rt);
    struct rt_runtime_config config = {0};
    configure(rt, options, &config);
    rt_runtime_init(&rt->runtime, &config);
    if (!rt->by_loop) {
        sim_actor_init(&rt->loop, world, &loop_ops, NULL, rt->name, false);
        sim_host_listen(rt->host, sim__enable_useful, rt);
    }
    if (options->tick_ns > world->options.slack_ns) {
        world->options.slack_ns = options->tick_ns;
    }
    sim_world_bind(world, &rt->binding, &binding_ops, rt, rt->name);
    return rt;
}

struct rt_runtime *
sim_rt_runtime(struct sim_rt *rt)
{
    return &rt->runtime;
}

struct rt_executor *
sim_rt_executor(struct sim_rt *rt)
{
    return &rt->runtime.executor;
}

struct sim_host *
sim_rt_host(struct sim_rt *rt)
{
    return rt->host;
}

struct sim_node *
sim_rt_node(struct sim_rt *rt)
{
    rt_assert(rt->node != NULL);
    return rt->node;
}

struct rt_io *
sim_rt_io(struct sim_rt *rt)
{
    return &rt->runtime.io;
}

void
sim_spawn_at(struct sim_rt *rt, struct rt_task *task, const struct rt_site *await)
{
    rt_err err = rt_post_at(&rt->runtime.executor, task, await);
    if (err != RT_OK) {
        sim_fail(rt->world, SIM_VERDICT_CONTRACT, SIM_ORACLE_USER, rt->world->current,
                await != NULL ? await->id : 0, "sim_spawn of '%s' failed: %s (%s)", task->name,
                rt_err_text(err), rt_err_name(err));
    }
}

void
sim_spawn_background_at(struct sim_rt *rt, struct rt_task *task, const struct rt_site *await)
{
    task->background = true;
    sim_spawn_at(rt, task, await);
}
