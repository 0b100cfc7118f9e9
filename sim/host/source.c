/*
 * source.c -- things on the host that become ready, each an actor.
 *
 *      event_in ──▶ arrivals, in order ──▶ (its step, once due and picked) ──▶ events ──▶ take
 *
 * An event in flight is not visible. Its latency is a decision, and so is when its
 * step is picked once it is due; events of one source keep their order, so a late one
 * delays those after it, which then arrive together.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "sim/host/fd_priv.h"
#include "sim/host/priv.h"

/* How much later than its latency an event arrives at most, under `hostile`. */
#define LATE_NS_MAX UINT64_C(10000000)

/* How long the machine is suspended, under fault `clock`. */
#define SUSPEND_NS_MIN UINT64_C(1000000)
#define SUSPEND_NS_MAX UINT64_C(1000000000)

void
sim__source_check(const struct sim_source *source)
{
    rt_check(source, SIM__SOURCE_MAGIC);
    if (source->dropped) {
        struct sim_world *world = source->host->world;
        sim_fail(world, SIM_VERDICT_CONTRACT, SIM_ORACLE_HOST, world->current, 0,
                "\"%s\" was used after it had been dropped", source->name);
    }
}

/* ---- Arrivals. ------------------------------------------------------------------------------- */

/* Appends it, whatever its time: one that is due before the others waits for them. */
static void
arrivals_push(struct sim_source *source, uint64_t due_ns, uint64_t amount)
{
    sim__reserve(source->host->world, &source->arrivals, source->arrivals_count + 1,
            &source->arrivals_capacity, sizeof(*source->arrivals));
    if (source->arrivals_count == 0) {
        sim_actor_due(&source->actor, due_ns);
    }
    source->arrivals[source->arrivals_count++] = (struct sim__arrival){due_ns, amount};
}

/* Takes out the first, and returns its amount. */
static uint64_t
arrivals_pop(struct sim_source *source)
{
    rt_assert(source->arrivals_count > 0);
    uint64_t amount = source->arrivals[0].amount;
    source->arrivals_count--;
    memmove(source->arrivals, source->arrivals + 1,
            source->arrivals_count * sizeof(*source->arrivals));
    return amount;
}

/* When the first arrives; SIM_NEVER: none is in flight. */
static uint64_t
arrivals_due(const struct sim_source *source)
{
    return source->arrivals_count > 0 ? source->arrivals[0].due_ns : SIM_NEVER;
}

void
sim__source_arrive_in(struct sim_source *source, uint64_t amount, uint64_t min_ns, uint64_t max_ns)
{
    struct sim_host *host = source->host;
    struct sim_world *world = host->world;
    rt_assert(min_ns <= max_ns);
    uint64_t delay_ns = sim_actor_range(&source->actor, SIM_KIND_LATENCY, min_ns, max_ns);
    if (sim__host_hostile(host) &&
            sim__one_in(&source->actor, SIM_KIND_LATE, world->options.late_one_in)) {
        delay_ns = sim__later(
                delay_ns, sim_actor_range(&source->actor, SIM_KIND_LATE, 1, LATE_NS_MAX));
    }
    arrivals_push(source, sim__later(sim_now(world), delay_ns), amount);
}

/* ---- Being ready. ---------------------------------------------------------------------------- */

void
sim__source_level(struct sim_source *source, bool ready)
{
    struct sim_world *world = source->host->world;
    bool was = source->events > 0;
    source->events = ready ? 1 : 0;
    if (was && !ready) {
        sim_world_event(world, SIM_EVENT_UNREADY, source->object, 0, 0, 0);
    }
    if (!was && ready) {
        source->ready_step = world->step;
    }
}

static void
count_event(struct sim_source *source)
{
    if (source->events++ == 0) {
        source->ready_step = source->host->world->step;
    }
}

void
sim__source_arrive_now(struct sim_source *source, uint64_t amount)
{
    struct sim_world *world = source->host->world;
    if (source->arrived != NULL) {
        source->arrived(source->argument, amount);
    } else {
        count_event(source);
    }
    source->spurious = 0;
    if (world->recorder.texts_on) {
        rt_probe_reason(sim__fds_silence(source));
    }
    sim_world_event(world, SIM_EVENT_READY, source->object, 0, 0, amount);
    sim_world_progress(world);
    sim__host_changed(source->host);
}

/* Fault `clock`: the machine is suspended while the clock advances. */
static void
maybe_suspend(struct sim_source *source)
{
    struct sim_host *host = source->host;
    if (sim__fault(host, SIM_FAULT_CLOCK)) {
        uint64_t ns = sim_actor_range(&host->actor, SIM_KIND_FAULT, SUSPEND_NS_MIN, SUSPEND_NS_MAX);
        host->world->stood_still_ns += ns;
        sim_work(host->world, ns);
    }
}

/* Under `hostile` everything due arrives in one step; else one event a step. */
static void
source_step(struct sim_actor *actor)
{
    struct sim_source *source = rt_container_of(actor, struct sim_source, actor);
    rt_check(source, SIM__SOURCE_MAGIC);
    uint64_t now_ns = sim_now(source->host->world);
    rt_assert(source->arrivals_count > 0);
    rt_assert(arrivals_due(source) <= now_ns);
    do {
        sim__source_arrive_now(source, arrivals_pop(source));
    } while (sim__host_hostile(source->host) && arrivals_due(source) <= now_ns);
    sim_actor_due(actor, arrivals_due(source));
    maybe_suspend(source);
    sim__watch(source->host);
}

static const struct sim_actor_ops source_ops = {.kind = SIM_ACTOR_SOURCE, .step = source_step};

/* ---- Life. ----------------------------------------------------------------------------------- */

const char *
sim__name_join(struct sim_world *world, const char *name, const char *suffix)
{
    rt_assert(name != NULL);
    rt_assert(suffix != NULL);
    size_t size = strlen(name) + strlen(suffix) + 1;
    char *text = sim_alloc(world, size);
    (void)snprintf(text, size, "%s%s", name, suffix);
    return text;
}

struct sim_source *
sim__source_new(struct sim_host *host, const char *name,
        void (*arrived)(void *argument, uint64_t amount), void *argument)
{
    rt_check(host, SIM__HOST_MAGIC);
    rt_assert(name != NULL);
    struct sim_world *world = host->world;
    struct sim_source *source = sim_new(world, struct sim_source);
    source->magic = SIM__SOURCE_MAGIC;
    source->host = host;
    source->name = name;
    source->arrived = arrived;
    source->argument = argument;
    sim_actor_init(&source->actor, world, &source_ops, NULL, name, false);
    source->object = sim_world_object(world, RT_OBJECT_SOURCE);
    sim_record_text(&world->recorder, SIM_TEXT_OBJECT, source->object, source->name, strlen(name));
    return source;
}

rt_err
sim__source_drop(struct sim_source *source)
{
    sim__source_check(source);
    if (source->pollables > 0) {
        return RT_E_HAS_CHILDREN;
    }
    sim__source_end(source);
    return RT_OK;
}

void
sim__source_end(struct sim_source *source)
{
    rt_assert(source->pollables == 0);
    source->dropped = true;
    source->arrivals_count = 0;
    sim_actor_finish(&source->actor);
}

void
sim__source_arrive_at_once(struct sim_source *source)
{
    uint64_t amount = arrivals_pop(source);
    sim_actor_disable(&source->actor);
    sim_actor_due(&source->actor, arrivals_due(source));
    sim__source_arrive_now(source, amount);
}

void
sim__source_cancel(struct sim_source *source)
{
    source->arrivals_count = 0;
    sim_actor_due(&source->actor, SIM_NEVER);
    sim_actor_disable(&source->actor);
}

void
sim__source_moved(
        struct sim_source *source, uint32_t kind, const struct rt_site *await, uint64_t amount)
{
    rt_assert(amount > 0);
    if (kind != 0) {
        sim_world_event(source->host->world, kind, source->object, 0, await != NULL ? await->id : 0,
                amount);
    }
    RT_PROBE(CONSUME, source->object, RT_HERE, await, amount);
}

/* ---- Public. --------------------------------------------------------------------------------- */

struct sim_source *
sim_source_new(struct sim_host *host, const char *name)
{
    return sim__source_new(host, name, NULL, NULL);
}

void
sim_source_event_in(struct sim_source *source, uint64_t min_ns, uint64_t max_ns)
{
    sim__source_check(source);
    sim__source_arrive_in(source, 1, min_ns, max_ns);
}

void
sim_source_event(struct sim_source *source)
{
    sim__host_call(source->host, "event");
    sim__source_check(source);
    sim__source_arrive_now(source, 1);
}

rt_err
sim_source_take(struct sim_source *source)
{
    sim__host_call(source->host, "take");
    sim__source_check(source);
    rt_assert(source->arrived == NULL);
    if (source->events == 0) {
        return RT_E_AGAIN;
    }
    source->events--;
    sim__source_moved(source, 0, NULL, 1);
    if (source->events == 0) {
        sim_world_event(source->host->world, SIM_EVENT_UNREADY, source->object, 0, 0, 0);
    }
    return RT_OK;
}

uint32_t
sim_source_events(const struct sim_source *source)
{
    rt_check(source, SIM__SOURCE_MAGIC);
    return source->events;
}

rt_err
sim_source_subscribe(struct sim_source *source, struct rt_pollable *pollable)
{
    sim__host_call(source->host, "subscribe");
    sim__source_check(source);
    return sim__record_open(source->host, SIM__RECORD_SOURCE, source, SIM_NEVER, pollable);
}

rt_err
sim_source_drop(struct sim_source *source)
{
    sim__host_call(source->host, "drop");
    return sim__source_drop(source);
}

uint32_t
sim_source_object(const struct sim_source *source)
{
    rt_check(source, SIM__SOURCE_MAGIC);
    return source->object;
}
